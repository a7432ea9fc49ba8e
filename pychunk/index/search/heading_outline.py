"""The trees of headings of an index's documents, by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

I64 = npt.NDArray[np.int64]
Region = tuple[int, int]  # The rows [first, last). For nodes of levels, see :meth:`.Nodes.region`.


@dataclass(frozen=True)
class Outline:
    """The trees of headings of all documents.

    A chunk of a document without a tree is a subtree of its own, without a parent. If a chunk was removed, the parent
    of its children is the nearest chunk above it that remains.

    Attributes:
        size: The number of rows of the subtree that begins with each row, int64[rows].
        parent: The row of each row's parent, int64[rows], or -1 if it has none.
    """

    size: I64
    parent: I64

    @classmethod
    def of(cls, table: pa.Table, document: I64) -> Outline:
        """Return the trees of an index's table. ``document`` has a number for the document of each row, int64[rows].

        Raises:
            ValueError: None of the chunks has a tree.
        """
        if "subtree" not in table.column_names:
            raise ValueError(
                "these chunks have no tree of headings to expand hits by: index documents with headings, such as files "
                "of Markdown or texts from pychunk.parse(), or pass a number of neighbours as expansion="
            )
        rows = np.arange(table.num_rows, dtype=np.int64)
        size, parent, chunk = (
            np.asarray(table.column(name).cast(pa.int64()).fill_null(empty), np.int64)
            for name, empty in (("subtree", 1), ("parent", -1), ("chunk_index", 0))
        )
        # The table counts chunks, not rows. The two differ if removed chunks no longer have rows.
        begins = (document[1:] != document[:-1]) | (chunk[1:] <= chunk[:-1])
        first = np.concatenate([[0], np.cumsum(begins)]).astype(np.int64)[: len(rows)] << 32
        places = first | chunk  # The values rise, so rows are found by a binary search.
        size = np.searchsorted(places, first | chunk + size) - rows
        above = np.searchsorted(places, first | np.maximum(parent, 0))
        gone = np.flatnonzero((parent >= 0) & (places[above] != first | parent))
        above[parent < 0] = -1
        for row in gone.tolist():  # There are few of them: only children of a chunk that was removed by itself.
            before = row - 1
            while before >= 0 and first[before] == first[row] and before + size[before] <= row:
                before -= 1
            above[row] = before if before >= 0 and first[before] == first[row] else -1
        return cls(size, above)

    def region(self, row: int, way: str, path: Sequence[str] | None, path_above: Sequence[str] | None) -> Region:
        """Return the rows of a chunk's subtree, or with ``"section"`` those of its whole section.

        Args:
            row: The row of the chunk.
            way: ``"subtree"`` or ``"section"``.
            path: The headings above the chunk.
            path_above: The headings above its parent. If both are equal, the section begins with the parent.
        """
        if way == "section" and self.parent[row] >= 0 and path == path_above:
            row = int(self.parent[row])
        return row, row + int(self.size[row])
