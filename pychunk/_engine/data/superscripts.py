"""The text of superscripts and subscripts, such as 10^6, H2O and [3]."""

from __future__ import annotations

import re

from .html_tags import SMALL

#: Superscripts, in lower case, that are joined to the word before them, and marks that are joined to any text.
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


def script_text(raised: bool, note: bool, before: str, text: str) -> str:
    """Return the text of a ``sup`` or ``sub`` element in the form in which it is appended to the line ``before`` it.

    Exponents (``raised``) become ``10^6`` and ``x^{n+1}``, indices ``x_i``, chemical formulas ``H2O``, footnote marks
    (``note``) ``[3]``. Ordinals and trade marks are joined to the word before, as in ``1st``.
    """
    if raised and (note or (text.startswith("[") and text.endswith("]"))):
        return text if text.startswith(("[", "(")) else f"[{text}]"
    if not before or before[-1].isspace():
        return text
    base = before[-1]
    found = _WORD_BEFORE.search(before[-3:])
    word = len(found[0]) if found else 0
    digits = _DIGITS.fullmatch(text) is not None
    if raised and digits and (before.endswith(_STOPS) or ("," in text and not is_ascii_digit(base))):
        return f"[{text}]"
    if not raised and base in "/\u2044":
        return text
    if not (base.isascii() and base.isalnum()) and base not in ")]}|" and base.isascii():
        return text
    words = _WORDS.fullmatch(text) is not None
    if raised:
        if text.translate(SMALL) in _JOINED and (len(text.encode()) > 1 or is_ascii_digit(base) or base in "nNMD"):
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


def is_ascii_digit(character: str) -> bool:
    return "0" <= character[:1] <= "9"
