"""The exact search for the nearest chunks by one pass over the vectors in their files."""

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
    """The scan that finds the best chunks by the best of their vectors, with inner products in float32.

    Vectors are read from memory-mapped files, once for all queries of a call. Products are added in a fixed order: hits
    and scores are the same, bit for bit, for any number of threads and queries, and for every instruction set. If the
    first numbers of int8 vectors account for most of their Euclidean length, the second search copies these numbers
    into memory, with four bits each. The copy takes 0.4 of the files' bytes, and later searches then read few complete
    rows.

    Args:
        arrays: The vectors, float16 or float32 [n, dim], or int8 [n, dim + 4] (:mod:`.int8_vectors`), all of one type.
            Their rows are numbered consecutively across arrays.
        dim: The width of the vectors.
        offsets: The offsets of each chunk's rows, int64[chunks + 1]. ``None``: each row is a chunk.
        blocks: The blocks of each array's file, which are checked when their rows are first read. Empty: no checks.

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

    def check(self, rows: I64 | None = None) -> None:
        """Check the blocks of rows (None: all) that were not read before.

        Raises:
            ValueError: The hash of a block is not the one in the manifest. The message names the file.
        """
        blocks = self._blocks  # Another thread may finish all checks meanwhile, and then empties the attribute.
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
        """Return (scores, chunks, best rows) of the best chunks of each of q queries, [q, count], best first.

        Chunks with equal scores are in the order of the index; of a chunk's rows with equal scores, the first is
        returned. Chunks without rows are not found. If there are fewer than ``count``, the arrays are padded with -1.

        Args:
            queries: Unit vectors, float32[q, dim].
            count: The number of chunks.
            allowed: The chunks that may be found, bool[chunks]. Other chunks are not read. None: all.
            threads: The number of threads. None: the default number.
            beside: Other scores of the chunks, such as BM25, float32[q, chunks]. The chunks with the best sums are
                found: the score of the best row plus ``weight`` times the other score, in float32. A chunk without rows
                has only its other score, and is found if this is above 0; its row is -1. The other scores show which
                rows need not be read, so a scan for sums is faster than a scan without them.
            weight: The weight of the other scores.
            groups: The numbers of the groups (:meth:`set_groups`) that contain all allowed chunks, so that no other
                rows need to be read. They do not change hits and scores.
            least: A score that at least ``count`` of the allowed chunks reach, float32[q], or -inf if unknown. It makes
                the scan faster, and does not change its result.
        """
        self.check()
        given: dict[str, Any] = {"beside": beside, "weight": float(weight), "groups": groups, "least": least}
        return native.scan_top(self._native, queries, count, allowed, threads=threads, **given)

    def set_groups(self, groups: npt.NDArray[np.int8]) -> None:
        """Set the group of each row, int8[rows], or -1 for none. Each row must be a chunk of its own.

        The rows of a group are then stored contiguously, as if each group had a scan of its own. A million nodes of
        five levels, for example, are stored document by document in the files. With groups, a search of the 5,423 nodes
        of the level "document" takes 0.2 ms instead of 2.1, and a search of the 185,718 nodes of the level "group" (of
        sentences) takes 5 ms instead of 24. Only the first call has an effect.
        """
        self._native.set_groups(np.ascontiguousarray(groups, np.int8))

    def score_chunks(self, query: F32, chunks: I64) -> tuple[F32, I64]:
        """Return (scores, best rows) of chunks, bit for bit as :meth:`top` does; 0 and -1 for a chunk without rows."""
        chosen = np.ascontiguousarray(chunks, np.int64)
        self._check_chunks(chosen)
        return self._native.score_chunks(query, chosen)

    def score_rows(self, query: F32, rows: I64) -> F32:
        """Return the scores of n rows, float32[n]. Each score depends only on its row and the query."""
        chosen = np.ascontiguousarray(rows, np.int64)
        self.check(chosen)
        return self._native.score_rows(query, chosen)
