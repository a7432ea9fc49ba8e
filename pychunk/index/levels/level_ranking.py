"""Search across levels: nodes of all sizes on one scale, and of nodes that hold one another one.

A node's own vector says what it is about, that of its best sentence whether it holds an answer, BM25 whether it has the
words; each counts in bits, by the scale of its level (:mod:`pychunk.index.levels.score_calibration`). Among many
nodes some are rare by chance, and a longer one takes more room in what is handed over:

    score = (blend * sentence + (1 - blend) * own + weight * words) / (1 + weight)
            - log2(nodes of the level) - LENGTH * log2(length)

So two nodes are held against each other by how many unrelated nodes would score as well, per character to the power of
``LENGTH``. :func:`merged` hands them over.
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
    from ..scoring.ranking import Found, Ranking
    from ..scoring.snapshot import Snapshot
    from .node_spans import LevelGroups, Nodes

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: Bits that a node of twice the length has to be rarer by. On 600 questions of mixed breadth of the validation part
#: (pychunk.training.breadth) F1 within 500 words is .244, with scores as they are .210, and by the best single level,
#: sections, .213; on every second of them .250 with .35, .248 with .5, .235 with .8, and without the number of nodes,
#: so that sentences come first, .199.
LENGTH = 0.5
#: Characters that a shorter node counts as.
SHORTEST = 32
#: Candidates: so many of each level by each of its scores, at least, and so many times as many as are asked for.
LEAST, DEEPER = 64, 4
#: Sentences, where they are searched, whose holders are candidates, too: so many times as many.
SENTENCES = 4


def sentences_for(count: int) -> int:
    """How many of the best sentences by vector a search for so many hits first looks at; one more says whether it is
    all of them."""
    return SENTENCES * max(LEAST, DEEPER * count) + 1


def doublings(numbers: npt.ArrayLike) -> F64:
    """log2 of whole numbers from 1 on, evenly between powers of two: within .09, the same on every machine.

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
    blend: float = SEARCH.blend,
    weight: float = SEARCH.weight,
) -> F64:
    """The scores of nodes: see the module.

    Args:
        bits: of stages, those of :data:`~pychunk.index.levels.score_calibration.STAGES` that a search has, what each
            node's score is worth.
        size: nodes of each one's level. length: characters of each.
        blend: share of the best sentence against the node's own vector. weight: how much BM25 counts beside both.

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
    """Which nodes are handed over: of nodes that hold one another the better per word, and no word twice.

    Nodes are taken by falling score, which counts their length already; of equals the first. One that shares a
    character with one that was taken is left out, and so is one whose words no longer fit, which then stands in no
    other's way. It ends with ``count`` nodes, or with the last.

    Args:
        document: int[n], whose each node is. start, end: its characters. score: float[n], of :func:`blended`.
        words: int[n], of each; budget: how many may be handed over in all.

    Returns:
        int64, places of those handed over, by falling score.

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
    ranking: Ranking,
    groups: LevelGroups,
    words: int | None = None,
    threads: int | None = None,
) -> list[Found]:
    """For each query its best nodes that hold no other one of them, as a searcher's ``rank`` has them.

    Candidates are the best nodes of each level by their own vector and by BM25, and the holders of the best sentences
    where sentences are searched, so that fewer levels are never more work; where merging leaves fewer than ``count`` of
    them, and there is no budget of words, four times as many are looked at.

    Args:
        groups: of :meth:`Nodes.groups`, the levels to look at. words: what may be handed over for each query.
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
    """What several queries ask of levels: sources for each level, and scores of chosen rows."""

    def __init__(
        self,
        snapshot: Snapshot,
        nodes: Nodes,
        queries: Sequence[Sequence[Subquery]],
        ranking: Ranking,
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
        #: Of each probe with a vector the best sentences of all, exact, as far as they are known.
        self.best = [snapshot.best_sentences(vector) for vector in vectors]
        self.near: list[Batch] = []
        if len(vectors):
            for place, mask in zip(groups.places, groups.masks, strict=True):
                ranges = snapshot.ranges.at(groups.names, nodes.names[place])
                deep = (depth if place else SENTENCES * depth) + 1  # one: whether there are more
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
        """(rows of the best nodes of each level by each score, rising; whether there are no more)."""
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
                if isinstance(near, ScanScorer):  # what is a candidate by now mostly has a good vector, too
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
        every = [np.empty(0, np.int64), *(each for own in rows for each in own)]  # of no level, nothing
        return distinct(np.concatenate(every)), ended

    def _holders(self, probe: int, place: int) -> list[I64]:
        """What holds the best sentences at a level, where these are known but not searched."""
        best = self.best[probe]
        if best is None or self.groups.sentences or place == 0:
            return []
        found = self.nodes.holding(place, best[0])
        return [found[found >= 0]]

    def scored(self, number: int, rows: I64, calibration: Calibration) -> tuple[dict[str, F32], F64]:
        """(of each stage the scores of rows; the rows' scores)."""
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
