"""BM25 over the parts of an index, with the statistics of all that is not removed."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .. import _native
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
        ends = np.cumsum([0, *map(len, lengths)]).tolist()
        self._places = [slice(begin, end) for begin, end in itertools.pairwise(ends)]
        self._whole = self.rows == len(alive)

    def scores(self, terms: Sequence[str]) -> F32:
        """float32[n] from 0 to 1; a term that comes twice in the query counts twice."""
        out = np.zeros(len(self.alive), np.float32)
        bound = 0.0
        wanted = Counter(terms)
        by_part = [part.find(list(wanted)) for part in self.parts]
        for times, *own in zip(wanted.values(), *by_part, strict=True):
            found = [(place, *postings) for place, postings in zip(self._places, own, strict=True)]
            frequency = sum(self._count(place, rows) for place, rows, _ in found)
            if frequency == 0:
                continue
            weight = times * float(np.log1p((self.rows - frequency + 0.5) / (frequency + 0.5)))
            bound += weight
            for place, rows, counts in found:
                _native.add_bm25(rows, counts, weight, self._base[place], out[place])
        if not self._whole:
            out[~self.alive] = 0
        if bound:
            out /= np.float32(bound)
        return out

    def _count(self, place: slice, rows: Whole) -> int:
        """How many of a part's rows are not removed."""
        return len(rows) if self._whole else _native.count_alive(rows, self.alive[place])
