"""Superscripts, subscripts and readings of a line: 10^6, H2O, [3]."""

from __future__ import annotations

import re

from ...data.html_tags import LINE_BREAK, SMALL

#: What a raised text is joined to its word by, in small letters, and the marks that need nothing between.
_JOINED = frozenset(
    ("a", "as", "de", "e", "eme", "er", "ers", "es", "ie", "lle", "lles", "me", "mes", "nd", "o", "os", "r", "rd", "re",
     "sm", "st", "ste", "te", "th", "tm", "\u00e8me", "\u00e8re")
)  # fmt: skip
_MARKS = ("*", "#", *"\u2122\u2120\u00ae\u00a9\u2020\u2021\u00a7\u00b0\u00ba\u00aa")
_STOPS = tuple('.,;:!?"\u201d\u2019\u00bb\u3002')
ONE_TOKEN = re.compile(r"[-+\u2212]?[0-9](?:[0-9.,]*[0-9])?|.", re.DOTALL)
_DIGITS = re.compile(r"[0-9][0-9,. ]*")
_WORDS = re.compile(r"[A-Za-z .\u0080-\U0010ffff]{2,}")
_WORD_BEFORE = re.compile(r"[A-Za-z]*\Z")
_FRACTION = re.compile(r"\^([0-9]{1,9}[/\u2044])\Z")


def blank(parts: list[str], left: int) -> None:
    """Replace the character ``left`` before the end by a blank: ``5^1/2`` becomes ``5 1/2``."""
    piece = len(parts) - 1
    while left > len(parts[piece]):
        left -= len(parts[piece])
        piece -= 1
    text = parts[piece]
    parts[piece] = f"{text[: len(text) - left]} {text[len(text) - left + 1 :]}"


def script_text(raised: bool, note: bool, before: str, text: str) -> str:
    """Return the text of a ``sup`` or ``sub`` as it is written after the line so far.

    Exponents are ``10^6``, ``x^{n+1}``; indices ``x_i``; formulas of chemistry ``H2O``; footnote marks ``[3]``;
    ordinals and trade marks are joined: ``1st``.
    """
    if raised and (note or (text.startswith("[") and text.endswith("]"))):
        return text if text.startswith(("[", "(")) else f"[{text}]"
    if not before or before[-1].isspace():
        return text
    base = before[-1]
    found = _WORD_BEFORE.search(before[-3:])
    word = len(found[0]) if found else 0
    digits = _DIGITS.fullmatch(text) is not None
    if raised and digits and (before.endswith(_STOPS) or ("," in text and not _ascii_digit(base))):
        return f"[{text}]"
    if not raised and base in "/\u2044":
        return text
    if not (base.isascii() and base.isalnum()) and base not in ")]}|" and base.isascii():
        return text
    words = _WORDS.fullmatch(text) is not None
    if raised:
        if text.translate(SMALL) in _JOINED and (len(text.encode()) > 1 or _ascii_digit(base) or base in "nNMD"):
            return text  # 1<sup>e</sup> and n<sup>o</sup> are words, e<sup>x</sup> is a power
        if text.startswith(_MARKS):
            return text
        if words and word >= 2:
            return f" {text}"
    else:
        element = "A" <= base <= "Z" or base in ")]" or ("a" <= base <= "z" and "A" <= before[-2:-1] <= "Z")
        if digits and element:
            return text
        if words and word >= 3:
            return f" {text}"
    return ("^" if raised else "_") + (text if ONE_TOKEN.fullmatch(text) else f"{{{text}}}")


def _ascii_digit(character: str) -> bool:
    return "0" <= character[:1] <= "9"


class Scripts:
    """Superscripts, subscripts and readings of a line that is being read."""

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
        self.ends_in_digit = _ascii_digit(text[-1])

    def follow(self, text: str, parts: list[str]) -> None:
        """Keep two numbers apart: ``text`` is added next."""
        if self.ends_in_digit and _ascii_digit(text):
            parts.append(" ")
        self.ends_in_digit = False

    def forget(self) -> None:
        """End the line."""
        self.open = [(tag, note, -1) for tag, note, _ in self.open]
        self.ends_in_digit = False
