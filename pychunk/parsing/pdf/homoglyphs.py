"""Latin and Cyrillic letters that look alike, and words that mix them.

A page shows only how letters look. Which of two similar ones the file names depends on the author, or on a font's
character map. In a search, ``амоксицилiн`` with a Latin i is another word than ``амоксицилін``.
"""

from __future__ import annotations

import re

#: The letters that look alike, Latin and Cyrillic.
_LATIN, _CYRILLIC = "aceijopsxyABCEHIJKMOPSTXïëÏË", "асеіјорѕхуАВСЕНІЈКМОРЅТХїёЇЁ"
_TO_CYRILLIC, _TO_LATIN = str.maketrans(_LATIN, _CYRILLIC), str.maketrans(_CYRILLIC, _LATIN)
_SURELY_LATIN = re.compile(f"(?![{_LATIN}])[A-Za-z\u00c0-\u024f]")
_SURELY_CYRILLIC = re.compile(f"(?![{_CYRILLIC}])[\u0400-\u052f]")
_SIDE_BY_SIDE = re.compile("[A-Za-z\u00c0-\u024f][\u0400-\u052f]|[\u0400-\u052f][A-Za-z\u00c0-\u024f]")
# This pattern is tried first: it takes 4 ns a character, both together 20.
_ANY_CYRILLIC = re.compile("[\u0400-\u052f]")
_LETTERS = re.compile(r"[^\W\d_]+")


def in_one_script(text: str) -> str:
    """Return a text of the same length in which mixed words have one script, if their letters show which.

    A word with a letter that only Cyrillic has, and none that only Latin has, becomes Cyrillic, and the other way
    round. Other words do not change: those with letters of both kinds, and those whose letters could all be either.

    >>> in_one_script("амоксицилiн, Сmax, ІV, CDшник, рH")
    'амоксицилін, Cmax, IV, CDшник, рH'
    """
    mixed = _ANY_CYRILLIC.search(text) and _SIDE_BY_SIDE.search(text)
    return _LETTERS.sub(_of_one, text) if mixed else text


def _of_one(found: re.Match[str]) -> str:
    word = found[0]
    if not _SIDE_BY_SIDE.search(word):
        return word
    latin, cyrillic = _SURELY_LATIN.search(word), _SURELY_CYRILLIC.search(word)
    if cyrillic and not latin:
        return word.translate(_TO_CYRILLIC)
    return word.translate(_TO_LATIN) if latin and not cyrillic else word
