"""What the chunk table of an index says of a few of its rows, without a copy of its columns."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyarrow as pa

from .._arrow import primitive
from ..data.columns import COLUMNS
from .fusion import I64, distinct

#: Of the chunk table, of no use for a reader of hits.
_INTERNAL = frozenset(column.name for column in COLUMNS if not column.in_hits) - {"page_breaks"}  # which says the page


class ChunkRows:
    """Rows of a chunk table, read from its record batches.

    Args:
        table: memory-mapped; columns that no hit shows are left out.

    Example:
        >>> rows = ChunkRows(pa.table({"text": ["Cats purr.", "They sleep a lot."], "chunk": [0, 1]}))
        >>> rows.row(1), rows.words(np.array([1, 0])).tolist()
        ({'text': 'They sleep a lot.', 'chunk': 1}, [4, 2])
    """

    def __init__(self, table: pa.Table) -> None:
        names = [name for name in table.column_names if name not in _INTERNAL]
        self._batches = table.select(names).to_batches()
        self._first = np.cumsum([0, *(batch.num_rows for batch in self._batches)])[:-1]

    def values(self, rows: I64) -> list[dict[str, Any]]:
        """What the table says of rows int64[n], each with values of its own.

        ``Table.take`` would copy the columns of strings first. That of a batch takes 80 us, and 6 a row; a slice 35.
        """
        values: list[dict[str, Any]] = [{}] * len(rows)
        batch = np.searchsorted(self._first, rows, side="right") - 1
        for each in distinct(batch).tolist():
            places = np.flatnonzero(batch == each)
            own = rows[places] - self._first[each]
            if len(own) > (2 if "pyarrow.compute" in sys.modules else 8):  # which a first take() loads
                taken = self._batches[each].take(primitive(own)).to_pylist()
            else:
                taken = [self._batches[each].slice(row, 1).to_pylist()[0] for row in own.tolist()]
            for place, value in zip(places.tolist(), taken, strict=True):
                values[place] = value
        return values

    def row(self, row: int) -> dict[str, Any]:
        """What the table says of one row."""
        return self.values(np.array([row], np.int64))[0]

    def words(self, rows: I64) -> I64:
        """int64[n]: how many words the texts of rows hold."""
        return np.array([len(value["text"].split()) for value in self.values(rows)], np.int64)
