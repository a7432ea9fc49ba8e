"""The documents of two tables of chunks, with the chunks of both in one order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..chunks.differences import CHANGES, Differences


class Row(NamedTuple):
    """The number of a chunk in the old table, in the new table, or in both."""

    old: int | None
    new: int | None


class Document(NamedTuple):
    """A document with its chunks, and their number for each change. A chunk that moved here or away has moved."""

    name: str
    rows: list[Row]
    counts: Counter[str]

    @property
    def changed(self) -> int:
        """The number of chunks that were not kept."""
        return self.counts.total() - self.counts["kept"]


class Sides:
    """The chunks of two tables. All attributes are pairs: first of the old table, then of the new one.

    Attributes:
        changes: The change of each chunk.
        others: The row of each chunk in the other table, or -1.
        spans: The start and end of each chunk.
        texts: The texts.
    """

    def __init__(self, found: Differences, old: pa.Table, new: pa.Table) -> None:
        self._tables = old, new
        codes = found.table["change"].combine_chunks().indices.to_numpy()[: new.num_rows]
        there = found.table["old_row"].fill_null(-1).to_numpy()[: new.num_rows]
        back = np.full(old.num_rows, -1, np.int64)
        known = np.flatnonzero(there >= 0)
        back[there[known]] = known
        removed = CHANGES.index("removed")
        before = np.where(back < 0, removed, codes[back] if len(codes) else removed)
        self.changes = tuple([CHANGES[code] for code in each.tolist()] for each in (before, codes))
        self.others: tuple[list[int], list[int]] = back.tolist(), there.tolist()
        self.spans = tuple(
            list(zip(table["start"].to_pylist(), table["end"].to_pylist(), strict=True)) for table in self._tables
        )
        self.texts = old["text"], new["text"]
        self._keys = self._documents_of_rows()

    def is_kept(self, row: Row) -> bool:
        """Return whether a row is a chunk of both tables at the same place in the order."""
        return row.old is not None and row.new is not None and self.others[0][row.old] == row.new

    def place(self, side: int, row: int) -> str:
        """Return the span of a chunk, and its document if it has an id."""
        start, end = self.spans[side][row]
        return f"{self._name(self._keys[side][row])}, {start:,}–{end:,}"

    def documents(self) -> list[Document]:
        """Return the documents in the order of the new table, then those that only the old table has."""
        rows: dict[Hashable, tuple[list[int], list[int]]] = {}
        for side in (1, 0):
            for row, key in enumerate(self._keys[side]):
                rows.setdefault(key, ([], []))[side].append(row)
        return [self._document(self._name(key), *own) for key, own in rows.items()]

    def _document(self, name: str, old: list[int], new: list[int]) -> Document:
        counts = Counter(dict.fromkeys(CHANGES, 0))
        counts.update(self.changes[1][row] for row in new)
        own = set(new)
        left = [row for row in old if self.others[0][row] not in own]
        counts.update(self.changes[0][row] for row in left)
        return Document(name, list(self._in_order(old, new)), counts)

    def _in_order(self, old: Sequence[int], new: Sequence[int]) -> Iterator[Row]:
        """Yield the rows of a document. Chunks between two kept ones are next to each other, in their order."""
        at = 0
        place = {row: number for number, row in enumerate(old)}
        waiting: list[int] = []
        for row in new:
            found = place.get(self.others[1][row], -1) if self.changes[1][row] == "kept" else -1
            if found < at:
                waiting.append(row)
                continue
            yield from (Row(*pair) for pair in zip_longest(old[at:found], waiting))
            yield Row(old[found], row)
            waiting, at = [], found + 1
        yield from (Row(*pair) for pair in zip_longest(old[at:], waiting))

    def _documents_of_rows(self) -> tuple[list[Hashable], list[Hashable]]:
        """Return a key for the document of each row, which both tables share: the id if there are ids.

        Without ids, a document of the old table is the one of the new table that has most of its chunks.
        """
        numbers = [table["document_index"].to_pylist() for table in self._tables]
        if all("document_id" in table.column_names for table in self._tables):
            old, new = (
                [str(name) if name is not None else number for name, number in zip(ids, own, strict=True)]
                for ids, own in zip((table["document_id"].to_pylist() for table in self._tables), numbers, strict=True)
            )
            return old, new
        votes: dict[Any, Counter[Any]] = {}
        for row, number in enumerate(numbers[0]):
            if self.others[0][row] >= 0:
                votes.setdefault(number, Counter())[numbers[1][self.others[0][row]]] += 1
        same = {number: own.most_common(1)[0][0] for number, own in votes.items()}
        return [same.get(number, ("old", number)) for number in numbers[0]], numbers[1]

    @staticmethod
    def _name(key: Any) -> str:
        if isinstance(key, str):
            return key
        return f"document {key[1]} of the old chunks" if isinstance(key, tuple) else f"document {key}"
