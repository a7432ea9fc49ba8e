"""The ways of scoring chunks for a query: the best of their sentences, their own vector, BM25."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .fusion import F32, I64
from .vectors import VectorIndex

Mask = npt.NDArray[np.bool_]

#: What FAISS's scores and exact ones differ by at most (float32 sums of products of unit vectors).
_SLACK = 1e-5
#: So few rows are scored one by one where some are not allowed, as an index that skips those would look at them all the
#: same, and where the rows found ahead are too few.
_FEW = 20_000


@dataclass
class NearestRows:
    """Rows of an index by falling score for one query.

    Args:
        index: where to look. query: unit vector float32[dim].
        allowed: bool[n], rows that may be found; None: all.
        ahead: rows that a search for many queries at once found for this one.
    """

    index: VectorIndex
    query: F32
    allowed: Mask | None
    ahead: I64

    def __post_init__(self) -> None:
        self.count = len(self.index) if self.allowed is None else int(self.allowed.sum())

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """(scores, rows, whether there are no more)."""
        if self.allowed is not None and self.count <= _FEW:
            rows = np.flatnonzero(self.allowed)
        elif count <= len(self.ahead):
            rows = self.ahead
        elif self.index.exact and self.count <= _FEW:  # all at once, not by one search after another for more
            rows = np.arange(self.count)
        else:
            rows = self.index.search(self.query[None], count, self.allowed)[1][0]
        rows = rows[rows >= 0]
        scores = self.index.score(self.query, rows)
        best = np.lexsort((rows, -scores))
        return scores[best], rows[best], len(rows) >= self.count or len(rows) < count


class BestSentence:
    """A chunk scores as the best of its sentences; 0 without any."""

    def __init__(self, nearest: NearestRows, offsets: I64, chunk_of: I64) -> None:
        self.nearest, self.offsets, self.chunk_of = nearest, offsets, chunk_of
        self.exact = nearest.index.exact

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """The best chunks, at least ``count`` of them if there are, certain where the index is exact.

        Sentences are fetched until ``count`` chunks have one that is better than the last sentence fetched: whatever
        was not met scores below that.
        """
        fetch = 2 * count
        while True:
            scores, rows, ended = self.nearest.top(fetch)
            chunks, first = np.unique(self.chunk_of[rows], return_index=True)  # rows come best first
            found = scores[first]
            if not ended and self.exact:
                certain = found > scores[-1] + _SLACK
                chunks, found = chunks[certain], found[certain]
            if ended or len(chunks) >= count:
                best = np.lexsort((chunks, -found))
                return found[best], chunks[best], ended or not self.exact
            fetch *= 4

    def score(self, chunks: I64) -> F32:
        sizes, rows, found = self._sentences(chunks)
        out = np.zeros(len(chunks), np.float32)
        starts = np.cumsum(sizes) - sizes
        if len(rows):
            out[sizes > 0] = np.maximum.reduceat(found, starts[sizes > 0])
        return out

    def best(self, chunks: I64) -> I64:
        """The row of each chunk's best sentence, the first of equals; -1 without any."""
        sizes, rows, found = self._sentences(chunks)
        ends = np.cumsum(sizes)
        bounds = zip(ends - sizes, ends, strict=True)
        return np.array([rows[a:b][found[a:b].argmax()] if b > a else -1 for a, b in bounds], np.int64)

    def _sentences(self, chunks: I64) -> tuple[I64, I64, F32]:
        """How many each chunk has; all their rows end to end, and scores."""
        sizes = self.offsets[chunks + 1] - self.offsets[chunks]
        before = np.cumsum(sizes) - sizes
        rows = np.arange(sizes.sum()) + np.repeat(self.offsets[chunks] - before, sizes)
        return sizes, rows, self.nearest.index.score(self.nearest.query, rows)


class ChunkVector:
    """A chunk scores by its own vector."""

    def __init__(self, nearest: NearestRows) -> None:
        self.nearest = nearest
        self.exact = nearest.index.exact

    def top(self, count: int) -> tuple[F32, I64, bool]:
        scores, rows, ended = self.nearest.top(count + 1)
        if not ended and self.exact:  # a row that ties with the last one may be missing
            certain = scores > scores[-1] + _SLACK
            scores, rows = scores[certain], rows[certain]
            if len(rows) < count:
                return self.top(4 * count)
        return scores, rows, ended or not self.exact

    def score(self, chunks: I64) -> F32:
        return self.nearest.index.score(self.nearest.query, chunks)


class Sparse:
    """A chunk scores by BM25; those without a term of the query are no candidates."""

    exact = True

    def __init__(self, scores: F32, allowed: Mask | None) -> None:
        self.scores = scores if allowed is None else np.where(allowed, scores, np.float32(0))

    def top(self, count: int) -> tuple[F32, I64, bool]:
        rows = np.flatnonzero(self.scores)
        ended = len(rows) <= count
        if not ended:  # with all that tie with the last one
            border = np.partition(self.scores[rows], len(rows) - count)[len(rows) - count]
            rows = rows[self.scores[rows] >= border]
        best = np.lexsort((rows, -self.scores[rows]))
        return self.scores[rows[best]], rows[best], ended

    def score(self, chunks: I64) -> F32:
        return self.scores[chunks]
