"""The nesting of the nodes of an index of levels: the sentences of each node, and the node that holds a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..scoring.scorers import Mask
    from ..scoring.snapshot import Snapshot
    from ..scoring.subqueries import Subquery

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LevelGroups:
    """The rows that a search may find, grouped by their finest level.

    Attributes:
        names: The levels that are searched. Empty: all.
        places: The finest levels of these rows, as rising positions in the list of the index's levels.
        masks: The rows of each group, bool[rows].
        of: The group of each row, as a position in ``places``, int8[rows], or -1 if the row is not searched.
        sentences: Whether all rows of the finest level of the index are searched.
    """

    names: tuple[str, ...]
    places: list[int]
    masks: list[Mask]
    of: npt.NDArray[np.int8]
    sentences: bool


class Nodes:
    """The nodes of all documents in arrays by row, which are made once for each state of an index.

    Args:
        names: The levels, from fine to coarse.
        at: The rows at each level, bool[rows].
        alive: The rows that are not removed, bool[rows].
        document: A number for each row's document, int64[rows].
        start, end: The span of each row in characters of its document, int64[rows].

    Attributes:
        finest: The finest level of each row, as a position in ``names``, int8[rows]; -1 for rows without levels and
            removed rows.
        rows_of: For each level, the rows of which it is the finest level, sorted by document and start.
        sentences: The rows of the finest level of the index, sorted by document and start.
        first, last: The range [first, last) in ``sentences`` of the sentences inside each row, int64[rows].
    """

    def __init__(
        self, names: Sequence[str], at: Sequence[Mask], alive: Mask, document: I64, start: I64, end: I64
    ) -> None:
        self.names = list(names)
        self.document, self.start, self.end = document, start.astype(np.int64), end.astype(np.int64)
        self.finest = np.full(len(alive), -1, np.int8)
        for place in reversed(range(len(self.names))):
            self.finest[at[place]] = place
        self.finest[~alive] = -1
        self._key = (document << 32) | self.start
        order = np.argsort(self._key, kind="stable")
        level = self.finest[order]
        self.rows_of = [order[level == place] for place in range(len(self.names))]
        self._keys_of = [self._key[rows] for rows in self.rows_of]
        self.sentences = self.rows_of[0]
        self.first = np.searchsorted(self._keys_of[0], self._key)
        self.last = np.searchsorted(self._keys_of[0], (document << 32) | self.end)
        self._masks: dict[tuple[str, ...], LevelGroups] = {}
        self._at, self._alive = list(at), alive
        self._in_order: dict[int, tuple[I64, I64]] = {}

    def groups(self, names: Sequence[str], allowed: Mask | None, *, kept: bool) -> LevelGroups:
        """Return the rows that a search may find, grouped by their finest level, without empty groups.

        Args:
            names: The levels that are searched.
            allowed: The rows that may be found, bool[rows]. None: all.
            kept: Whether ``allowed`` restricts only the levels. The result is then cached for the next search.
        """
        key = tuple(names)
        if kept and key in self._masks:
            return self._masks[key]
        places: list[int] = []
        masks: list[Mask] = []
        group = np.full(len(self.finest), -1, np.int8)
        for place in range(len(self.names)):
            mask = self.finest == place
            if allowed is not None:
                mask &= allowed
            if mask.any():
                group[mask] = len(places)
                places.append(place)
                masks.append(mask)
        every = places[:1] == [0] and np.count_nonzero(masks[0]) == len(self.sentences)
        made = LevelGroups(key, places, masks, group, every)
        if kept:
            self._masks[key] = made
        return made

    def beside(self, row: int, width: int, names: Sequence[str] = ()) -> I64:
        """Return the rows of a node and of up to ``width`` nodes of its document on either side, in reading order.

        All are nodes of one level: the coarsest of the node's levels, or if ``names`` has any levels, the coarsest
        among those in ``names``. The result is empty if the row has no such level.
        """
        place = self._coarsest(row, names)
        if place is None:
            return np.empty(0, np.int64)
        rows, keys = self._in_order_at(place)
        at = int(np.searchsorted(keys, self._key[row]))
        near = rows[max(0, at - width) : at + width + 1]
        return np.asarray(near[self.document[near] == self.document[row]], np.int64)

    def region(self, row: int, level: str | None = None) -> tuple[int, int]:
        """Return the region (first, end) of a row, or of the node of ``level`` that contains the row.

        If no node of the level contains the row, the region of the row itself is returned. Both numbers are
        document << 32 | character, so regions of different documents never overlap.
        """
        first, end = int(self._key[row]), int(self.document[row]) << 32 | int(self.end[row])
        if level is None or not self._alive[row]:
            return first, end
        rows, keys = self._in_order_at(self.names.index(level))
        at = int(np.searchsorted(keys, first, "right")) - 1
        if at < 0:
            return first, end
        begin, finish = self.region(int(rows[at]))
        return (begin, finish) if finish >= end else (first, end)

    def number_at(self, level: str, rows: I64) -> I64:
        """Return the number of the node of a level that contains each row, int64[len(rows)].

        Nodes are numbered in the order of documents and characters. A row that no node of the level contains has the
        number of the last node before it, or -1.
        """
        _, keys = self._in_order_at(self.names.index(level))
        return np.asarray(np.searchsorted(keys, self._key[rows], "right") - 1, np.int64)

    def rows_at(self, level: str, rows: I64) -> I64:
        """Return the row of the node of a level that contains each row, or -1 if there is none."""
        nodes, _ = self._in_order_at(self.names.index(level))
        found = self.number_at(level, rows)
        own = nodes[np.maximum(found, 0)] if len(nodes) else np.full(len(rows), -1, np.int64)
        holds = (found >= 0) & (self.document[own] == self.document[rows]) & (self.end[own] >= self.end[rows])
        return np.where(holds, own, -1)

    def inside(self, row: int, region: tuple[int, int], names: Sequence[str] = ()) -> I64:
        """Return the nodes of a row's level (see :meth:`beside`) in a region that contains it, in reading order."""
        place = self._coarsest(row, names)
        if place is None:
            return np.array([row], np.int64)
        rows, keys = self._in_order_at(place)
        first, last = np.searchsorted(keys, region)
        return rows[first:last]

    def _coarsest(self, row: int, names: Sequence[str]) -> int | None:
        """Return the position of a row's coarsest level, among ``names`` unless they are empty; None without any."""
        places = [i for i, name in enumerate(self.names) if self._at[i][row] and (not names or name in names)]
        return places[-1] if places and self._alive[row] else None

    def _in_order_at(self, place: int) -> tuple[I64, I64]:
        """Return (the rows at a level, sorted by document and start; their keys document << 32 | start)."""
        if place not in self._in_order:
            rows = np.flatnonzero(self._at[place] & self._alive)
            rows = rows[np.argsort(self._key[rows], kind="stable")]
            self._in_order[place] = rows, self._key[rows]
        return self._in_order[place]

    def holding(self, place: int, sentences: I64) -> I64:
        """Return, for each sentence given by row, the node that contains it and has level ``place`` as its finest.

        The result has rows, or -1 for a sentence that is in no such node.
        """
        rows = self.rows_of[place]
        if not len(rows):
            return np.full(len(sentences), -1, np.int64)
        found = rows[np.maximum(np.searchsorted(self._keys_of[place], self._key[sentences], "right") - 1, 0)]
        inside = (self.document[found] == self.document[sentences]) & (self.start[found] <= self.start[sentences])
        inside &= self.end[found] >= self.end[sentences]
        return np.where(inside, found, -1)

    def best_sentences(
        self, snapshot: Snapshot, query: F32, rows: I64, own: F32, best: tuple[I64, F32] | None = None
    ) -> F32:
        """Return the cosine of each row's best sentence. For a row without sentences, it is that of its own vector.

        Args:
            snapshot: The state of the index.
            query: The unit vector of the query, float32[dim].
            rows: The rows.
            own: The cosines of the rows' own vectors.
            best: (rows, cosines) of the best sentences of the whole index, if known. If a row contains any of these,
                its best sentence is one of them, and no other cosines need to be computed for it.
        """
        assert snapshot.pooled is not None
        found: F32 = np.array(own, np.float32)
        left = np.flatnonzero(self.last[rows] > self.first[rows])
        if best is not None:
            places, scores = self._in_reading_order(*best)
            begin, end = (np.searchsorted(places, each[rows[left]]) for each in (self.first, self.last))
            some = end > begin
            found[left[some]] = _highest(scores, begin[some], end[some])
            left = left[~some]
        if len(left):
            left = left[np.argsort(self.first[rows[left]], kind="stable")]
            first, last = self.first[rows[left]], self.last[rows[left]]
            places, at = _together(first, last)
            scores = snapshot.pooled.scan.score_rows(query, self.sentences[places])
            found[left] = _highest(scores, at, at + (last - first))
        return found

    def _in_reading_order(self, rows: I64, scores: F32) -> tuple[I64, F32]:
        """Return (rising positions in :attr:`sentences`, scores) of sentences, given by row."""
        places = np.searchsorted(self._keys_of[0], self._key[rows])
        # Of several sentences that begin at the same character, only the first is kept.
        there = self.sentences[np.minimum(places, len(self.sentences) - 1)] == rows
        order = np.argsort(places[there])
        return places[there][order], scores[there][order]

    def scores(
        self,
        snapshot: Snapshot,
        probe: Subquery,
        rows: I64,
        sparse: F32 | None,
        best: tuple[I64, F32] | None = None,
    ) -> dict[str, Any]:
        """Return the scores of rows for a subquery, by kind of score.

        With a vector, they are the cosines of the rows' own vectors ("dense") and of their best sentences ("sentence").

        Args:
            snapshot: The state of the index.
            probe: The subquery.
            rows: The rows.
            sparse: The BM25 scores of all rows for the subquery, float32[all rows]. None: without BM25.
            best: See :meth:`best_sentences`.
        """
        found: dict[str, Any] = {}
        if probe.vector is not None:
            assert snapshot.pooled is not None
            query = np.ascontiguousarray(probe.vector, np.float32)
            found["dense"] = snapshot.pooled.scan.score_rows(query, rows)
            found["sentence"] = self.best_sentences(snapshot, query, rows, found["dense"], best)
        if sparse is not None:
            found["sparse"] = sparse[rows]
        return found


def _together(first: I64, last: I64) -> tuple[I64, I64]:
    """Return (the distinct positions in ranges [first, last), rising; the place among these where each range begins).

    The ranges are sorted by ``first``.

    Example:
        >>> places, at = _together(np.array([2, 2, 8]), np.array([6, 4, 9]))
        >>> places.tolist(), at.tolist()
        ([2, 3, 4, 5, 8], [0, 0, 4])
    """
    reach = np.maximum.accumulate(last)
    begins = np.flatnonzero(np.append(True, first[1:] >= reach[:-1]))  # The ranges that no earlier range overlaps.
    sizes = reach[np.append(begins[1:], len(first)) - 1] - first[begins]
    before = np.cumsum(sizes) - sizes
    places = np.arange(int(sizes.sum())) + np.repeat(first[begins] - before, sizes)
    which = np.searchsorted(begins, np.arange(len(first)), "right") - 1
    return places, before[which] + first - first[begins[which]]


def _highest(scores: F32, begin: I64, end: I64) -> F32:
    """Return the highest of scores [begin, end) for each of several ranges, none of them empty.

    Example:
        >>> _highest(np.array([3, 9, 4], np.float32), np.array([0, 2]), np.array([2, 3])).tolist()
        [9.0, 4.0]
    """
    if not len(begin):
        return np.empty(0, np.float32)
    runs = np.stack([begin, end], axis=1).ravel()  # Every second run is between two ranges, and is not used.
    found: F32 = np.maximum.reduceat(np.append(scores, np.float32(0)), runs)[::2]
    return found
