"""The access to a few rows of an index's chunk table without a copy of its columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine.data.columns import COLUMNS

I64 = npt.NDArray[np.int64]

#: The columns of the chunk table that are useless for a reader of hits.
# The page of a hit is computed from page_breaks.
_INTERNAL = frozenset(column.name for column in COLUMNS if not column.in_hits) - {"page_breaks"}


class ChunkRows:
    """The rows of a chunk table, read from its record batches.

    Args:
        table: A memory-mapped table. Columns that no hit shows are left out.
        check: A function that checks columns of rows [begin, end).
        checked: A function that checks columns, except for texts, for the batch of a row, and returns a function that
            checks the texts of one row. It is called before rows of a batch are first read.

    Example:
        >>> rows = ChunkRows(pa.table({"text": ["Cats purr.", "They sleep a lot."], "chunk_index": [0, 1]}))
        >>> rows.row(1), rows.words(np.array([1, 0])).tolist()
        ({'text': 'They sleep a lot.', 'chunk_index': 1}, [4, 2])
    """

    def __init__(
        self,
        table: pa.Table,
        check: Callable[[Sequence[str], int, int], None] = lambda names, begin, end: None,
        checked: Callable[[Sequence[str], int], Callable[[int], None]] = lambda names, row: lambda row: None,
    ) -> None:
        self._check, self._checked = check, checked
        names = [name for name in table.column_names if name not in _INTERNAL]
        self._batches = table.select(names).to_batches()
        self._first = np.cumsum([0, *(batch.num_rows for batch in self._batches)])[:-1]
        #: The columns of each requested batch, and the function that checks the texts of a row.
        self._columns: dict[int, tuple[list[tuple[str, pa.Array]], Callable[[int], None]]] = {}

    def values(self, rows: I64) -> list[dict[str, Any]]:
        """Return the values of rows int64[n] by column, as one dict for each.

        Reading value by value takes 7 us for a row of nine columns. For ten rows in eight batches, slices took 55 us
        each, and ``take`` of a batch took 80 us before its first row. ``take`` of the table would first copy the
        columns of strings.
        """
        batch = np.searchsorted(self._first, rows, side="right") - 1
        values = []
        for number, row, at in zip(batch.tolist(), rows.tolist(), (rows - self._first[batch]).tolist(), strict=True):
            own = self._batches[number]
            if number not in self._columns:
                check = self._checked(own.schema.names, row)
                self._columns[number] = list(zip(own.schema.names, own.columns, strict=True)), check
            columns, check = self._columns[number]
            check(row)
            try:
                values.append({name: column[at].as_py() for name, column in columns})
            except UnicodeDecodeError:
                self._check(own.schema.names, row - at, row - at + own.num_rows)  # The check names the file.
                raise
        return values

    def row(self, row: int) -> dict[str, Any]:
        """Return the values of one row by column."""
        return self.values(np.array([row], np.int64))[0]

    def words(self, rows: I64) -> I64:
        """Return the number of words of each row's text, int64[n]."""
        return np.array([len(value["text"].split()) for value in self.values(rows)], np.int64)
