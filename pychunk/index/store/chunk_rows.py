"""The reading of a few rows of an index's chunk table without a copy of its columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine.data.columns import COLUMNS

I64 = npt.NDArray[np.int64]

#: The columns of the chunk table that are not needed to build hits.
# The column page_breaks is needed, because the page of a hit is computed from it.
_INTERNAL = frozenset(column.name for column in COLUMNS if not column.in_hits) - {"page_breaks"}


class ChunkRows:
    """The rows of a chunk table, read from its record batches.

    Args:
        table: A memory-mapped table. Columns that hits do not need are not read.
        check: A function (names, begin, end) that checks columns for rows [begin, end).
        checked: A function (names, row) that is called before rows of a record batch are first read. It checks the
            columns of the batch that contains the row, except for the bytes of texts. It returns a function that checks
            the texts of one row. See :meth:`.Part.checked`.

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
        #: For each batch that was read: its columns, and the function that checks the texts of one row.
        self._columns: dict[int, tuple[list[tuple[str, pa.Array]], Callable[[int], None]]] = {}

    def values(self, rows: I64) -> list[dict[str, Any]]:
        """Return one dict for each of the rows int64[n], with the row's values by column.

        Reading value by value takes 7 us for a row of nine columns. Alternatives are slower: for ten rows in eight
        batches, a slice took 55 us for each row, and ``take`` of a batch took 80 us before its first row. ``take`` of
        the whole table would first copy all columns of strings.
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
