"""PDF files of any size, written by hand, whose pages need much work."""

from __future__ import annotations

import zlib
from collections.abc import Callable

_HEAD = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800]"
_WORDS = b"BT /F1 9 Tf 50 700 Td (Some words.) Tj ET\n"


def pdf(contents: list[bytes], forms: list[bytes] | None = None, pages: int = 1) -> bytes:
    """Return a PDF of pages with the same contents; pages and other forms draw form i by ``/X<i>``."""
    first = 5 + len(contents)
    named = b" ".join(b"/X%d %d 0 R" % (i, first + i) for i in range(len(forms or [])))
    resources = b"/Resources << /Font << /F1 3 0 R >> /XObject << %s >> >>" % named
    drawn = b" ".join(b"%d 0 R" % (5 + i) for i in range(len(contents)))
    kids = b" ".join([b"4 0 R"] * pages)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents [%s] %s >>" % (drawn, resources),
        *(_stream(b"", content) for content in contents),
        *(_stream(_HEAD + resources, form) for form in forms or []),
    ]
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    end = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, end)
    return bytes(out)


def _stream(keys: bytes, data: bytes) -> bytes:
    packed = zlib.compress(data, 1)
    return b"<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (keys, len(packed), packed)


#: Functions by name that make a file of a given size: operators, letters, pages, or draws of forms.
HEAVY: dict[str, Callable[[int], bytes]] = {
    "operators": lambda n: pdf([_WORDS + b"q Q " * n]),
    "paths": lambda n: pdf([_WORDS + b"0 0 9 9 re f " * n]),
    "letters": lambda n: pdf([_WORDS + b"BT /F1 1 Tf " + b"(a)Tj " * n + b"ET"]),
    "words side by side": lambda n: pdf(
        [b"".join(b"BT /F1 1 Tf %d %d Td (ab) Tj ET " % (i % 97 * 6, i // 97 * 2) for i in range(n))]
    ),
    "pages of one stream": lambda n: pdf([_WORDS + b"1 w " * 1_000], pages=1 + n // 50),
    "draws of a form": lambda n: pdf([_WORDS + b"/X0 Do " * n], [b"1 w 0 0 m 9 9 l S"]),
    "forms that draw forms": lambda n: pdf([_WORDS + b"/X0 Do " * (1 + n // 100)], [b"/X1 Do " * 100, b"1 w"]),
    "a stream drawn in parts": lambda n: pdf([_WORDS, *[b"1 w "] * (n // 20)]),
}
