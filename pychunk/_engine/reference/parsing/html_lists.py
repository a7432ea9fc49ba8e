"""The marks before list items, as browsers show them."""

from __future__ import annotations

import re
from typing import Any

from ...data.html_tags import SMALL


class List:
    """A list and the number of its next item."""

    def __init__(self, style: str = "-") -> None:
        self.style, self.number, self.step = style, 1, 1


#: The most nested lists that may count down. The items of such a list must be counted before it is read.
MOST_REVERSED = 4
_LIST_STYLES = {"decimal": "1", "lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A"}
_LIST_STYLES |= {"lower-roman": "i", "upper-roman": "I"} | dict.fromkeys(("none", "disc", "circle", "square"), "-")
_ROMAN = {1000: "M", 900: "CM", 500: "D", 400: "CD", 100: "C", 90: "XC", 50: "L", 40: "XL", 10: "X", 9: "IX", 5: "V"}
_ROMAN |= {4: "IV", 1: "I"}


def item_count(node: Any) -> int:
    """Return the number of items of a list."""
    child, found = node.first_child, 0
    while child is not None:
        found += child.tag == "li"
        child = child.next
    return found


def list_style(attributes: dict[str, str | None], style: str) -> str:
    """Return the numbering of items: "1", "a", "A", "i", "I", or "-" for none."""
    kind = attributes.get("type") or ""
    if kind in ("1", "a", "A", "i", "I"):
        style = kind
    written = (attributes.get("style") or "").translate(SMALL)
    for part in re.findall("list-style[^;]*", written):
        for name in re.split("[ \t\n\f\r!]", part.partition(":")[2]):
            style = _LIST_STYLES.get(name, style)
    return style


def list_mark(style: str, number: int) -> str:
    """Return the mark that a browser shows before an item. Letters and Roman numerals have no number below 1.

    >>> list_mark("a", 28), list_mark("I", 14), list_mark("i", 0), list_mark("-", 3)
    ('ab. ', 'XIV. ', '0. ', '- ')
    """
    if style == "-":
        return "- "
    written = ""
    if style in "aA" and number > 0:
        while number > 0:
            number, letter = divmod(number - 1, 26)
            written = chr(ord(style) + letter) + written
    elif style in "iI" and 0 < number < 4000:
        for value, part in _ROMAN.items():
            written += part * (number // value)
            number %= value
        written = written.lower() if style == "i" else written
    else:
        written = str(number)
    return written + ". "
