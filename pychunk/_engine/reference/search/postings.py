"""The terms of rows, counted and inverted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


def inverted(rows: Iterable[list[str]]) -> tuple[list[str], I64, I32, I32, I32]:
    """Return the postings of rows of terms.

    They are (terms by code points, offsets int64[t + 1], rows int32[p], counts int32[p], lengths int32[n]). Term t
    occurs in ``rows[offsets[t]:offsets[t + 1]]``, ``counts`` times.
    """
    found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    lengths = []
    for row, terms in enumerate(rows):
        lengths.append(sum(not term.startswith("~") for term in terms))  # n-grams in addition to words begin with ~
        for term, count in Counter(terms).items():
            found[term].append((row, count))
    terms_ = sorted(found)
    offsets = np.cumsum([0, *(len(found[term]) for term in terms_)])
    postings = np.array([pair for term in terms_ for pair in found[term]], np.int32).reshape(-1, 2)
    return terms_, offsets.astype(np.int64), postings[:, 0].copy(), postings[:, 1].copy(), np.array(lengths, np.int32)
