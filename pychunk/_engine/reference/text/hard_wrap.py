"""The detection of hard-wrapped documents, and of the line breaks in them that still separate blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from .characters import is_letter, is_lower, is_upper

NARROWEST, LOOSEST, WIDEST = 16, 30, 200
_BLOCK = re.compile(r"[#|+]|```|===|---|[-*+][ \t]|•[ \t]|[0-9]{1,4}[.)][ \t]|[A-Za-z]\)[ \t]")


def _blank(line: str) -> bool:
    return not line.strip(" \t\r\v\f")


def _inside(line: str) -> str:
    """Return a line without its indentation, the ">" of quoted e-mail, and white space at its end."""
    return line.lstrip(" \t>").rstrip(" \t\r")


def _columns(line: str) -> int:
    return len(line.rstrip(" \t\r"))


def _first_word(line: str) -> int:
    return len(_inside(line).split(" ")[0])


def _begins_block(line: str) -> bool:
    inside = _inside(line)
    return not inside or bool(_BLOCK.match(inside))


def hyphenated(line: str, following: str) -> bool:
    """Return whether a line ends in a letter and a hyphen, and the next line begins with a small letter."""
    before, after = line.rstrip(" \t\r"), _inside(following)
    return len(before) > 1 and before[-1] in "-\u2010" and is_letter(before[-2]) and after != "" and is_lower(after[0])


@dataclass
class _Lines:
    """Counts of the lines that are followed by another line of the same block, and of their properties."""

    number: int = 0
    full: int = 0  # the next line's first word would not have fitted
    filled: int = 0  # the next line's first word would not have fitted into four fifths of the width
    spare: int = 0  # the sum, over all lines, of the columns at which a line could end without being full
    capitals: int = 0  # the next line begins with a capital
    marked: int = 0  # the next line begins with a digit or a mark, as records and rows of tables do
    parted: int = 0  # the next line begins with a capital, digit or mark, and this line ends in a mark or a digit
    repeated: int = 0  # both lines begin with the same word


def _closes(line: str) -> bool:
    """Return whether a line ends in a digit or an ASCII mark, but not in a hyphen."""
    c = line.rstrip(" \t\r")[-1]
    return c.isascii() and not c.isalpha() and c != "-"


def wrap_width(text: str) -> int:
    """Return the width, in characters, to which the lines of a text are filled, or 0 for text that is not wrapped."""
    lines = text.split("\n")
    if len(lines) < 4 or len(text) > WIDEST * len(lines):
        return 0
    inner: list[tuple[str, str]] = []
    fenced = False
    for line, following in pairwise(lines):
        fence = _inside(line).startswith("```")
        fenced ^= fence
        if fence or fenced or _inside(line).startswith("|"):
            continue
        if not (_blank(line) or _blank(following) or _begins_block(following)):
            inner.append((line, following))
    if len(inner) < 3:
        return 0
    width = sorted(_columns(line) for line, _ in inner)[len(inner) - 1 - len(inner) // 10]
    if not NARROWEST <= width <= WIDEST:
        return 0
    seen = _Lines()
    for line, following in inner:
        with_word, first = _columns(line) + 1 + _first_word(following), _inside(following)[0]
        capital, mark = is_upper(first), not is_letter(first)
        seen.number += 1
        seen.full += with_word > width
        seen.filled += with_word > width - width // 5
        seen.spare += max(0, width - 1 - _first_word(following))
        seen.capitals += capital
        seen.marked += mark
        seen.parted += (capital or mark) and _closes(line)
        seen.repeated += _inside(line).split(" ")[0] == _inside(following).split(" ")[0]
    return width if _is_wrapped(seen, width) else 0


def _is_wrapped(seen: _Lines, width: int) -> bool:
    if 2 * max(seen.marked, seen.parted, seen.repeated) > seen.number:
        return False
    # At least six of seven lines are full, and there are enough lines to be sure: three of 72 columns, four of 28.
    if 7 * (seen.number - seen.full) <= seen.number and 4 * seen.spare >= 9 * width:
        # In verse and lists each line begins with a capital. Lines of prose with many names may do so, too, but lists
        # seldom fill a wide page.
        if 8 * (seen.capitals + seen.marked) <= 7 * seen.number:
            return True
        if 4 * seen.parted <= seen.number and (width >= 50 or 2 * seen.spare >= 9 * width):
            return True
    # Text that was edited after wrapping is filled loosely, so a fifth of the width may be free. So is verse, but most
    # of its lines begin with a capital.
    loose = width >= LOOSEST and 4 * seen.filled >= 3 * seen.number and 5 * seen.capitals <= 3 * seen.number
    return loose and 3 * seen.parted <= seen.number


def separates(text: str, at: int, width: int) -> bool:
    """Return whether the line break at ``at`` separates two blocks of wrapped text.

    ``width`` is the width to which lines are filled, or 0 if it is not known.
    """
    before = text[:at].rsplit("\n", 1)[-1]
    after = text[at + 1 :].split("\n", 1)[0]
    if _blank(before) or _blank(after) or _begins_block(after):
        return True
    if _inside(before)[:1] in ("#", "|"):
        return True
    return _columns(before) + 1 + _first_word(after) <= 3 * width // 4 and not hyphenated(before, after)
