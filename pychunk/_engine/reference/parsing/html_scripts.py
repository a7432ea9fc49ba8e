"""The superscripts, subscripts and ruby readings in a line, such as 10^6, H2O and [3]."""

from __future__ import annotations

import re

from ...data.html_tags import LINE_BREAK
from ...data.superscripts import is_ascii_digit, script_text

_FRACTION = re.compile(r"\^([0-9]{1,9}[/\u2044])\Z")


def blank(parts: list[str], left: int) -> None:
    """Replace the character at position ``-left`` of the joined parts by a space: with 3, ``5^1/`` becomes ``5 1/``."""
    piece = len(parts) - 1
    while left > len(parts[piece]):
        left -= len(parts[piece])
        piece -= 1
    text = parts[piece]
    parts[piece] = f"{text[: len(text) - left]} {text[len(text) - left + 1 :]}"


class Scripts:
    """The superscripts, subscripts and ruby readings of the line that is being read."""

    def __init__(self) -> None:
        self.open: list[tuple[str, bool, int]] = []
        self.ends_in_digit = False

    def enter(self, tag: str, note: bool, parts: list[str]) -> None:
        self.open.append((tag, note, len(parts)))

    def see_link(self, fragment: bool) -> None:
        if self.open:
            tag, note, at = self.open[-1]
            self.open[-1] = tag, note or fragment, at

    def leave(self, parts: list[str]) -> None:
        tag, note, at = self.open.pop()
        inside = "".join(parts[at:]) if at >= 0 else ""
        if not inside.strip() or LINE_BREAK in inside:
            return
        text = " ".join(inside.split())
        del parts[at:]
        before = ""
        piece = len(parts)
        while piece and len(before) < 24:
            piece -= 1
            before = parts[piece] + before
        if tag == "rt":
            text = f"({text})"
        else:
            if tag == "sub" and (found := _FRACTION.search(before)):
                blank(parts, len(before) - found.start())
            text = script_text(tag == "sup", note, before, text)
        if inside[-1].isspace():
            text += " "
        parts.append(text)
        self.ends_in_digit = is_ascii_digit(text[-1])

    def follow(self, text: str, parts: list[str]) -> None:
        """Add a space between a superscript or subscript that ends in a digit and a ``text`` that begins with one."""
        if self.ends_in_digit and is_ascii_digit(text):
            parts.append(" ")
        self.ends_in_digit = False

    def forget(self) -> None:
        """End the line."""
        self.open = [(tag, note, -1) for tag, note, _ in self.open]
        self.ends_in_digit = False
