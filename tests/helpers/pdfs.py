"""PDF files written by hand, without a package: text at places, two fonts, bookmarks, metadata."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

#: The size of A4 in points.
WIDTH, HEIGHT = 595.0, 842.0
#: The widths of Helvetica's letters in thousandths of the size, as far as tests need them.
_NARROW = dict.fromkeys("ijlI.,:;'|!", 250) | dict.fromkeys("frt()[]-/", 320) | dict.fromkeys("mwMW", 830) | {" ": 278}


def width_of(text: str, size: float) -> float:
    """Return the approximate width of a text in Helvetica, in points."""
    return sum(_NARROW.get(letter, 667 if letter.isupper() else 545) for letter in text) * size / 1000


@dataclass
class Page:
    """The texts (x, y of the baseline from the page's top, size, font, text) and other content in PDF operators.

    Fonts are 1 Helvetica, 2 Helvetica-Bold, 3 Courier. Font 4 and image 1 are the ``extra`` objects of ``made``.
    """

    texts: list[tuple[float, float, float, int, str]] = field(default_factory=list)
    content: str = ""
    keys: str = ""

    def put(self, x: float, y: float, text: str, size: float = 10, bold: bool = False, font: int = 1) -> Page:
        self.texts.append((x, y, size, 2 if bold else font, text))
        return self

    def lines(self, x: float, y: float, lines: list[str], size: float = 10, bold: bool = False) -> float:
        """Add lines below each other, 1.2 sizes apart, and return the baseline of the next."""
        for line in lines:
            self.put(x, y, line, size, bold)
            y += 1.2 * size
        return y

    def stream(self) -> bytes:
        parts = [self.content]
        for x, y, size, font, text in self.texts:
            shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            parts.append(f"BT /F{font} {size} Tf 1 0 0 1 {x} {HEIGHT - y} Tm ({shown}) Tj ET")
        return "\n".join(parts).encode("cp1252")


def made(
    pages: list[Page],
    *,
    title: str = "",
    bookmarks: list[tuple[int, str, int]] | None = None,
    extra: list[bytes] | None = None,
    trailer: str = "",
    packed: bool = False,
    catalog: str = "",
) -> bytes:
    """Return a PDF of these pages; ``bookmarks`` are (level from 1, title, page from 0), ``extra`` further objects."""
    objects: list[bytes] = [b"", b""]  # catalogue, page tree

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    fonts = [
        add(f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode())
        for name in ("Helvetica", "Helvetica-Bold", "Courier")
    ]
    info = add(b"<< /Title " + _string(title) + b" >>") if title else 0
    first_extra = len(objects) + 1
    for body in extra or []:
        add(body)
    kids = []
    for page in pages:
        data = page.stream()
        filters = b""
        if packed:
            data, filters = zlib.compress(data), b" /Filter /FlateDecode"
        stream = add(b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(data), filters, data))
        resources = f"/Font << /F1 {fonts[0]} 0 R /F2 {fonts[1]} 0 R /F3 {fonts[2]} 0 R"
        if extra:
            resources += f" /F4 {first_extra} 0 R >> /XObject << /X1 {first_extra} 0 R"
        kids.append(
            add(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {stream} 0 R "
                f"/Resources << {resources} >> >> {page.keys} >>".encode()
            )
        )
    outline = _outline(bookmarks or [], kids, objects)
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {outline} {catalog} >>".encode()
    shown = " ".join(f"{kid} 0 R" for kid in kids)
    objects[1] = f"<< /Type /Pages /Kids [{shown}] /Count {len(kids)} >>".encode()
    return _file(objects, (f"/Info {info} 0 R " if info else "") + trailer)


def in_any_letters(lines: list[str]) -> bytes:
    """Return a PDF of lines in any letters of Unicode, with a font whose map gives the letter of each number."""
    letters = sorted(set("".join(lines)))
    code = {letter: number for number, letter in enumerate(letters, 1)}
    rows = "\n".join(f"<{code[letter]:04x}> <{letter.encode('utf-16-be').hex()}>" for letter in letters)
    body = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def "
        "1 begincodespacerange <0000> <ffff> endcodespacerange "
        f"{len(letters)} beginbfchar\n{rows}\nendbfchar endcmap end end"
    ).encode()
    page = Page()
    for number, line in enumerate(lines):
        shown = "".join(f"{code[letter]:04x}" for letter in line)
        page.content += f"BT /F4 10 Tf 50 {780 - 12 * number} Td <{shown}> Tj ET\n"
    stream = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(body), body)
    return made([page], extra=[NAMELESS.replace(b"/Identity-H", b"/Identity-H /ToUnicode 7 0 R"), stream])


#: A font that is not in the file, without a map from its numbers to letters.
NAMELESS = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /Nameless /Encoding /Identity-H /DescendantFonts [<< /Type /Font "
    b"/Subtype /CIDFontType2 /BaseFont /Nameless /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) "
    b"/Supplement 0 >> /DW 500 /FontDescriptor << /Type /FontDescriptor /FontName /Nameless /Flags 4 "
    b"/FontBBox [0 -200 1000 800] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >> >>] >>"
)


def _outline(bookmarks: list[tuple[int, str, int]], kids: list[int], objects: list[bytes]) -> str:
    if not bookmarks:
        return ""
    root = len(objects) + 1
    objects.append(b"")
    numbers = [root + 1 + i for i in range(len(bookmarks))]
    parents, children = [], {}
    above = [root]
    for number, (level, _, _) in zip(numbers, bookmarks):
        above = above[:level]
        parents.append(above[-1])
        children.setdefault(above[-1], []).append(number)
        above.append(number)

    def ends(number: int) -> str:
        own = children.get(number)
        return f"/First {own[0]} 0 R /Last {own[-1]} 0 R /Count {len(own)}" if own else ""

    objects[root - 1] = f"<< /Type /Outlines {ends(root)} >>".encode()
    for number, parent, (_, title, page) in zip(numbers, parents, bookmarks):
        own = children[parent]
        at = own.index(number)
        beside = (f"/Prev {own[at - 1]} 0 R " if at else "") + (f"/Next {own[at + 1]} 0 R" if at + 1 < len(own) else "")
        dest = f"/Dest [{kids[page]} 0 R /XYZ 0 {HEIGHT} 0]"
        objects.append(
            b"<< /Title %s /Parent %d 0 R %s >>" % (_string(title), parent, f"{beside} {ends(number)} {dest}".encode())
        )
    return f"/Outlines {root} 0 R"


def _string(text: str) -> bytes:
    return b"<feff" + text.encode("utf-16-be").hex().encode() + b">"


def _file(objects: list[bytes], trailer: str) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    at = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{at}\n%%EOF\n".encode()
    return bytes(out)
