"""The classes of characters that the sentence splitter distinguishes."""

from __future__ import annotations

#: The ranges of letters with upper and lower case. The splitter treats all other letters as letters without case.
_CASED = [
    *((0x41, 0x5A), (0x61, 0x7A), (0xB5, 0xB5), (0xC0, 0x17F), (0x1CD, 0x1DC), (0x1DE, 0x1EF), (0x1F8, 0x21F)),
    *((0x222, 0x233), (0x246, 0x24F), (0x386, 0x3CE), (0x400, 0x52F), (0x531, 0x556), (0x561, 0x587)),
    (0x1E00, 0x1EFF),
]
LINE_BREAKS = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
JOINED_STOPS = "。！？｡"
SHADS = "\u0f0d\u0f0e\u0f0f\u0f10\u0f11"
STRONG_STOPS = "\u0964\u0965\u0589\u061f\u06d4\u1362\u1367\u17d4\u104b" + SHADS
STOPS = ".!?…‼‽⁇⁈⁉\u037e\u17d5\u104a" + STRONG_STOPS + JOINED_STOPS
CLOSERS = "\"')]}»«’”“›」』】〕〉》）］"
OPENERS = "\"'([{*_«»‘’“”„‚‹¿¡"


def _cased(c: str) -> bool:
    return any(low <= ord(c) <= high for low, high in _CASED)


def is_upper(c: str) -> bool:
    return _cased(c) and c.isupper()


def is_lower(c: str) -> bool:
    return _cased(c) and c.islower()


def is_digit(c: str) -> bool:
    return "0" <= c <= "9"


def is_letter(c: str) -> bool:
    return is_upper(c) or is_lower(c) or 0x5D0 <= ord(c) < 0x2000 or ord(c) >= 0x2C00


def is_any_digit(c: str) -> bool:
    """Return whether a character is a digit of ASCII or of a script whose letters have no case."""
    return is_digit(c) or ("\u0660" <= c < "\u1050" and c.isdecimal())


def is_greek(c: str) -> bool:
    return "\u0370" <= c < "\u0400" or "\u1f00" <= c < "\u2000"


def is_sign(c: str) -> bool:
    """Return whether a character is a mark that follows a letter in the scripts of India and Sri Lanka."""
    at = ord(c) & 0x7F
    if "\u0d80" <= c <= "\u0dff":
        return at in (0x02, 0x03) or 0x4A <= at <= 0x5F or at >= 0x72
    india = "\u0900" <= c < "\u0d80"
    return india and (at <= 3 or at == 0x3C or 0x3E <= at <= 0x4D or 0x55 <= at <= 0x57 or at in (0x62, 0x63))
