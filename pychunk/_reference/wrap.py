"""Whether a document was wrapped by hand, and which of its line breaks part blocks all the same."""

from __future__ import annotations

import re
from itertools import pairwise

from .characters import is_upper

NARROWEST, WIDEST = 30, 200
_BLOCK = re.compile(r"[#|+]|```|===|---|[-*+][ \t]|•[ \t]|[0-9]{1,4}[.)][ \t]|[A-Za-z]\)[ \t]")


def _blank(line: str) -> bool:
    return not line.strip(" \t\r\v\f")


def _inside(line: str) -> str:
    """Without indentation, marks of quoted e-mail and white space at the end."""
    return line.lstrip(" \t>").rstrip(" \t\r")


def _columns(line: str) -> int:
    return len(line.rstrip(" \t\r"))


def _first_word(line: str) -> int:
    return len(_inside(line).split(" ")[0])


def _begins_block(line: str) -> bool:
    inside = _inside(line)
    return not inside or bool(_BLOCK.match(inside))


def wrap_width(text: str) -> int:
    """The width to which lines are filled, in characters; 0 for text that is not wrapped."""
    lines = text.split("\n")
    if len(lines) < 4 or len(text) > WIDEST * len(lines):
        return 0
    inner: list[tuple[int, int, bool]] = []
    fenced = False
    for line, following in pairwise(lines):
        fence = _inside(line).startswith("```")
        fenced ^= fence
        if fence or fenced or _inside(line).startswith("|"):
            continue
        if not (_blank(line) or _blank(following) or _begins_block(following)):
            inner.append((_columns(line), _first_word(following), is_upper(_inside(following)[0])))
    if len(inner) < 3:
        return 0
    width = sorted(columns for columns, _, _ in inner)[len(inner) - 1 - len(inner) // 10]
    if not NARROWEST <= width <= WIDEST:
        return 0
    filled = sum(columns + 1 + word > width - width // 5 for columns, word, _ in inner)
    capitals = sum(capital for _, _, capital in inner)
    return width if 4 * filled >= 3 * len(inner) and 5 * capitals <= 3 * len(inner) else 0


def separates(text: str, at: int, width: int) -> bool:
    """Whether the line break at ``at`` parts two blocks of wrapped text."""
    before = text[:at].rsplit("\n", 1)[-1]
    after = text[at + 1 :].split("\n", 1)[0]
    if _blank(before) or _blank(after) or _begins_block(after):
        return True
    if _inside(before)[:1] in ("#", "|"):
        return True
    return _columns(before) + 1 + _first_word(after) <= 3 * width // 4
