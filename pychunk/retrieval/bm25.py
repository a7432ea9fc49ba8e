"""BM25 over the parts of an index, with the statistics of all that is not removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .postings import Postings, Whole

F32 = npt.NDArray[np.float32]


class BM25:
    """Scores of all rows for the terms of a query, as shares of what a row could reach at most.

    ``sum(idf(t) * f / (f + k1 * (1 - b + b * length / mean length))) / sum(idf(t))`` over the query's terms that the
    index knows, with ``idf = ln(1 + (n - df + 0.5) / (df + 0.5))`` (Robertson and Zaragoza, 2009, as Lucene has it).
    The bound makes a share comparable with a cosine whatever the query's length and the size of the corpus.

    Args:
        parts: postings, whose rows are numbered on from one to the next.
        alive: bool[n], False for removed rows: they count in no statistic and score 0.
        k1: how soon more occurrences of a term stop to matter. b: how much a row's length matters, from 0 to 1.
    """

    def __init__(self, parts: Sequence[Postings], alive: npt.NDArray[np.bool_], *, k1: float, b: float) -> None:
        self.parts, self.alive = list(parts), alive
        lengths = [part.lengths for part in self.parts]
        every = np.concatenate(lengths) if lengths else np.empty(0, np.int32)
        self.rows = int(alive.sum())
        mean = float(every[alive].mean()) if self.rows else 1.0
        self._base = np.asarray(k1 * (1 - b + b * every / max(mean, 1e-9)), np.float32)
        self._first = np.concatenate([[0], np.cumsum([len(each) for each in lengths])]).astype(np.int64)

    def scores(self, terms: Sequence[str]) -> F32:
        """float32[n] from 0 to 1; a term that comes twice in the query counts twice."""
        out = np.zeros(len(self.alive), np.float32)
        bound = 0.0
        for term, times in Counter(terms).items():
            found = [(rows + first, counts) for rows, counts, first in self._postings(term) if len(rows)]
            frequency = sum(int(self.alive[rows].sum()) for rows, _ in found)
            if frequency == 0:
                continue
            weight = times * float(np.log1p((self.rows - frequency + 0.5) / (frequency + 0.5)))
            bound += weight
            for rows, counts in found:
                occurrences = counts.astype(np.float32)
                out[rows] += np.float32(weight) * occurrences / (occurrences + self._base[rows])
        out[~self.alive] = 0
        return out / np.float32(bound) if bound else out

    def _postings(self, term: str) -> list[tuple[Whole, Whole, np.int64]]:
        return [(*part.find(term), first) for part, first in zip(self.parts, self._first[:-1], strict=True)]
