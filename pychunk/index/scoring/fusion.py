"""The fusion of several scores to the best chunks, which is exact if every source is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]

#: The candidates of each source that are examined first: a multiple of the requested number, and a minimum. If all
#: sources are exact, more candidates are examined, because a scan takes no longer for 160 chunks than for 40. Of 64
#: hybrid queries for ten chunks of 244,077, 27 needed a second scan after 40 candidates, and one after 160.
_DEEPER, _LEAST, _DEEPER_EXACT = 4, 32, 16


class Source(Protocol):
    """One way of scoring chunks for one query."""

    #: Whether ``top`` is certain to find the best chunks.
    exact: bool

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """Return (scores, chunks, whether there are no more), best first, at least ``count`` of them if they exist."""

    def score(self, chunks: I64) -> F32:
        """Return the scores of chosen chunks."""


@dataclass(frozen=True)
class RankedChunks:
    """The best chunks of one query, best first, with the score of each source: ``parts[s][i]``."""

    chunks: I64
    scores: F32
    parts: list[F32]

    def nonzero(self) -> RankedChunks:
        """Return the chunks with a score. A chunk with 0 shares neither a word nor a direction with the query."""
        if self.scores.all():
            return self
        kept = np.flatnonzero(self.scores)
        return RankedChunks(self.chunks[kept], self.scores[kept], [part[kept] for part in self.parts])


def order(scores: F32, chunks: I64) -> I64:
    """Return positions by falling score, and for equal scores by the chunk's position in the index."""
    return np.lexsort((chunks, -scores))


def weighted(
    batch: Sequence[Sequence[Source]],
    weights: Sequence[float],
    count: int,
    ahead: Callable[[list[int], int], None] = lambda numbers, depth: None,
) -> list[RankedChunks]:
    """Return for each query, given by its sources, the ``count`` best chunks by the weighted sum of their scores.

    It takes candidates from the top of every source until no other chunk can be among the best. A chunk that is no
    candidate scores at most the weighted sum of the sources' last scores, where a source without more counts 0. This is
    the threshold algorithm of Fagin, Lotem and Naor, 2003. The result of an approximate source (``exact`` False) is
    taken as certain, and so is that of a single exact one.

    ``ahead`` is called with the queries that are about to ask their sources, and the number of candidates, before they
    do.
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
    """Return (the best among the ``depth`` best of each source, whether nothing else can be among them)."""
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
    """Return ``np.unique`` of a few values without importing ``numpy.ma``.

    The import takes 0.02 s of a command that searches once.
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

    Ranks are used down to :func:`rank_depth`. A source adds nothing to a chunk below that. A ``shared`` source scores
    documents. It names no chunks itself, and among the chunks that the others name, those with equal scores share a
    rank.
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
