"""Words or n-grams: what BM25 should count of texts, by their script and by how many of their word forms are new.

A stemmer brings the forms of a word together where there is one and somebody names it. Where words have many forms, or
are written without spaces, n-grams serve without either. On XQuAD (240 paragraphs, 1,190 questions in each language;
the paragraph found first by BM25 of words, of stems, of n-grams, and the share of unseen forms as counted here):

======= ===== ===== ======= ======
        words stems n-grams unseen
======= ===== ===== ======= ======
English  .920  .930    .936    .33
German   .854  .896    .926    .39
Russian  .803  .911    .922    .50
Arabic   .814  .882    .913    .50
Hindi    .904  .917    .919    .28
======= ===== ===== ======= ======

Chinese, Japanese and Korean count by single characters and pairs either way.
"""

from __future__ import annotations

import bisect
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from . import characters
from .terms import Analyzer

#: Characters that are looked at, and rows that they are taken from, evenly.
_CHARACTERS, _ROWS = 1_000_000, 500
#: Words whose forms are known, words after them that are looked up among those, and the share of these from which on
#: n-grams are counted: between English (.30 to .34 on SQuAD, XQuAD and Wikipedia) and German (.39 on XQuAD).
_KNOWN, _NEXT, _UNSEEN = 8000, 4000, 0.36
_STARTS = [first for first, _ in characters.UNSPACED]


def choose(texts: pa.ChunkedArray) -> dict[str, Any]:
    """Which unit for texts, and why: the script of most letters, and for Latin ones the share of unseen forms.

    Latin letters count by n-grams where at least 0.36 of 4,000 words are of forms that are not among 8,000 words before
    them (the mean over such runs of the sample); fewer words than that count as words. Other scripts count by n-grams,
    but Chinese, Japanese and Korean, whose characters and pairs of them are terms already.

    Example:
        >>> choose(pa.chunked_array([["Таблетки приймають після їжі."]]))
        {'unit': 'ngrams', 'script': 'CYRILLIC', 'unseen': None}
        >>> choose(pa.chunked_array([["Take the tablets after a meal."]]))
        {'unit': 'words', 'script': 'LATIN', 'unseen': None}
    """
    sample = _sample(texts)
    script = _script("".join(sample)[: _CHARACTERS // 10])
    if script != "LATIN":
        return {"unit": "words" if script in ("", "UNSPACED") else "ngrams", "script": script, "unseen": None}
    unseen = _unseen(sample)
    many = unseen is not None and unseen >= _UNSEEN
    return {"unit": "ngrams" if many else "words", "script": script, "unseen": unseen}


def _sample(texts: pa.ChunkedArray) -> list[str]:
    """Texts of rows that lie evenly, in order; of each so much that all have their share."""
    rows = np.unique(np.linspace(0, max(0, len(texts) - 1), _ROWS).astype(np.int64))[: len(texts)]
    each = max(1, _CHARACTERS // max(1, len(rows)))
    return [texts[row].as_py()[:each] for row in rows.tolist()]  # take() would copy the column


def _script(text: str) -> str:
    """The script of most letters, by the first word of their names; "UNSPACED" for Chinese, Japanese, Korean."""
    found: Counter[str] = Counter()
    for letter, times in Counter(text).items():
        if letter.isalpha():
            point = ord(letter)
            at = bisect.bisect(_STARTS, point) - 1
            unspaced = at >= 0 and point <= characters.UNSPACED[at][1]
            found["UNSPACED" if unspaced else unicodedata.name(letter, "OTHER").split()[0]] += times
    return max(found, key=lambda name: (found[name], name)) if found else ""


def _unseen(texts: Iterable[str]) -> float | None:
    """The share of words that are of no form among those before; None of too few."""
    analyzer = Analyzer()
    words = [word for text in texts for word in analyzer.terms(text) if word.isalpha()]
    shares = []
    for begin in range(0, len(words) - _KNOWN - _NEXT + 1, _NEXT):
        known = set(words[begin : begin + _KNOWN])
        after = words[begin + _KNOWN : begin + _KNOWN + _NEXT]
        shares.append(sum(word not in known for word in after) / _NEXT)
    return round(float(np.mean(shares)), 4) if shares else None
