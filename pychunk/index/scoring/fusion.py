"""The best chunks by several scores together, certain where every source is exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]

#: Candidates of each source that are looked at first: so many times as many as are wanted, and this many at least.
#: Where all sources are exact, deeper: a scan takes no longer for 160 chunks than for 40, and of 64 hybrid queries for
#: ten chunks of 244,077 a second scan was needed by 27 after 40, by one after 160.
_DEEPER, _LEAST, _DEEPER_EXACT = 4, 32, 16


class Source(Protocol):
    """One way of scoring chunks for one query."""

    #: Whether ``top`` finds the best chunks for certain.
    exact: bool

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """(scores, chunks, whether there are no more), best first, at least ``count`` of them if there are."""

    def score(self, chunks: I64) -> F32:
        """Scores of chosen chunks."""


@dataclass(frozen=True)
class RankedChunks:
    """The best chunks of one query, best first, with the score of each source: ``parts[s][i]``."""

    chunks: I64
    scores: F32
    parts: list[F32]

    def nonzero(self) -> RankedChunks:
        """Return those that score: one of 0 shares neither a word nor a direction with the query."""
        if self.scores.all():
            return self
        kept = np.flatnonzero(self.scores)
        return RankedChunks(self.chunks[kept], self.scores[kept], [part[kept] for part in self.parts])


def order(scores: F32, chunks: I64) -> I64:
    """Positions by falling score; of equal scores the chunk that comes first in the index."""
    return np.lexsort((chunks, -scores))


def weighted(
    batch: Sequence[Sequence[Source]],
    weights: Sequence[float],
    count: int,
    ahead: Callable[[list[int], int], None] = lambda numbers, depth: None,
) -> list[RankedChunks]:
    """For each query, given by its sources, the ``count`` best chunks by the weighted sum of their scores.

    Takes candidates from the top of every source until no other chunk can be among the best: what is not among the
    candidates scores at most the weighted sum of the sources' last scores, or 0 for a source that has no more (the
    threshold algorithm of Fagin, Lotem and Naor, 2003). An approximate source (``exact`` False) is taken at its word,
    and so is an exact one that is alone.

    ``ahead`` is told which queries are going to ask their sources for how many, before they do.
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
    """(The best of what each source has among its ``depth`` best, whether nothing else can be among them.)"""
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
    """``np.unique`` of a few, which first imports ``numpy.ma``, .02 s of a command that searches once."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def rank_depth(count: int) -> int:
    """Ranks that :func:`reciprocal_rank` looks at for ``count`` chunks: 10 times as many, at least 100."""
    return max(10 * count, 100)


def reciprocal_rank(
    sources: Sequence[Source],
    weights: Sequence[float],
    count: int,
    shared: Sequence[bool] = (),
    constant: float = 60,
) -> RankedChunks:
    """The ``count`` best chunks by ``sum(weight / (constant + rank))`` (Cormack, Clarke and Büttcher, 2009).

    Ranks are taken down to :func:`rank_depth`; a chunk that a source has not among those gets nothing from it. A source
    that is ``shared`` scores documents: it names no chunk, and those of one score share a rank among the chunks that
    the others name.
    """
    depth = rank_depth(count)
    shared = list(shared) or [False] * len(sources)
    lists = []
    for source, whole in zip(sources, shared, strict=True):
        scores, found = (np.empty(0, np.float32), np.empty(0, np.int64)) if whole else source.top(depth)[:2]
        there = scores != 0  # a chunk without a vector has no rank
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
