"""The best chunks by several scores together, certain where every source is exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]


class Source(Protocol):
    """One way of scoring chunks for one query."""

    #: Whether ``top`` finds the best chunks for certain.
    exact: bool

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """(scores, chunks, whether there are no more), best first, at least ``count`` of them if there are."""

    def score(self, chunks: I64) -> F32:
        """Scores of chosen chunks."""


@dataclass(frozen=True)
class Ranked:
    """The best chunks of one query, best first, with the score of each source: ``parts[s][i]``."""

    chunks: I64
    scores: F32
    parts: list[F32]


def order(scores: F32, chunks: I64) -> I64:
    """Positions by falling score; of equal scores the chunk that comes first in the index."""
    return np.lexsort((chunks, -scores))


def weighted(sources: Sequence[Source], weights: Sequence[float], count: int) -> Ranked:
    """The ``count`` best chunks by the weighted sum of the sources' scores.

    Takes candidates from the top of every source until no other chunk can be among the best: what is not among the
    candidates scores at most the weighted sum of the sources' last scores, or 0 for a source that has no more (the
    threshold algorithm of Fagin, Lotem and Naor, 2003). An approximate source (``exact`` False) is taken at its word.
    """
    depth = max(4 * count, 32)
    while True:
        tops = [source.top(depth) for source in sources]
        chunks = np.unique(np.concatenate([found for _, found, _ in tops]))
        parts = [source.score(chunks) for source in sources]
        fused = np.asarray(sum(np.float32(w) * part for w, part in zip(weights, parts, strict=True)), np.float32)
        best = order(fused, chunks)[:count]
        ended = all(done for _, _, done in tops)
        bound = sum(
            0.0 if len(scores) == 0 or (done and source.exact) else weight * float(scores[-1])
            for source, weight, (scores, _, done) in zip(sources, weights, tops, strict=True)
        )
        if ended or (len(best) == count and float(fused[best[-1]]) > bound + 1e-5):
            return Ranked(chunks[best], fused[best], [part[best] for part in parts])
        depth *= 4


def reciprocal_rank(sources: Sequence[Source], weights: Sequence[float], count: int, constant: float = 60) -> Ranked:
    """The ``count`` best chunks by ``sum(weight / (constant + rank))`` (Cormack, Clarke and Büttcher, 2009).

    Ranks are taken down to 10 times ``count``, at least 100; a chunk that a source has not among those gets nothing
    from it.
    """
    depth = max(10 * count, 100)
    lists = []
    for source in sources:
        scores, found, _ = source.top(depth)
        lists.append(found[order(scores, found)][:depth])
    chunks = np.unique(np.concatenate(lists))
    fused = np.zeros(len(chunks), np.float32)
    for weight, found in zip(weights, lists, strict=True):
        fused[np.searchsorted(chunks, found)] += weight / (constant + 1 + np.arange(len(found)))
    best = order(fused, chunks)[:count]
    return Ranked(chunks[best], fused[best], [source.score(chunks[best]) for source in sources])
