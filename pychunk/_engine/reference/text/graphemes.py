"""Grapheme clusters, which readers see as one character, and the count of words, also in scripts without spaces."""

from __future__ import annotations

from functools import cache

from ... import native
from .characters import is_digit, is_letter

_LINKERS = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d"


@cache
def _extending() -> frozenset[str]:
    runs = native.unicode_tables()["extending"]
    pairs = zip(runs[::2], runs[1::2], strict=True)
    return frozenset(chr(c) for first, last in pairs for c in range(first, last + 1))


def extends(c: str) -> bool:
    """Return whether a character always continues a cluster, as a mark, a joiner or a skin tone does."""
    return c in _extending()


def cluster_border(text: str, begin: int, at: int) -> int:
    """Return the last boundary between clusters in (begin, at], or ``at`` if there is none.

    ``begin`` must be a boundary.
    """
    return next((i for i in range(at, begin, -1) if i >= len(text) or is_border(text, begin, i)), at)


def is_border(text: str, begin: int, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if extends(after) or (before == "\u200d" and _is_pictographic(after)):
        return False
    if _hangul(after) in _FOLLOWING.get(_hangul(before), ()):
        return False
    if _is_regional(before) and _is_regional(after):
        count = 0
        while at - 1 - count >= begin and _is_regional(text[at - 1 - count]):
            count += 1
        return count % 2 == 0
    i = at - 1
    while extends(text[i]):
        if text[i] in _LINKERS:
            return not _is_consonant(after, text[i])
        if i == begin:
            break
        i -= 1
    return True


def _is_regional(c: str) -> bool:
    return "\U0001f1e6" <= c <= "\U0001f1ff"


def _is_pictographic(c: str) -> bool:
    return c in "\xa9\xae" or "\u203c" <= c <= "\u3299" or "\U0001f000" <= c <= "\U0001fffd"


def _is_consonant(c: str, linker: str) -> bool:
    at = ord(c) % 0x80
    return ord(c) // 0x80 == ord(linker) // 0x80 and (0x15 <= at <= 0x39 or 0x58 <= at <= 0x5F)


_FOLLOWING = {
    "lead": ("lead", "vowel", "open", "closed"),
    "vowel": ("vowel", "tail"),
    "open": ("vowel", "tail"),
    "tail": ("tail",),
    "closed": ("tail",),
}


def _hangul(c: str) -> str:
    code = ord(c)
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "lead"
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "vowel"
    if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB:
        return "tail"
    if 0xAC00 <= code <= 0xD7A3:
        return "closed" if (code - 0xAC00) % 28 else "open"
    return ""


def count_words(text: str) -> int:
    """Return the number of words. White space separates them, and scripts without spaces are divided further."""
    return sum(map(words_of_run, text.split()))


def words_of_run(run: str) -> int:
    """Return the number of words in a text without white space, at least 1.

    Each ideograph is a word, and so is each cluster of Thai and similar scripts. Other letters and digits in a row are
    one word.
    """
    words, inside = 0, False
    for c in run:
        if _is_ideograph(c) or _is_unspaced(c):
            words += _is_ideograph(c) or not extends(c)
            inside = False
        elif not inside and _is_of_word(c):
            words, inside = words + 1, True
    return max(1, words)


def _is_ideograph(c: str) -> bool:
    blocks = ((0x3041, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF))
    return any(first <= ord(c) <= last for first, last in (*blocks, (0x20000, 0x3FFFD)))


def _is_unspaced(c: str) -> bool:
    blocks = ((0xE01, 0xE4E), (0xE81, 0xECD), (0x1000, 0x109F), (0x1780, 0x17D3))
    return any(first <= ord(c) <= last for first, last in blocks)


def _is_of_word(c: str) -> bool:
    wide = ((0xAC00, 0xD7A3), (0xFF10, 0xFF19), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A))
    return is_digit(c) or (c < "\u2000" and is_letter(c)) or any(first <= ord(c) <= last for first, last in wide)
