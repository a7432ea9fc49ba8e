"""The conversion of RTF to plain text by striprtf."""

from __future__ import annotations

import codecs
import importlib
import re
from typing import Any

from ..pdf.paged_text import Paged, PagedWriter
from .dispatch import ConversionError

#: The encodings that the file may declare for the bytes of its characters.
_PAGE = re.compile(rb"\\ansicpg(\d{3,5})")
#: The beginning of a footnote; and a brace, or an escaped character.
_NOTE, _BRACE = re.compile(rb"\{(?:\\\*)?\\footnote(?![a-z])"), re.compile(rb"\\.|[{}]", re.DOTALL)
#: The pages of the Macintosh, which Python knows by names.
_MAC_PAGES = {"10000": "mac_roman", "10006": "mac_greek", "10007": "mac_cyrillic", "10029": "mac_latin2"}


def convert(data: bytes) -> Paged:
    r"""Convert RTF to plain text with a paragraph for each line; rows of tables have bars between their cells.

    Footnotes follow the text, each with a paragraph of its own.

    Raises:
        ConversionError: The bytes are not RTF.
        ImportError: striprtf is not installed.

    Example:
        >>> convert(rb"{\rtf1\ansi Cats purr.\par They sleep.\par}").text
        'Cats purr.\n\nThey sleep.'
    """
    striprtf: Any = importlib.import_module("striprtf.striprtf")  # it has no types

    if not data.lstrip().startswith(b"{\\rtf"):
        raise ConversionError("not RTF: it does not begin with {\\rtf; save it as .rtf again")
    page = _PAGE.search(data[:4096])
    number = page[1].decode() if page else "1252"
    encoding = _MAC_PAGES.get(number, f"cp{number}")
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ConversionError(f"the code page {number} is unknown; save it in another format") from None
    if number in _MAC_PAGES:  # striprtf would look for a page of this number
        data = _PAGE.sub(b"", data, count=1)

    def plain(part: bytes) -> str:
        text: str = striprtf.rtf_to_text(part.decode("latin-1"), encoding=encoding, errors="replace")
        # A character beyond 16 bits is written as two numbers, which become two halves of a pair.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    data, notes = _without_notes(data)
    text = "\n".join([plain(data), *(plain(b"{\\rtf1\\ansi " + note + b"}") for note in notes)])
    writer = PagedWriter()
    table: list[str] = []
    for line in [*text.replace("\f", "\n").split("\n"), ""]:
        row = " ".join(line.split())
        if row.endswith("|") and row.strip("| "):
            table.append(" | ".join(cell.strip() for cell in row.rstrip("|").split("|")))
            continue
        if table:
            writer.put("table", 0, "\n".join(table), 1)
            table = []
        if row.strip("|"):
            writer.put("paragraph", 0, row, 1)
    return writer.done("", 0, [])


def _without_notes(data: bytes) -> tuple[bytes, list[bytes]]:
    """Return RTF without footnotes, which striprtf would drop, and the contents of the footnotes."""
    parts, notes, at = [], [], 0
    while (begin := _NOTE.search(data, at)) is not None:
        depth, end, last = 1, len(data), len(data)
        for brace in _BRACE.finditer(data, begin.end()):
            depth += {b"{": 1, b"}": -1}.get(brace[0], 0)
            if depth == 0:
                last, end = brace.span()
                break
        parts.append(data[at : begin.start()])
        notes.append(data[begin.end() : last])
        at = end
    return b"".join([*parts, data[at:]]), notes
