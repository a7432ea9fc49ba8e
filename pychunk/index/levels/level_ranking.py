"""The search across levels, which scores nodes of all sizes on one scale, and returns only the best of nested nodes.

A node's own vector shows its subject, the vector of its best sentence shows whether it holds an answer, and BM25 shows
whether it has the query's words. Each of these three scores is converted to bits by the scale of the node's level
(:mod:`pychunk.index.levels.score_calibration`). A number is subtracted for the size of the level, because among many
nodes some score high by chance. Another is subtracted for the node's length, because a longer node takes more of the
word budget.

    score = (blend * sentence + (1 - blend) * own + weight * words) / (1 + weight)
            - log2(nodes of the level) - LENGTH * log2(length)

Here ``sentence``, ``own`` and ``words`` are the bits of the three scores. ``blend`` is the weight of the best sentence,
and ``weight`` that of BM25. In other words, each node has a product: the number of unrelated nodes that would score as
high as it by chance, times its length in characters to the power of ``LENGTH``. The node with the smallest product
comes first. :func:`merged` chooses the nodes that are returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...defaults import SEARCH
from ..scoring.fusion import RankedChunks, distinct
from ..scoring.scorers import Batch, ScanScorer, SparseByGroup
from ..scoring.subqueries import Members, Subquery
from .score_calibration import STAGES, Calibration

if TYPE_CHECKING:
    from ..scoring.ranking import Found, RankingOptions
    from ..scoring.snapshot import Snapshot
    from .node_spans import LevelGroups, Nodes

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: The number of bits by which a node must score higher than a node of half its length to rank equally. On 600 questions
#: of mixed breadth of the validation part (pychunk.training.breadth), F1 within 500 words is 0.244. With scores that
#: are not converted it is 0.210, and in the best single level, sections, 0.213. On every second of these questions, F1
#: is 0.250 with a LENGTH of 0.35, 0.248 with 0.5, and 0.235 with 0.8. If the number of nodes is not subtracted, so that
#: sentences come first, it is 0.199.
LENGTH = 0.5
#: The least length in characters that the formula uses. A shorter node counts as a node of this length.
SHORTEST = 32
#: The number of candidates of each level by each kind of score is DEEPER times the requested number of nodes, but at
#: least LEAST.
LEAST, DEEPER = 64, 4
#: If sentences are searched, this many times as many candidates by vector are found among sentences as at any other
#: level. The nodes that hold these sentences are candidates, too.
SENTENCES = 4


def sentences_for(count: int) -> int:
    """Return the number of sentences with the highest cosines that a search for ``count`` hits finds first.

    It includes one extra sentence, which shows whether there are more.
    """
    return SENTENCES * max(LEAST, DEEPER * count) + 1


def doublings(numbers: npt.ArrayLike) -> F64:
    """Return about log2 of integers of at least 1, interpolated linearly between powers of two.

    The error is at most 0.09. The result is the same on every machine.

    Example:
        >>> doublings([1, 32, 48, 64]).tolist()
        [0.0, 5.0, 5.5, 6.0]
    """
    mantissa, exponent = np.frexp(np.asarray(numbers, np.float64))
    return np.asarray(exponent - 2 + 2 * mantissa, np.float64)


def blended(
    bits: Mapping[str, npt.ArrayLike],
    size: npt.ArrayLike,
    length: npt.ArrayLike,
    *,
    blend: float = 1 - SEARCH.chunk_vector_weight,
    weight: float = SEARCH.bm25_weight,
) -> F64:
    """Return the scores of nodes. See the module for the formula.

    Args:
        bits: For each kind of score that the search uses, the bits of each node. The kinds are named as in
            :data:`~pychunk.index.levels.score_calibration.STAGES`.
        size: The number of nodes at the level of each node.
        length: The length of each node in characters.
        blend: The weight of the best sentence. The node's own vector has 1 - ``blend``.
        weight: The weight of BM25. The weights of the best sentence and the own vector add up to 1.

    Example:
        >>> blended({"dense": [4.0], "sentence": [6.0], "sparse": [5.0]}, [4], [64]).tolist()
        [0.0]
    """
    shares = {"dense": 1 - blend, "sentence": blend, "sparse": weight}
    lengths = np.maximum(np.asarray(length, np.int64), SHORTEST)
    total, over = np.zeros(len(lengths)), 0.0
    for stage in STAGES:
        if stage in bits:
            total = total + shares[stage] * np.asarray(bits[stage], np.float64)
            over += shares[stage]
    return np.asarray(total / (over or 1.0) - doublings(size) - LENGTH * doublings(lengths))


def merged(
    document: npt.ArrayLike,
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    score: npt.ArrayLike,
    count: int,
    words: npt.ArrayLike | None = None,
    budget: int | None = None,
) -> I64:
    """Choose the nodes that a search returns, so that no two of them overlap.

    Nodes are chosen by falling score, which already accounts for their length; of equal scores, the first node is
    chosen. A node that shares a character with a chosen node is left out. A node whose words no longer fit into the
    budget is also left out, and does not exclude nodes that overlap it. The choice ends after ``count`` nodes.

    Args:
        document: The document of each node, int64[n].
        start: The first character of each node.
        end: The character after the last one of each node.
        score: The scores of :func:`blended`, float[n].
        count: The most nodes.
        words: The number of words of each node, int64[n]. None: without a budget.
        budget: The most words of all chosen nodes together. None: without a budget.

    Returns:
        The positions of the chosen nodes, by falling score, int64.

    Example:
        >>> document, start, end = [0, 0, 0], [0, 40, 300], [900, 90, 350]  # a section, and two sentences of it
        >>> merged(document, start, end, [3.0, 4.0, 1.0], 5).tolist()
        [1, 2]
        >>> merged(document, start, end, [5.0, 4.0, 1.0], 5).tolist()
        [0]
        >>> merged(document, start, end, [5.0, 4.0, 1.0], 5, words=[150, 9, 9], budget=20).tolist()
        [1, 2]
    """
    score = np.asarray(score, np.float64)
    order = np.lexsort((np.arange(len(score)), -score))
    of, first, last = (np.asarray(each, np.int64)[order].tolist() for each in (document, start, end))
    sizes = [0] * len(order) if words is None else np.asarray(words, np.int64)[order].tolist()
    left = np.inf if budget is None or words is None else budget
    chosen: list[int] = []
    taken: dict[int, list[tuple[int, int]]] = {}
    for place, (own, begin, finish, size) in enumerate(zip(of, first, last, sizes, strict=True)):
        if len(chosen) == count:
            break
        others = taken.setdefault(own, [])
        if size <= left and all(finish <= a or b <= begin for a, b in others):
            others.append((begin, finish))
            chosen.append(place)
            left -= size
    return np.asarray(order[np.array(chosen, np.int64)], np.int64)


def ranked(
    snapshot: Snapshot,
    nodes: Nodes,
    calibration: Calibration,
    queries: Sequence[Sequence[Subquery]],
    count: int,
    ranking: RankingOptions,
    groups: LevelGroups,
    words: int | None = None,
    threads: int | None = None,
) -> list[Found]:
    """Return the best nodes of each query that are not nested, in the form of :meth:`.Searcher.rank`.

    Candidates are the best nodes of each level by their own vector and by BM25. If sentences are searched, the nodes
    that hold the best sentences are candidates, too. Each level only adds candidates, so a search of fewer levels is
    never slower. If fewer than ``count`` nodes are left without overlap and there is no word budget, four times as many
    candidates are examined.

    Args:
        snapshot: The state of the index.
        nodes: The nodes of the index.
        calibration: The scales of the levels.
        queries: The subqueries of each query.
        count: The number of nodes for each query.
        ranking: The options of the ranking.
        groups: The levels to search, from :meth:`Nodes.groups`.
        words: The budget of words for each query. None: no budget.
        threads: The number of threads. None: the default number.
    """
    least = max(LEAST, DEEPER * count)
    asked = _LevelQueries(snapshot, nodes, queries, ranking, groups, least, threads)
    lists: list[Found] = []
    for number in range(len(queries)):
        depth = least
        while True:
            rows, ended = asked.candidates(number, depth)
            parts, score = asked.scored(number, rows, calibration)
            held = None if words is None else snapshot.chunks.words(rows)
            best = merged(nodes.document[rows], nodes.start[rows], nodes.end[rows], score, count, held, words)
            if ended or len(best) == count or words is not None:
                break
            depth *= 4
        names = [stage for stage in STAGES if stage in parts]
        own = [np.asarray(parts[name][best], np.float32) for name in names]
        lists.append((RankedChunks(rows[best], np.asarray(score[best], np.float32), own), names, None))
    return lists


class _LevelQueries:
    """The search across levels for several queries, which finds candidates at each level and scores them."""

    def __init__(
        self,
        snapshot: Snapshot,
        nodes: Nodes,
        queries: Sequence[Sequence[Subquery]],
        ranking: RankingOptions,
        groups: LevelGroups,
        depth: int,
        threads: int | None,
    ) -> None:
        self.snapshot, self.nodes, self.ranking, self.groups = snapshot, nodes, ranking, groups
        dense = ranking.mode != "sparse"
        sparse = ranking.mode != "dense"
        self.by_vector = [[probe for probe in own if dense and probe.vector is not None] for own in queries]
        self.by_terms = [[probe for probe in own if sparse and probe.terms is not None] for own in queries]
        self.members = [Members.number([[probe.weight for probe in own] for own in each]) for each in self._both]
        vectors = np.zeros((sum(map(len, self.by_vector)), snapshot.layout.dim), np.float32)
        for place, probe in enumerate(probe for own in self.by_vector for probe in own):
            vectors[place] = probe.vector
        #: For each subquery with a vector: (rows, cosines) of the best sentences in the index, or None if unknown.
        self.best = [snapshot.best_sentences(vector) for vector in vectors]
        self.near: list[Batch] = []
        if len(vectors):
            for place, mask in zip(groups.places, groups.masks, strict=True):
                ranges = snapshot.ranges.at(groups.names, nodes.names[place])
                deep = (depth if place else SENTENCES * depth) + 1  # One more shows whether there are more.
                self.near.append(snapshot.near_chunks(vectors, mask, deep, threads, ranges))
        terms = [probe.terms for own in self.by_terms for probe in own if probe.terms is not None]
        self.words: F32 | None = None
        if terms:
            assert snapshot.bm25 is not None
            self.words = snapshot.bm25.scores(terms, threads)
        self.sparse: SparseByGroup | None = None
        if self.words is not None:
            self.sparse = SparseByGroup(self.words, groups.of, len(groups.places), threads)

    @property
    def _both(self) -> tuple[list[list[Subquery]], list[list[Subquery]]]:
        return self.by_vector, self.by_terms

    def candidates(self, number: int, depth: int) -> tuple[I64, bool]:
        """Return (the best nodes of each level by each kind of score, as rising rows; whether there are no more)."""
        rows: list[list[I64]] = [[np.empty(0, np.int64)] for _ in self.groups.places]
        ended = True
        for probe in self.members[1].of[number]:
            assert self.sparse is not None
            for own, (found, done) in zip(rows, self.sparse.top(probe, depth), strict=True):
                own.append(found)
                ended &= done
        for probe in self.members[0].of[number]:
            for own, place, near in zip(rows, self.groups.places, self.near, strict=True):
                deep = depth if place else SENTENCES * depth
                if isinstance(near, ScanScorer):  # Candidates by BM25 usually have good cosines, which speeds the scan.
                    near.expect(probe, np.concatenate([*own, *self._holders(probe, place)]))
                source = near.source(probe)
                scores, found, done = source.top(deep)
                if place == 0 and self.groups.sentences and source.exact:
                    self.best[probe] = found, scores
                own.append(found[:depth])
                ended &= done and len(found) <= depth
                if place == 0:
                    for held, other, mask in zip(rows[1:], self.groups.places[1:], self.groups.masks[1:], strict=True):
                        holding = self.nodes.holding(other, found[:deep])
                        holding = holding[holding >= 0]
                        held.append(holding[mask[holding]])
        # The empty array is for the case without levels, because concatenate needs at least one array.
        every = [np.empty(0, np.int64), *(each for own in rows for each in own)]
        return distinct(np.concatenate(every)), ended

    def _holders(self, probe: int, place: int) -> list[I64]:
        """Return the nodes of a level that hold the best sentences of the first pass.

        The list is empty without a first pass, for the finest level, and if the search covers all sentences anyway.
        """
        best = self.best[probe]
        if best is None or self.groups.sentences or place == 0:
            return []
        found = self.nodes.holding(place, best[0])
        return [found[found >= 0]]

    def scored(self, number: int, rows: I64, calibration: Calibration) -> tuple[dict[str, F32], F64]:
        """Return (the scores of rows by stage; the rows' final scores)."""
        parts: dict[str, F32] = {}
        worth: dict[str, F64] = {}
        level = self.nodes.finest[rows]
        for which, probes in enumerate(self._both):
            for place, probe in enumerate(probes[number]):
                share = self.members[which].shares[number][place]
                sparse = None if which == 0 or self.words is None else self.words[self.members[1].of[number][place]]
                only = Subquery(vector=probe.vector if which == 0 else None)
                best = self.best[self.members[0].of[number][place]] if which == 0 else None
                for stage, found in self.nodes.scores(self.snapshot, only, rows, sparse, best).items():
                    own = calibration.bits(self.nodes.names, level, stage, found)
                    parts[stage] = parts.get(stage, np.zeros(len(rows), np.float32)) + np.float32(share) * found
                    worth[stage] = worth.get(stage, np.zeros(len(rows))) + share * own
        length = self.nodes.end[rows] - self.nodes.start[rows]
        sizes = np.array([max(1, calibration.sizes.get(name, 1)) for name in self.nodes.names])
        return parts, blended(worth, sizes[level], length, blend=self.ranking.blend, weight=self.ranking.weight)
