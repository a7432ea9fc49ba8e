"""The subqueries of a query: usually one, its text; after a rewriting several, with texts, terms or vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .fusion import F32, I64, Source
from .scorers import SLACK


@dataclass(frozen=True, eq=False)
class Subquery:
    """One text, or terms or a vector, that is searched for a query.

    Args:
        text: The text whose terms BM25 counts, and which the encoder encodes.
        terms: Terms to use instead of the text's: a list, or a mapping from terms to their counts, which may be
            fractions.
        vector: A vector to use instead of the text's, float[dim].
        weight: The weight relative to the query's other subqueries, above 0. The score by BM25 is the weighted mean
            over the subqueries that have terms, and the score by vectors over those that have a vector.

    Example:
        >>> Subquery("cats"), Subquery(terms={"cat": 1, "feline": 0.5}, weight=0.3).terms
        (Subquery(text='cats', terms=None, vector=None, weight=1.0), {'cat': 1, 'feline': 0.5})
    """

    text: str | None = None
    terms: Mapping[str, float] | Sequence[str] | None = None
    vector: Any = None
    weight: float = 1.0


@dataclass(frozen=True)
class Members:
    """The assignment of subqueries to queries, with their weights. All subqueries are numbered consecutively.

    Attributes:
        of: The numbers of each query's subqueries.
        shares: The weights of these subqueries, which add up to 1 for each query.
    """

    of: list[list[int]]
    shares: list[list[float]]

    @classmethod
    def number(cls, weights: Sequence[Sequence[float]]) -> Members:
        """Assign numbers to the subqueries of all queries. ``weights`` has the weights of each query's subqueries.

        Example:
            >>> Members.number([[1.0, 3.0], [], [2.0]])
            Members(of=[[0, 1], [], [2]], shares=[[0.25, 0.75], [], [1.0]])
        """
        of, shares, first = [], [], 0
        for own in weights:
            of.append(list(range(first, first + len(own))))
            total = float(np.sum(own))
            shares.append([weight / total for weight in own])
            first += len(own)
        return cls(of, shares)

    @property
    def single(self) -> bool:
        """True if each query has exactly one subquery."""
        return all(len(own) == 1 for own in self.of)

    def flat(self, numbers: Sequence[int]) -> list[int]:
        """Return the numbers of all subqueries of some queries."""
        return [probe for number in numbers for probe in self.of[number]]

    def means(self, scores: F32) -> F32:
        """Return for each query the weighted mean of its subqueries' scores, float32[queries, n]; 0 if it has none.

        ``scores`` is float32[subqueries, n]. Scores are added in the order of the subqueries.
        """
        if self.single:
            return scores
        out = np.zeros((len(self.of), scores.shape[1]), np.float32)
        for row, own, shares in zip(out, self.of, self.shares, strict=True):
            for number, share in zip(own, shares, strict=True):
                row += np.float32(share) * scores[number]
        return out


class _Batch(Protocol):
    def fetch(self, numbers: Sequence[int], count: int) -> None:
        """Search for the best chunks of several queries at once. See :class:`pychunk.index.scoring.scorers.Batch`."""

    def source(self, number: int) -> Source:
        """Return the source of one subquery."""


class SubqueryScorer:
    """The scorer of chunks for queries that have several subqueries, from the scores for the subqueries.

    The score of a chunk is the weighted mean of its scores for the subqueries.
    """

    def __init__(self, batch: _Batch, members: Members) -> None:
        self.batch, self.members = batch, members

    def fetch(self, numbers: Sequence[int], count: int) -> None:
        """Prepare the sources of these queries' subqueries for a request of the ``count`` best."""
        flat = self.members.flat(numbers)
        if flat:
            self.batch.fetch(flat, count)

    def source(self, number: int) -> MeanSource:
        """Return the source of one query."""
        sources = [self.batch.source(probe) for probe in self.members.of[number]]
        return MeanSource(sources, self.members.shares[number])


class MeanSource:
    """The weighted mean of several sources, exact if all of them are."""

    def __init__(self, sources: Sequence[Source], shares: Sequence[float]) -> None:
        self.sources, self.shares = sources, shares
        self.exact = all(source.exact for source in sources)

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """Return (scores, chunks, whether no further chunks exist), at least ``count`` chunks if that many exist.

        More and more chunks are examined until ``count`` of them score more than any other chunk can. If a source is
        approximate, the first attempt counts as enough.
        """
        if not self.sources:
            return np.empty(0, np.float32), np.empty(0, np.int64), True
        depth = 2 * count
        while True:
            tops = [source.top(depth) for source in self.sources]
            chunks = np.unique(np.concatenate([found for _, found, _ in tops]))
            scores = self.score(chunks)
            ended = all(done for *_, done in tops)
            if not ended and self.exact:
                bound = sum(
                    0.0 if done or len(own) == 0 else share * float(own[-1])
                    for share, (own, _, done) in zip(self.shares, tops, strict=True)
                )
                certain = scores > bound + SLACK
                chunks, scores = chunks[certain], scores[certain]
            if ended or not self.exact or len(chunks) >= count:
                best = np.lexsort((chunks, -scores))
                return scores[best], chunks[best], ended or not self.exact
            depth *= 4

    def score(self, chunks: I64) -> F32:
        """Return the weighted means of the sources' scores of chunks."""
        out = np.zeros(len(chunks), np.float32)
        for source, share in zip(self.sources, self.shares, strict=True):
            out += np.float32(share) * source.score(chunks)
        return out
