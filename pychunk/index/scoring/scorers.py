"""The scorers of chunks for queries: by their best sentence, by their own vector, and by BM25."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..._engine import native
from ..dense.scan import VectorScan
from ..dense.vector_index import VectorIndex
from .fusion import F32, I64, RankedChunks, Source, distinct
from .scan_cache import Best, by_sums

Mask = npt.NDArray[np.bool_]

#: The most by which scores of FAISS or torch differ from exact scores (float32 inner products of unit vectors).
SLACK = 1e-5
#: If at most this number of rows may be found, they are scored one by one instead of searched. This applies if some
#: rows are not allowed, because an index would visit those rows, too, and only then skip them. It also applies if the
#: first search found too few.
_FEW = 20_000


class RowScorer(Source, Protocol):
    """A source of scores that also knows which of a chunk's vectors is best."""

    def best(self, chunks: I64) -> I64:
        """Return the row of each chunk's best vector; of equals the first, and -1 for a chunk without vectors."""


class Batch(Protocol):
    """The sources of scores for several queries, which search together."""

    def fetch(self, numbers: Sequence[int], count: int) -> None:
        """Prepare the sources of these queries to return their ``count`` best chunks, if possible by one search."""

    def source(self, number: int) -> RowScorer:
        """Return the source of one query."""


class ScanScorer:
    """The exact scores of chunks by the best of their vectors, from one scan for several queries.

    Args:
        scan: The scan of the vectors.
        queries: Unit vectors, float32[q, dim].
        allowed: The chunks that may be found, bool[chunks]. None: all.
        threads: The number of threads. None: the default number.
        groups: The groups of the scan that hold all allowed chunks. Empty: unknown.
        ahead: The best rows of each query, if they are already known. None: unknown.
    """

    def __init__(
        self,
        scan: VectorScan,
        queries: F32,
        allowed: Mask | None,
        threads: int | None,
        groups: Sequence[int] = (),
        ahead: Sequence[Best] | None = None,
    ) -> None:
        self.scan, self.queries, self.allowed, self.threads, self.groups = scan, queries, allowed, threads, groups
        self.ahead = ahead
        self.found: dict[int, Best] = dict(enumerate(ahead or ()))
        self.expected: dict[int, I64] = {}

    def expect(self, number: int, chunks: I64) -> None:
        """Name chunks that are likely to be among the best of a query. A chunk may occur several times.

        If n chunks are requested, the scan starts from the n-th best score of these. It finds the same chunks, but
        reads fewer rows completely.
        """
        self.expected[number] = chunks

    def fetch(self, numbers: Sequence[int], count: int) -> None:
        """Find the ``count`` best chunks of these queries in one scan."""
        own = self.queries[list(numbers)]
        least = np.array([self._least(number, count) for number in numbers], np.float32) if self.expected else None
        scores, chunks, _ = self.scan.top(own, count, self.allowed, self.threads, groups=self.groups, least=least)
        for place, number in enumerate(numbers):
            there = chunks[place] >= 0
            self.found[number] = (count, scores[place][there], chunks[place][there])

    def _least(self, number: int, count: int) -> float:
        """Return the ``count``-th best score of the expected chunks, or -inf if there are fewer."""
        chunks = self.expected.get(number, np.empty(0, np.int64))
        chunks = distinct(chunks if self.allowed is None else chunks[self.allowed[chunks]])
        if len(chunks) < count:
            return -np.inf
        scores, rows = self.scan.score_chunks(self.queries[number], chunks)
        scores = scores[rows >= 0]
        if len(scores) < count:
            return -np.inf
        return float(np.partition(scores, len(scores) - count)[len(scores) - count])

    def source(self, number: int) -> ScanQueryScorer:
        """Return the source of one query."""
        return ScanQueryScorer(self, number)


@dataclass
class ScanQueryScorer:
    """One query of a :class:`ScanScorer`."""

    batch: ScanScorer
    number: int
    exact = True

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """Return the best chunks. Chunks without a vector are no candidates."""
        if self.batch.found.get(self.number, (0,))[0] < count:
            self.batch.fetch([self.number], count)
        asked, scores, chunks = self.batch.found[self.number]
        # If exactly as many were found, the next request shows that there are no more. To count the allowed chunks of a
        # million would take 0.04 ms for each scan.
        return scores, chunks, len(chunks) < asked

    def score(self, chunks: I64) -> F32:
        """Return the scores of chunks. A score is bit for bit the same whether or not a scan found the chunk.

        Scores that a scan found, which are half of those that a fusion requests, are not computed again.
        """
        _, scores, found = self.batch.found.get(self.number, (0, np.empty(0, np.float32), np.empty(0, np.int64)))
        order = np.argsort(found)
        at = np.searchsorted(found, chunks, sorter=order)
        known = at < len(found)
        known[known] = found[order[at[known]]] == chunks[known]
        out = np.empty(len(chunks), np.float32)
        out[known] = scores[order[at[known]]]
        out[~known] = self.batch.scan.score_chunks(self.batch.queries[self.number], chunks[~known])[0]
        return out

    def best(self, chunks: I64) -> I64:
        """Return the row of each chunk's best vector, or -1 without any."""
        return self.batch.scan.score_chunks(self.batch.queries[self.number], chunks)[1]


class VectorIndexScorer:
    """The scores of chunks from the rows that a :class:`VectorIndex` finds: approximate, or on a GPU exact.

    Args:
        index: The index of the vectors.
        queries: Unit vectors, float32[q, dim].
        allowed: The rows that may be found, bool[rows]. None: all.
        chunk_of: The chunk of each row. None: each row is a chunk.
        depth: The number of rows for each query that one search for all queries finds at the beginning.
        threads: The number of threads. None: the default number.
        ahead: The rows that this first search would find, int64[q, depth], if they are already known.
    """

    def __init__(
        self,
        index: VectorIndex,
        queries: F32,
        allowed: Mask | None,
        chunk_of: I64 | None,
        depth: int,
        threads: int | None = None,
        ahead: I64 | None = None,
    ) -> None:
        self.index, self.queries, self.allowed, self.chunk_of = index, queries, allowed, chunk_of
        self.threads = threads
        self.ahead = index.search(queries, depth, allowed, threads)[1] if ahead is None else ahead

    def fetch(self, numbers: Sequence[int], count: int) -> None:
        """Do nothing, because the rows of the first search are nearly always enough."""

    def source(self, number: int) -> BestSentence | ChunkVector:
        """Return the source of one query."""
        nearest = NearestRows(self.index, self.queries[number], self.allowed, self.ahead[number], self.threads)
        return ChunkVector(nearest) if self.chunk_of is None else BestSentence(nearest, self.chunk_of)


@dataclass
class NearestRows:
    """The rows of an index by falling score for one query.

    Args:
        index: The index of the vectors.
        query: A unit vector, float32[dim].
        allowed: The rows that may be found, bool[n]. None: all.
        ahead: The rows that the first search for all queries found for this query, best first, padded with -1.
        threads: The number of threads. None: the default number.
    """

    index: VectorIndex
    query: F32
    allowed: Mask | None
    ahead: I64
    threads: int | None = None

    def __post_init__(self) -> None:
        self.count = len(self.index) if self.allowed is None else int(np.count_nonzero(self.allowed))

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """Return (scores, rows, whether there are no more)."""
        if self.allowed is not None and self.count <= _FEW:
            rows = np.flatnonzero(self.allowed)
        elif count <= len(self.ahead):
            rows = self.ahead
        # Scoring all rows once replaces several searches for ever more rows.
        elif self.index.exact and self.count <= _FEW:
            rows = np.arange(self.count)
        else:
            rows = self.index.search(self.query[None], count, self.allowed, self.threads)[1][0]
        rows = rows[rows >= 0]
        scores = self.index.scan.score_rows(self.query, rows)
        best = np.lexsort((rows, -scores))
        return scores[best], rows[best], len(rows) >= self.count or len(rows) < count


class BestSentence:
    """The scorer of chunks by their best sentence for one query. A chunk without sentences scores 0."""

    def __init__(self, nearest: NearestRows, chunk_of: I64) -> None:
        self.nearest, self.chunk_of = nearest, chunk_of
        self.exact = nearest.index.exact

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """Return (scores, chunks, whether no further chunks exist), at least ``count`` chunks if that many exist.

        More and more sentences are fetched, until ``count`` chunks have a sentence that is better than the last
        sentence fetched. All other chunks score less. If the index is approximate, the first attempt counts as enough.
        """
        fetch = 2 * count
        while True:
            scores, rows, ended = self.nearest.top(fetch)
            chunks, first = np.unique(self.chunk_of[rows], return_index=True)  # The rows come best first.
            found = scores[first]
            if not ended and self.exact:
                certain = found > scores[-1] + SLACK
                chunks, found = chunks[certain], found[certain]
            if ended or len(chunks) >= count:
                best = np.lexsort((chunks, -found))
                return found[best], chunks[best], ended or not self.exact
            fetch *= 4

    def score(self, chunks: I64) -> F32:
        """Return the score of each chunk's best sentence, or 0 without any."""
        return self.nearest.index.scan.score_chunks(self.nearest.query, chunks)[0]

    def best(self, chunks: I64) -> I64:
        """Return the row of each chunk's best sentence, or -1 without any."""
        return self.nearest.index.scan.score_chunks(self.nearest.query, chunks)[1]


class ChunkVector:
    """The scorer of chunks by their own vectors for one query."""

    def __init__(self, nearest: NearestRows) -> None:
        self.nearest = nearest
        self.exact = nearest.index.exact

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """Return (scores, chunks, whether there are no more), at least ``count`` of them if they exist."""
        scores, rows, ended = self.nearest.top(count + 1)
        if not ended and self.exact:  # Other rows may have the same score as the last one and be missing.
            certain = scores > scores[-1] + SLACK
            scores, rows = scores[certain], rows[certain]
            if len(rows) < count:
                return self.top(4 * count)
        return scores, rows, ended or not self.exact

    def score(self, chunks: I64) -> F32:
        """Return the scores of chunks by their own vectors."""
        return self.nearest.index.scan.score_chunks(self.nearest.query, chunks)[0]

    def best(self, chunks: I64) -> I64:
        """Return the chunks themselves, because each chunk is a row."""
        return chunks


class Bm25Scorer:
    """The exact scores of chunks by BM25. Chunks without a term of the query are never returned.

    Args:
        scores: The scores of all chunks for each query, float32[q, chunks].
        allowed: The chunks that may be found, bool[chunks]. None: all.
        threads: The number of threads. None: the default number.
    """

    def __init__(self, scores: F32, allowed: Mask | None, threads: int | None) -> None:
        self.scores, self.allowed, self.threads = scores, allowed, threads
        self.found: dict[int, tuple[int, F32, I64]] = {}

    def fetch(self, numbers: Sequence[int], count: int) -> None:
        """Find the ``count`` best chunks of these queries, for later calls of their sources."""
        own = self.scores if len(numbers) == len(self.scores) else self.scores[list(numbers)]
        threads = native.default_threads() if self.threads is None else self.threads
        # One more row shows whether there are more.
        scores, chunks, ends = native.best_rows(own, min(count, 2**62) + 1, self.allowed, threads)
        for number, begin, end in zip(numbers, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            self.found[number] = count, scores[begin:end], chunks[begin:end]

    def source(self, number: int) -> SparseChunks:
        """Return the source of one query."""
        return SparseChunks(self, number)


class SparseByGroup:
    """The best rows of each of several groups by BM25, from one pass over all rows.

    Args:
        scores: The scores of the rows, float32[q, rows].
        groups: The group of each row, int8[rows]. -1: none.
        count: The number of groups.
        threads: The number of threads. None: the default number.
    """

    def __init__(self, scores: F32, groups: npt.NDArray[np.int8], count: int, threads: int | None) -> None:
        self.scores, self.groups, self.count = scores, groups, count
        self.threads = native.default_threads() if threads is None else threads

    def top(self, number: int, count: int) -> list[tuple[I64, bool]]:
        """Return for each group (the ``count`` best rows for a query, best first; whether there are no more)."""
        own = self.scores[number : number + 1]
        _, rows, ends = native.best_rows_of_groups(own, min(count, 2**62) + 1, self.groups, self.count, self.threads)
        lists = (rows[begin:end] for begin, end in pairwise(ends.tolist()))
        return [(each[:count], len(each) <= count) for each in lists]


@dataclass
class SparseChunks:
    """One query of a :class:`Bm25Scorer`."""

    batch: Bm25Scorer
    number: int
    exact = True

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """Return (scores, chunks, whether there are no more), at least ``count`` of them if they exist."""
        if self.batch.found.get(self.number, (0,))[0] < count:
            self.batch.fetch([self.number], count)
        asked, scores, chunks = self.batch.found[self.number]
        return scores[:asked], chunks[:asked], len(chunks) <= asked

    def score(self, chunks: I64) -> F32:
        """Return the BM25 scores of chunks."""
        found: F32 = self.batch.scores[self.number][chunks]
        return found


def scanned_with(dense: ScanScorer, sparse: Bm25Scorer, weight: float, count: int) -> list[RankedChunks]:
    """Return for each query the ``count`` best chunks by cosine plus ``weight`` times BM25, from one scan.

    The result is that of :func:`pychunk.index.scoring.fusion.weighted` for these two scores. The BM25 scores are known
    before the scan. For each row, the scan therefore knows the least cosine with which its sum can be among the best.
    If the best rows by cosine are already known, no scan is needed. See :mod:`.scan_cache`.
    """
    if dense.ahead is not None:
        known = [
            by_sums(dense.scan, query, best, words, weight, count, dense.allowed)
            for query, best, words in zip(dense.queries, dense.ahead, sparse.scores, strict=True)
        ]
        sums = [each for each in known if each is not None]
        if len(sums) == len(known):
            return sums
    own: dict[str, Any] = {"beside": sparse.scores, "weight": weight, "groups": dense.groups}
    found = dense.scan.top(dense.queries, count, dense.allowed, dense.threads, **own)
    ranked = []
    for number, (scores, chunks, _) in enumerate(zip(*found, strict=True)):
        kept = chunks[chunks >= 0]
        parts = [dense.scan.score_chunks(dense.queries[number], kept)[0], sparse.scores[number][kept]]
        ranked.append(RankedChunks(kept, scores[: len(kept)], parts))
    return ranked
