"""Where the nodes of an index of levels lie in each other: which sentences each holds, which node holds a sentence."""

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
    """The rows of a search by their finest level.

    Attributes:
        names: levels that are searched; none: all.
        places: of the levels that rows are of, rising. masks: bool[rows] of each. of: int8[rows], which of these each
            row is of, -1 where it is not searched.
        sentences: whether all rows of the finest level of all are searched.
    """

    names: tuple[str, ...]
    places: list[int]
    masks: list[Mask]
    of: npt.NDArray[np.int8]
    sentences: bool


class Nodes:
    """The nodes of all documents, in flat arrays by row; made once for a state of an index.

    Args:
        names: the levels, from fine to coarse. at: of each level bool[rows]. alive: bool[rows].
        document, start, end: int64[rows], a number for each row's document, and its characters.

    Attributes:
        finest: int8[rows], the place of a row's finest level; -1 of rows without levels, and of removed ones.
        rows_of: of each level the rows whose finest it is, by document and start.
        sentences: rows of the finest level of all, by document and start.
        first, last: int64[rows], which of ``sentences`` each row holds.
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
        """The rows of a search by their finest level, without levels that none is of.

        Args:
            names: levels that are searched. allowed: rows that may be found. kept: ``allowed`` says nothing beside the
                names, so that the next search with them finds the masks made.
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
        """Up to ``width`` nodes of a document on either side of one, and itself, by row, in reading order.

        All are of one level: the coarsest that the node is at, of ``names`` if there are any. None of a row without.
        """
        place = self._coarsest(row, names)
        if place is None:
            return np.empty(0, np.int64)
        rows, keys = self._in_order_at(place)
        at = int(np.searchsorted(keys, self._key[row]))
        near = rows[max(0, at - width) : at + width + 1]
        return np.asarray(near[self.document[near] == self.document[row]], np.int64)

    def region(self, row: int, level: str | None = None) -> tuple[int, int]:
        """(first, end) of a row, as document << 32 | character; of the node at a level that holds it, if one does."""
        first, end = int(self._key[row]), int(self.document[row]) << 32 | int(self.end[row])
        if level is None or not self._alive[row]:
            return first, end
        rows, keys = self._in_order_at(self.names.index(level))
        at = int(np.searchsorted(keys, first, "right")) - 1
        if at < 0:
            return first, end
        begin, finish = self.region(int(rows[at]))
        return (begin, finish) if finish >= end else (first, end)

    def inside(self, row: int, region: tuple[int, int], names: Sequence[str] = ()) -> I64:
        """The nodes of a row's level, as of :meth:`beside`, that lie in a region that holds it, in reading order."""
        place = self._coarsest(row, names)
        if place is None:
            return np.array([row], np.int64)
        rows, keys = self._in_order_at(place)
        first, last = np.searchsorted(keys, region)
        return rows[first:last]

    def _coarsest(self, row: int, names: Sequence[str]) -> int | None:
        """The coarsest level that a row is at, of ``names`` if there are any, by its place; None of a row without."""
        places = [i for i, name in enumerate(self.names) if self._at[i][row] and (not names or name in names)]
        return places[-1] if places and self._alive[row] else None

    def _in_order_at(self, place: int) -> tuple[I64, I64]:
        """(the rows at a level by document and start, their keys)."""
        if place not in self._in_order:
            rows = np.flatnonzero(self._at[place] & self._alive)
            rows = rows[np.argsort(self._key[rows], kind="stable")]
            self._in_order[place] = rows, self._key[rows]
        return self._in_order[place]

    def holding(self, place: int, sentences: I64) -> I64:
        """Of sentences, by row, the row of the node at a level that holds each, if this is its finest; -1 of none."""
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
        """The cosine of each row's best sentence; ``own``, its own vector's, of a row that holds none.

        Args:
            best: the best sentences of all and their cosines: what holds one of them has its best among them.
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
        """(places in :attr:`sentences`, rising, scores) of sentences by row."""
        places = np.searchsorted(self._keys_of[0], self._key[rows])
        there = self.sentences[np.minimum(places, len(self.sentences) - 1)] == rows  # of several at one character one
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
        """Of rows the cosine of their own vector, that of their best sentence, and BM25, as far as a probe has them.

        Args:
            sparse: float32[all rows], BM25 for the probe; None without. best: as of :meth:`best_sentences`.
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
    """(the places that ranges of them hold, each once, rising; where each range begins among these).

    Example:
        >>> places, at = _together(np.array([2, 2, 8]), np.array([6, 4, 9]))
        >>> places.tolist(), at.tolist()
        ([2, 3, 4, 5, 8], [0, 0, 4])
    """
    reach = np.maximum.accumulate(last)
    begins = np.flatnonzero(np.append(True, first[1:] >= reach[:-1]))  # of ranges that no earlier one overlaps
    sizes = reach[np.append(begins[1:], len(first)) - 1] - first[begins]
    before = np.cumsum(sizes) - sizes
    places = np.arange(int(sizes.sum())) + np.repeat(first[begins] - before, sizes)
    which = np.searchsorted(begins, np.arange(len(first)), "right") - 1
    return places, before[which] + first - first[begins[which]]


def _highest(scores: F32, begin: I64, end: I64) -> F32:
    """The highest of scores [begin, end), of each of several ranges, none of them empty.

    Example:
        >>> _highest(np.array([3, 9, 4], np.float32), np.array([0, 2]), np.array([2, 3])).tolist()
        [9.0, 4.0]
    """
    if not len(begin):
        return np.empty(0, np.float32)
    runs = np.stack([begin, end], axis=1).ravel()  # and of what lies between, which nobody asks for
    found: F32 = np.maximum.reduceat(np.append(scores, np.float32(0)), runs)[::2]
    return found
