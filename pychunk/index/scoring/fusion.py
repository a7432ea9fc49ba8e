"""The fusion of several scores of each chunk, which finds exactly the best chunks if every source is exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]

#: The number of candidates of each source that are examined at first: a multiple of the requested number of hits
#: (_DEEPER), at least _LEAST. If all sources are exact, the multiple is _DEEPER_EXACT, because a scan takes no longer
#: for 160 chunks than for 40. In a test, 64 hybrid queries requested ten of 244,077 chunks. After 40 candidates 27 of
#: these queries needed a second scan, and after 160 candidates one did.
_DEEPER, _LEAST, _DEEPER_EXACT = 4, 32, 16


class Source(Protocol):
    """One kind of score of chunks, such as cosine or BM25, for one query."""

    #: Whether ``top`` finds exactly the best chunks, and not only most of them.
    exact: bool

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """Return (scores, chunks, whether no further chunks exist), best first.

        There are at least ``count`` of them, if that many exist.
        """

    def score(self, chunks: I64) -> F32:
        """Return the scores of the given chunks."""


@dataclass(frozen=True)
class RankedChunks:
    """The best chunks of one query, best first. ``parts[s][i]`` is the score of chunk i by source s."""

    chunks: I64
    scores: F32
    parts: list[F32]

    def nonzero(self) -> RankedChunks:
        """Return the chunks whose score is not 0. A score of 0 means that nothing in the chunk matches the query."""
        if self.scores.all():
            return self
        kept = np.flatnonzero(self.scores)
        return RankedChunks(self.chunks[kept], self.scores[kept], [part[kept] for part in self.parts])


def order(scores: F32, chunks: I64) -> I64:
    """Return the positions of chunks by falling score; equal scores are ordered by the chunk's row in the index."""
    return np.lexsort((chunks, -scores))


def weighted(
    batch: Sequence[Sequence[Source]],
    weights: Sequence[float],
    count: int,
    ahead: Callable[[list[int], int], None] = lambda numbers, depth: None,
) -> list[RankedChunks]:
    """Return the ``count`` best chunks of each query by the weighted sum of their scores.

    The best candidates of every source are examined, more and more of them, until no other chunk can be among the best.
    A chunk that is no candidate scores at most the weighted sum of each source's lowest candidate score, where a source
    that has no further chunks counts as 0. This is the threshold algorithm of Fagin, Lotem and Naor, 2003. The result
    of an approximate source (``exact`` is False) is taken as complete, and so is the result of a single exact source.

    Args:
        batch: The sources of each query.
        weights: The weight of each source.
        count: The number of chunks for each query.
        ahead: A function that is called with the numbers of queries and of candidates before the sources of these
            queries are read, so that they can search together.
    """
    found: dict[int, RankedChunks] = {}
    left = list(range(len(batch)))
    exact = all(source.exact for sources in batch for source in sources)
    alone = exact and len(weights) == 1
    depth = count if alone else max((_DEEPER_EXACT if exact else _DEEPER) * count, _LEAST)
    while left:
        ahead(left, depth)
        for number in left:
            ranked, certain = _joined(batch[number], weights, count, depth)
            if certain or alone:
                found[number] = ranked
        left = [number for number in left if number not in found]
        depth *= 4
    return [found[number] for number in range(len(batch))]


def _joined(sources: Sequence[Source], weights: Sequence[float], count: int, depth: int) -> tuple[RankedChunks, bool]:
    """Return (the ``count`` best among the ``depth`` best of each source; whether no other chunk can be among them)."""
    tops = [source.top(depth) for source in sources]
    chunks = distinct(np.concatenate([found for _, found, _ in tops]))
    parts = [source.score(chunks) for source in sources]
    fused = np.asarray(sum(np.float32(w) * part for w, part in zip(weights, parts, strict=True)), np.float32)
    best = order(fused, chunks)[:count]
    bound = sum(
        0.0 if len(scores) == 0 or (done and source.exact) else weight * float(scores[-1])
        for source, weight, (scores, _, done) in zip(sources, weights, tops, strict=True)
    )
    certain = len(best) == count and float(fused[best[-1]]) > bound + 1e-5
    return RankedChunks(chunks[best], fused[best], [part[best] for part in parts]), certain or all(
        end for *_, end in tops
    )


def distinct(values: I64) -> I64:
    """Return the distinct values, sorted, like ``np.unique`` but without importing ``numpy.ma``.

    That import would take 0.02 s of a command that searches once.
    """
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def rank_depth(count: int) -> int:
    """Return the number of ranks that :func:`reciprocal_rank` uses: 10 times ``count``, at least 100."""
    return max(10 * count, 100)


def reciprocal_rank(
    sources: Sequence[Source],
    weights: Sequence[float],
    count: int,
    shared: Sequence[bool] = (),
    constant: float = 60,
) -> RankedChunks:
    """Return the ``count`` best chunks by ``sum(weight / (constant + rank))`` (Cormack, Clarke and Büttcher, 2009).

    A source adds nothing to chunks whose rank is beyond :func:`rank_depth`. A source that is ``shared`` scores
    documents. It adds no candidates, but only ranks the candidates of the other sources; candidates with equal scores
    share a rank.
    """
    depth = rank_depth(count)
    shared = list(shared) or [False] * len(sources)
    lists = []
    for source, whole in zip(sources, shared, strict=True):
        scores, found = (np.empty(0, np.float32), np.empty(0, np.int64)) if whole else source.top(depth)[:2]
        there = scores != 0  # A chunk without a vector has no rank.
        scores, found = scores[there], found[there]
        lists.append(found[order(scores, found)][:depth])
    chunks = np.unique(np.concatenate(lists))
    fused = np.zeros(len(chunks), np.float32)
    for source, weight, found, whole in zip(sources, weights, lists, shared, strict=True):
        if whole:
            fused += weight / (constant + 1 + np.unique(-source.score(chunks), return_inverse=True)[1].reshape(-1))
        else:
            fused[np.searchsorted(chunks, found)] += weight / (constant + 1 + np.arange(len(found)))
    best = order(fused, chunks)[:count]
    return RankedChunks(chunks[best], fused[best], [source.score(chunks[best]) for source in sources])
