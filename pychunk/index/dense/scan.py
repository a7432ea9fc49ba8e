"""Exact nearest chunks by one pass over the stored vectors as they lie in their files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._engine import native
from ..files.block_checksums import Blocks

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class VectorScan:
    """Chunks by the best of their vectors: inner products in float32, added in one order everywhere.

    The vectors are read as they lie in memory-mapped files, once for all queries of a call; hits and the bits of their
    scores are the same for any number of threads and of queries, and for every instruction set. Of int8 vectors that
    have most of their length in their first numbers, the second search keeps four bits of each of those in memory, 0.4
    of the files' bytes, and reads few rows whole.

    Args:
        arrays: float16 or float32 [n, dim], or int8 [n, dim + 4] (:mod:`.int8_vectors`), all of one type, numbered on
            from one to the next.
        dim: their width.
        offsets: int64[chunks + 1], the rows of each chunk; ``None``: each row is a chunk.
        blocks: those of the arrays' files, which are compared when rows of them are first read; none: nobody wants to.

    Example:
        >>> scan = VectorScan([np.eye(3, dtype=np.float16)], 3, np.array([0, 2, 2, 3]))
        >>> scores, chunks, rows = scan.top(np.array([[0, 0.6, 0.8]], np.float32), 2)
        >>> chunks.tolist(), rows.tolist(), np.allclose(scores, [[0.8, 0.6]])
        ([[2, 0]], [[2, 1]], True)
    """

    def __init__(
        self,
        arrays: Sequence[npt.NDArray[Any]],
        dim: int,
        offsets: I64 | None = None,
        blocks: Sequence[Blocks | None] = (),
    ) -> None:
        self._native = native.scan(arrays, dim, offsets)
        self._blocks = list(blocks) if any(blocks) else []
        self._offsets = offsets
        self._first = np.cumsum([0, *map(len, arrays)])
        self._size = arrays[0].shape[1] * arrays[0].itemsize if arrays else 0
        count = sum(map(len, arrays))
        self._filled = None if offsets is None else np.diff(offsets) > 0
        self._count = count if self._filled is None else int(self._filled.sum())

    def check(self, rows: I64 | None = None) -> None:
        """Compare the blocks of rows, None: of all, that nobody read before.

        Raises:
            ValueError: a block has another hash than the manifest says; names the file.
        """
        blocks = self._blocks  # another thread may be done with them meanwhile
        if not blocks:
            return
        if rows is None:
            for own in blocks:
                if own is not None:
                    own.check()
            self._blocks = []
            return
        part = np.searchsorted(self._first, rows, side="right") - 1
        for number in np.unique(part).tolist():
            if (own := blocks[number]) is not None:
                own.check_rows(rows[part == number] - self._first[number], self._size)

    def _check_chunks(self, chunks: I64) -> None:
        if self._offsets is None or not self._blocks:
            self.check(chunks)
            return
        sizes = self._offsets[chunks + 1] - self._offsets[chunks]
        ends = np.cumsum(sizes)
        self.check(np.arange(int(sizes.sum())) + np.repeat(self._offsets[chunks] - ends + sizes, sizes))

    def found(self, allowed: Mask | None) -> int:
        """Chunks that can be found: those with a vector, and allowed."""
        if allowed is None:
            return self._count
        return int(np.count_nonzero(allowed if self._filled is None else allowed & self._filled))

    def top(
        self,
        queries: F32,
        count: int,
        allowed: Mask | None = None,
        threads: int | None = None,
        *,
        beside: F32 | None = None,
        weight: float = 1.0,
        groups: Sequence[int] = (),
        least: F32 | None = None,
    ) -> tuple[F32, I64, I64]:
        """(scores, chunks, best rows) of the ``count`` best chunks of each query, [q, c], best first.

        Of equal scores the first chunk, and of a chunk's rows the first; chunks without rows are not found, and -1 is
        where there are fewer. ``allowed`` bool[chunks] leaves the others out, unread.

        ``beside`` float32[q, chunks] is what chunks score by other means: ``weight`` times that is added to what their
        best rows score, in float32, and the best sums are found; a chunk without rows, whose row is -1, is among them
        by that alone if it is above 0. It also says which rows need not be looked at: a scan that looks for sums is
        faster than one without.

        ``groups``, numbers of :meth:`set_groups`, say where all that is allowed lies: no other rows are read. Hits and
        scores are the same without.

        ``least`` float32[q] is what ``count`` of the chunks that are allowed score at least, -inf where nobody knows:
        the scan goes on from there, and finds the same.
        """
        self.check()
        given: dict[str, Any] = {"beside": beside, "weight": float(weight), "groups": groups, "least": least}
        return native.scan_top(self._native, queries, count, allowed, threads=threads, **given)

    def set_groups(self, groups: npt.NDArray[np.int8]) -> None:
        """Says in which group each row is, int8[rows], -1: in none; of a scan whose rows are their own chunks.

        What a search of groups reads lies side by side then, as if each had a scan of its own: of a million nodes of
        five levels, which lie document by document in the files, 5,423 documents are searched in .2 ms, not in 2.1, and
        185,718 groups of sentences in 5, not in 24. What is said first stays.
        """
        self._native.set_groups(np.ascontiguousarray(groups, np.int8))

    def score_chunks(self, query: F32, chunks: I64) -> tuple[F32, I64]:
        """(score, best row) of chosen chunks, the very bits of :meth:`top`; 0 and -1 of those without rows."""
        chosen = np.ascontiguousarray(chunks, np.int64)
        self._check_chunks(chosen)
        return self._native.score_chunks(query, chosen)

    def score_rows(self, query: F32, rows: I64) -> F32:
        """Scores of chosen rows, float32[n]; each depends on its row and the query alone."""
        chosen = np.ascontiguousarray(rows, np.int64)
        self.check(chosen)
        return self._native.score_rows(query, chosen)
