"""The postings of the terms of rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


def inverted(rows: Iterable[list[str]]) -> tuple[list[str], I64, I32, I32, I32]:
    """Return the postings of n rows of terms: (terms, offsets int64[t + 1], rows int32[p], counts int32[p], lengths).

    The t terms are sorted by code points. Term i occurs in the rows ``rows[offsets[i]:offsets[i + 1]]``. The entries of
    ``counts`` at the same positions are the numbers of times that it occurs in each of these rows. ``lengths``,
    int32[n], is the number of terms in each row, without n-grams.
    """
    found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    lengths = []
    for row, terms in enumerate(rows):
        lengths.append(sum(not term.startswith("~") for term in terms))  # without n-grams, which begin with "~"
        for term, count in Counter(terms).items():
            found[term].append((row, count))
    terms_ = sorted(found)
    offsets = np.cumsum([0, *(len(found[term]) for term in terms_)])
    postings = np.array([pair for term in terms_ for pair in found[term]], np.int32).reshape(-1, 2)
    return terms_, offsets.astype(np.int64), postings[:, 0].copy(), postings[:, 1].copy(), np.array(lengths, np.int32)
