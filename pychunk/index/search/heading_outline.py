"""The trees of headings of an index's documents, by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

I64 = npt.NDArray[np.int64]
Region = tuple[int, int]  # rows [first, last), of nodes places in documents


@dataclass(frozen=True)
class Outline:
    """The trees of headings of all documents, by row: how many rows a subtree has, and the row that each hangs on.

    A chunk of a document without a tree is a subtree of its own, and hangs on none. Where chunks were removed, others
    hang on the nearest that is left above them.
    """

    size: I64
    parent: I64

    @classmethod
    def of(cls, table: pa.Table, document: I64) -> Outline:
        """Of an index's table and a number for each row's document; ValueError where none of its chunks has a tree."""
        if "subtree" not in table.column_names:
            raise ValueError(
                "these chunks have no tree of headings to expand hits by: index documents with method 'structure', or "
                "pass expand= a number of neighbours"
            )
        rows = np.arange(table.num_rows, dtype=np.int64)
        size, parent, chunk = (
            np.asarray(table.column(name).cast(pa.int64()).fill_null(empty), np.int64)
            for name, empty in (("subtree", 1), ("parent", -1), ("chunk", 0))
        )
        # Rows are counted by their chunks' numbers: of those that were removed, some have no row any more.
        begins = (document[1:] != document[:-1]) | (chunk[1:] <= chunk[:-1])
        first = np.concatenate([[0], np.cumsum(begins)]).astype(np.int64)[: len(rows)] << 32
        places = first | chunk  # rising
        size = np.searchsorted(places, first | chunk + size) - rows
        above = np.searchsorted(places, first | np.maximum(parent, 0))
        gone = np.flatnonzero((parent >= 0) & (places[above] != first | parent))
        above[parent < 0] = -1
        for row in gone.tolist():  # few: only a chunk with others under it that was removed by itself
            before = row - 1
            while before >= 0 and first[before] == first[row] and before + size[before] <= row:
                before -= 1
            above[row] = before if before >= 0 and first[before] == first[row] else -1
        return cls(size, above)

    def region(self, row: int, way: str, path: Sequence[str] | None, path_above: Sequence[str] | None) -> Region:
        """Rows of the subtree of a chunk; by ``section`` of the chunk that begins its section.

        ``path``, ``path_above``: the headings over the chunk, and over the one that it hangs on, which begins the same
        section where they are equal.
        """
        if way == "section" and self.parent[row] >= 0 and path == path_above:
            row = int(self.parent[row])
        return row, row + int(self.size[row])
