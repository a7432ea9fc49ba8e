"""Latin and Cyrillic letters that look alike, and words that mix them.

A page shows only how letters look. The author, or a font's character map, decides which of two similar letters is in
the file. For a search, ``амоксицилiн`` with a Latin i is another word than ``амоксицилін``.
"""

from __future__ import annotations

import re

#: The letters that look alike, Latin and Cyrillic.
_LATIN, _CYRILLIC = "aceijopsxyABCEHIJKMOPSTXïëÏË", "асеіјорѕхуАВСЕНІЈКМОРЅТХїёЇЁ"
_TO_CYRILLIC, _TO_LATIN = str.maketrans(_LATIN, _CYRILLIC), str.maketrans(_CYRILLIC, _LATIN)
_SURELY_LATIN = re.compile(f"(?![{_LATIN}])[A-Za-z\u00c0-\u024f]")
_SURELY_CYRILLIC = re.compile(f"(?![{_CYRILLIC}])[\u0400-\u052f]")
_SIDE_BY_SIDE = re.compile("[A-Za-z\u00c0-\u024f][\u0400-\u052f]|[\u0400-\u052f][A-Za-z\u00c0-\u024f]")
# This pattern is tried before _SIDE_BY_SIDE. It takes 4 ns for each character; both patterns together take 20 ns.
_ANY_CYRILLIC = re.compile("[\u0400-\u052f]")
_LETTERS = re.compile(r"[^\W\d_]+")


def in_one_script(text: str) -> str:
    """Return a text of the same length in which mixed words have one script, if their letters show which.

    A word with letters that only Cyrillic has, and none that only Latin has, becomes Cyrillic. The same applies to
    Latin. A word with both kinds of letters does not change, nor does a word whose letters are all in both scripts.

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
