"""The calibration of scores at each level: how rare a score is among unrelated nodes of that level.

The cosines of sentences are higher than those of documents, and a document holds more terms of any query. Each kind of
score therefore has a scale of its own at each level. Scales are made without labels. Sentences that are spread evenly
over the index serve as queries. For BM25 they are reduced to their rarest words, because questions have few words. The
queries are compared with nodes of other documents. The scale consists of the scores that a half, a quarter, an eighth
and so on of these nodes exceed, which are called halvings. A score is worth as many bits as there are halvings below
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..scoring.subqueries import Subquery

if TYPE_CHECKING:
    from ..scoring.snapshot import Snapshot
    from .node_spans import Nodes

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: The kinds of scores of a node: the cosine of its own vector, the cosine of its best sentence, and BM25.
STAGES = ("dense", "sentence", "sparse")
#: The number of sentences that serve as queries, the number of sample nodes of each level, and the most sentences that
#: the sample nodes of a level hold together. With these numbers, making the scales for 236,568 nodes takes 0.6 s of CPU
#: time when the index is saved, and for a million nodes 1.3 s.
QUERIES, NODES, SENTENCES = 48, 1024, 16_384
#: The least number of characters of a sentence that serves as a query, and the number of its words for BM25. On 300
#: questions of mixed breadth, F1 within 500 words is 0.248 with 4 words, 0.245 with 8, and 0.215 with all, because
#: questions have few words.
LEAST_ASKED, WORDS = 24, 4
#: ABOVE is the least number of scores that must exceed a halving, because fewer are little evidence. LEAST is the least
#: number of scores from which a scale is made; a level with fewer has the scale of the next finer level. MOST is the
#: highest number of halvings of a scale.
ABOVE, LEAST, MOST = 8, 128, 13
#: The bits for a cosine of 1 if there is no scale, because not even the finest level has enough scores.
UNKNOWN = 8.0
#: The change in the number of rows, as a share of their number when the scales were made, above which they are made
#: again.
STALE = 0.2
#: The most BM25 scores that are in memory at a time.
_HELD = 1 << 23


def halvings(scores: npt.ArrayLike) -> list[float]:
    """Return the scale of a sample of scores: the scores that 1/2, 1/4, 1/8 ... of the sample exceed.

    It ends where fewer than :data:`ABOVE` scores are higher. It is empty for fewer than :data:`LEAST` scores.

    Example:
        >>> halvings(np.arange(256))
        [127.0, 191.0, 223.0, 239.0, 247.0]
    """
    ordered = np.sort(np.asarray(scores, np.float64).reshape(-1))
    n = len(ordered)
    if n < LEAST:
        return []
    above = [n >> j for j in range(1, MOST + 1) if n >> j >= ABOVE]
    return [float(ordered[n - 1 - each]) for each in above]


def bits(scale: Sequence[float], scores: npt.ArrayLike) -> F64:
    """Return the bits of scores by a scale of :func:`halvings`: 0 up to the median, then one for each halving.

    Between two halvings the bits grow linearly. Above the last halving, where no scores are known, they grow ever more
    slowly. Let b be the distance of the score from the last halving, divided by the mean distance between the last four
    halvings. Then sqrt(1 + 2b) - 1 bits are added.

    Example:
        >>> bits([0.0, 0.25, 0.5, 0.75], [-1.0, 0.0, 0.125, 0.5, 1.75]).tolist()
        [0.0, 0.0, 0.5, 2.0, 5.0]
    """
    found = np.asarray(scores, np.float64)
    return _Table([scale]).bits(np.zeros(found.shape, np.int64), found)


class _Table:
    """Several scales that are applied to many scores at once.

    For five levels, one call takes a fifth of the time of five calls of :func:`bits`.
    """

    def __init__(self, scales: Sequence[Sequence[float]]) -> None:
        longest = max(4, *(len(scale) for scale in scales))
        self.known = np.zeros((len(scales), longest))
        self.last = np.full(len(scales), longest - 1)
        self.step = np.ones(len(scales))
        self.there = np.array([len(scale) >= 4 for scale in scales])
        for place, scale in enumerate(scales):
            if self.there[place]:
                own = np.asarray(scale, np.float64)
                self.known[place] = np.append(own, np.full(longest - len(own), np.inf))
                self.last[place] = len(scale) - 1
                self.step[place] = max((own[-1] - own[-4]) / 3, 1e-3)

    def bits(self, which: npt.NDArray[Any], found: F64) -> F64:
        """Return the :func:`bits` of scores, where ``which`` has the number of each score's scale."""
        there, last = self.there[which], self.last[which]
        at = (self.known[which] < found[..., None]).sum(axis=-1)  # It satisfies known[at - 1] < found <= known[at].
        low, high = self.known[which, np.clip(at - 1, 0, last)], self.known[which, np.minimum(at, last)]
        width = np.where(high > low, high - low, self.step[which])
        share = (found - low) / width
        beyond = np.sqrt(1 + 2 * np.maximum(share, 0.0)) - 1
        worth = np.where(at == 0, 0.0, (at - 1) + np.where(at > last, beyond, share))
        return np.asarray(np.where(there, worth, UNKNOWN * np.maximum(found, 0.0)))


@dataclass(frozen=True)
class Calibration:
    """The scales of an index.

    Attributes:
        scales: The scale from :func:`halvings` for each level and kind of score: ``scales[level][stage]``.
        sizes: The number of nodes that have each level as their finest.
        rows: The number of rows of the index, without removed ones, when the scales were made.
    """

    scales: dict[str, dict[str, list[float]]]
    sizes: dict[str, int]
    rows: int
    _tables: dict[tuple[str, tuple[str, ...]], _Table] = field(default_factory=dict, repr=False, compare=False)

    def bits(self, names: Sequence[str], level: npt.NDArray[Any], stage: str, scores: npt.ArrayLike) -> F64:
        """Return the bits of the scores of nodes.

        Args:
            names: The names of levels.
            level: The finest level of each node, as a position in ``names``.
            stage: The kind of score, one of :data:`STAGES`.
            scores: The score of each node.
        """
        key = stage, tuple(names)
        if key not in self._tables:
            self._tables[key] = _Table([self.scales.get(name, {}).get(stage, []) for name in names])
        return self._tables[key].bits(level, np.asarray(scores, np.float64))

    def facts(self) -> dict[str, Any]:
        """Return the values that a manifest stores."""
        return {"rows": self.rows, "sizes": self.sizes, "scales": self.scales}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any] | None) -> Calibration | None:
        """Return the calibration that :meth:`facts` described, or None if ``facts`` is None."""
        return None if facts is None else cls(dict(facts["scales"]), dict(facts["sizes"]), int(facts["rows"]))

    def is_stale(self, rows: int, levels: Iterable[str]) -> bool:
        """Return whether the number of rows has changed by more than the share :data:`STALE`, or the levels differ."""
        return abs(rows - self.rows) > STALE * self.rows or set(self.scales) != set(levels)


def calibrated(snapshot: Snapshot, nodes: Nodes) -> Calibration:
    """Return the scales for the present contents of an index. Equal contents give equal scales."""
    asked = _queries(snapshot, nodes)
    scales: dict[str, dict[str, list[float]]] = {}
    before: dict[str, list[float]] = {}
    for place, level in enumerate(nodes.names):
        own = _sample(nodes, place)
        pairs: dict[str, list[Any]] = {stage: [] for stage in STAGES}
        for row, probe, sparse in asked:
            others = nodes.document[own] != nodes.document[row]
            chosen = own[others] if others.any() else own
            found = nodes.scores(snapshot, probe, chosen, sparse)
            for stage, scores in found.items():
                pairs[stage].append(scores)
        made = {stage: halvings(np.concatenate(each)) for stage, each in pairs.items() if each}
        before = {stage: scale or before.get(stage, []) for stage, scale in made.items()}
        scales[level] = before
    sizes = {level: len(rows) for level, rows in zip(nodes.names, nodes.rows_of, strict=True)}
    return Calibration(scales, sizes, int(snapshot.alive.sum()))


def _queries(snapshot: Snapshot, nodes: Nodes) -> list[tuple[int, Subquery, Any]]:
    """Return (row, subquery, BM25 scores of all rows) for sentences that are spread evenly over the index."""
    rows = nodes.sentences
    rows = rows[nodes.end[rows] - nodes.start[rows] >= LEAST_ASKED]
    rows = rows[spread(len(rows), QUERIES)]
    texts = [str(value["text"]) for value in snapshot.chunks.values(rows)]
    assert snapshot.pooled is not None
    vectors = snapshot.pooled.rows(rows)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    analyzer, bm25 = snapshot.layout.analyzer, snapshot.bm25
    found: list[tuple[int, Subquery, Any]] = []
    together = max(1, _HELD // max(1, snapshot.rows))
    for begin in range(0, len(rows), together):
        own = slice(begin, begin + together)
        terms = [None if analyzer is None else analyzer.terms(_rarest(snapshot, text)) for text in texts[own]]
        known = None if bm25 is None else bm25.scores([each for each in terms if each is not None])
        for place, (row, vector) in enumerate(zip(rows[own].tolist(), vectors[own], strict=True)):
            sparse = None if known is None else known[place]
            found.append((row, Subquery(terms=terms[place], vector=vector), sparse))
    return found


def _rarest(snapshot: Snapshot, text: str) -> str:
    """Return the :data:`WORDS` words of a text with the rarest terms, each once; of equally rare words the first."""
    assert snapshot.layout.analyzer is not None
    assert snapshot.bm25 is not None
    terms = {word: snapshot.layout.analyzer.terms(word) for word in text.split()}
    weights = snapshot.bm25.idf([term for own in terms.values() for term in own])
    rarity = {word: max((weights.get(term, 0.0) for term in own), default=0.0) for word, own in terms.items()}
    return " ".join(sorted(terms, key=lambda word: -rarity[word])[:WORDS])


def _sample(nodes: Nodes, place: int) -> I64:
    """Return evenly spread nodes whose finest level is number ``place``.

    There are at most :data:`NODES`, and fewer if they would hold more than about :data:`SENTENCES` sentences together.
    """
    rows: I64 = nodes.rows_of[place]
    held = max(1.0, float((nodes.last[rows] - nodes.first[rows]).mean())) if len(rows) else 1.0
    return np.asarray(rows[spread(len(rows), min(NODES, max(16, int(SENTENCES / held))))])


def spread(count: int, most: int) -> I64:
    """Return at most ``most`` of the positions from 0 to ``count`` - 1, evenly spread.

    Example:
        >>> spread(10, 4).tolist(), spread(3, 4).tolist()
        ([1, 3, 6, 8], [0, 1, 2])
    """
    if count <= most:
        return np.arange(count, dtype=np.int64)
    return np.asarray((2 * np.arange(most, dtype=np.int64) + 1) * count // (2 * most), np.int64)
