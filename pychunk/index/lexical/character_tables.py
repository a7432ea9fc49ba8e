"""The Unicode tables of the running Python, as lists of numbers: letters of words, marks and folding.

Making them takes 0.05 s. The native extension therefore contains the tables of the Python that it was built with. The
build runs this file as a program (``python character_tables.py FILE.inc``) to write them as C++. It needs only Python's
standard library.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from pathlib import Path

#: The end of the code points that may be letters, exclusive. From there on, Unicode has only some marks that no
#: normalization changes, private characters, and unassigned code points. No letters are planned there.
LAST = 0x40000
#: The code points of Hangul syllables, which are composed and decomposed by arithmetic and need no table.
HANGUL = range(0xAC00, 0xD800)


def made(every: str) -> dict[str, list[int]]:
    """Return the tables by name, made from a string of all code points below :data:`LAST` in order.

    ``letters`` has the first and the last code point of each range of characters that form words. ``marks`` has the
    same for marks that belong to the word before them. ``cases``, ``decompositions``, ``classes`` and ``compositions``
    have the form that csrc/text/folding.h describes.
    """
    marks = _marks(every)
    cases: list[int] = []
    decompositions: list[int] = []
    compositions: list[int] = []
    for first in range(0, len(every), 256):  # Most pages of 256 characters have none that changes, and are skipped.
        page = every[first : first + 256]
        if page.casefold() != page:
            for c in page:
                add(cases, c, c.casefold())
        if first not in HANGUL and unicodedata.normalize("NFKD", page) != page:
            for c in filter(unicodedata.decomposition, page):
                add(decompositions, c, unicodedata.normalize("NFKD", c))
                _add_pair(compositions, c)
    classes = [(point, unicodedata.combining(chr(point))) for first, last in marks for point in range(first, last + 1)]
    return {
        "letters": [bound for found in re.finditer(r"\w+", every) for bound in (found.start(), found.end() - 1)],
        "marks": [bound for each in marks for bound in each],
        "cases": cases,
        "decompositions": decompositions,
        "classes": [each for pair in classes if pair[1] for each in pair],
        "compositions": compositions,
    }


def add(table: list[int], c: str, to: str) -> None:
    """Append a row for a character ``c`` that becomes ``to``: its code point, the length of ``to``, its code points.

    Nothing is appended if the character does not change.
    """
    if to != c:
        table += [ord(c), len(to), *map(ord, to)]


def _marks(every: str) -> list[tuple[int, int]]:
    """Return the ranges (first, last) of marks that belong to the word before them, which are nonspacing or spacing."""
    categories = "".join(map(unicodedata.category, every[:0x20000])).encode()
    points = [found.start() // 2 for found in re.finditer(rb"M[nc]", categories)]  # No category ends in M.
    begins = [point for point, before in zip(points, [-1, *points], strict=False) if point != before + 1]
    ends = [point for point, after in zip(points, [*points[1:], -1], strict=True) if point != after - 1]
    return list(zip(begins, ends, strict=True))


def _add_pair(compositions: list[int], c: str) -> None:
    """Append a row for a character that is composed of two others: (first, second, composed) as code points."""
    parts = unicodedata.decomposition(c).split()
    if len(parts) == 2 and not parts[0].startswith("<"):
        first, second = (chr(int(part, 16)) for part in parts)
        if unicodedata.normalize("NFC", first + second) == c:  # Otherwise it stays decomposed.
            compositions += [ord(first), ord(second), ord(c)]


def _written() -> str:
    """Return C++ code of the tables."""
    lines = [
        "// Written by pychunk/index/lexical/character_tables.py as the extension is built; do not edit.",
        f'constexpr const char* kPythonsUnicode = "{unicodedata.unidata_version}";',
    ]
    for name, table in made("".join(map(chr, range(LAST)))).items():
        lines.append(f"constexpr uint32_t kPythons{name.capitalize()}[] = {{")
        lines += [", ".join(map(str, table[at : at + 16])) + "," for at in range(0, len(table), 16)]
        lines.append("};")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(_written(), encoding="ascii")
