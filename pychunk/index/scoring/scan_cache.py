"""The best rows of a level by cosine, looked for once by a planner's first pass and the search that it plans.

Both read the vectors of all sentences: the pass for the best by cosine and BM25 together, the search for more of them
by cosine alone. The latter say the former: a row that is not among them has at most the last one's cosine, so that it
needs a BM25 which few rows have (:func:`by_sums`). Of 742,072 sentences a scan takes 12 ms of the processor for the 32
best sums and as long for the 257 best cosines; of thirty queries the sums call for 3 to 370 rows more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .fusion import F32, I64, RankedChunks, order

if TYPE_CHECKING:
    from ..dense.scan import VectorScan
    from .scorers import Mask

#: Rows beside the best by cosine that are scored one by one; more are left to a scan, which takes as long for all.
MOST = 16_384
#: Rows of good documents that say, at most, where the scan of all sentences begins. Of 32 documents' 2,000 to 8,000
#: sentences the 257th best is .02 to .09 below that of all: 9.5 ms of the processor in the place of 11.2, and 7.0 if it
#: were known. The sentences with the best BM25, .1 and more below, bring nothing.
INSIDE = 16_384
#: Rows that are kept for the queries of a call at most: 48 MB.
KEPT = 1 << 22

#: Among so many rows other levels differ, so that the others need not be looked at.
_DIFFERENT = 1024

#: Of a query the best rows: how many were asked for, their scores, best first, and they themselves.
Best = tuple[int, F32, I64]


@dataclass
class ScanCache:
    """What was found for queries that are known by the bits of their vectors.

    Attributes:
        allowed: bool[rows] among which it was looked for.
    """

    allowed: Mask
    _found: dict[bytes, Best] = field(default_factory=dict)

    def keep(self, vectors: F32, found: Sequence[Best]) -> None:
        """The best rows of vectors float32[q, dim]."""
        self._found.update(zip((vector.tobytes() for vector in vectors), found, strict=True))

    def of(self, vectors: F32, allowed: Mask | None) -> list[Best] | None:
        """Of each vector, if all are known and the same rows are allowed."""
        found = [self._found.get(vector.tobytes()) for vector in vectors]
        known = [each for each in found if each is not None]
        if allowed is None or not known or len(known) < len(found):
            return None
        same = allowed is self.allowed or all(
            np.array_equal(allowed[:end], self.allowed[:end]) for end in (_DIFFERENT, None)
        )
        return known if same else None


def by_sums(
    scan: VectorScan,
    query: F32,
    best: Best,
    sparse: F32,
    weight: float,
    count: int,
    allowed: Mask | None,
    most: int = MOST,
) -> RankedChunks | None:
    """The ``count`` best rows by cosine plus ``weight`` times BM25, of equals the first; None where a scan is sooner.

    What ``scan.top(query, count, allowed, beside=sparse, weight=weight)`` finds, bit for bit: no row that is left out
    has more than the last cosine, and rounding keeps what is less from becoming more.

    Args:
        best: the best rows that are allowed by cosine alone. sparse: float32[rows], BM25. most: rows to score besides.

    Example:
        >>> from pychunk.index.dense.scan import VectorScan
        >>> scan, query = VectorScan([np.eye(3, dtype=np.float32)], 3), np.array([0.8, 0.6, 0], np.float32)
        >>> best = (1, np.array([0.8], np.float32), np.array([0]))
        >>> by_sums(scan, query, best, np.array([0.1, 0.5, 0], np.float32), 1.0, 1, None).chunks.tolist()
        [1]
    """
    asked, scores, rows = best
    times, whole = np.float32(weight), len(rows) < asked
    sums = scores + times * sparse[rows]
    more = np.empty(0, np.int64)
    if not whole:
        if len(rows) < count:
            return None
        least = np.partition(sums, len(sums) - count)[len(sums) - count]
        could = _could(sparse, times, scores[-1], least)
        if could is None:
            return None
        more = could if allowed is None else could[allowed[could]]
        ordered = np.sort(rows)
        more = more[ordered[np.minimum(np.searchsorted(ordered, more), len(ordered) - 1)] != more]
        if len(more) > most:
            return None
    if len(more):
        cosines = scan.score_rows(query, more)
        rows, scores = np.concatenate([rows, more]), np.concatenate([scores, cosines])
        sums = np.concatenate([sums, cosines + times * sparse[more]])
    chosen = order(sums, rows)[:count]
    return RankedChunks(rows[chosen], sums[chosen], [scores[chosen], sparse[rows[chosen]]])


def _could(sparse: F32, times: np.float32, most: np.float32, least: np.float32) -> I64 | None:
    """Rows whose BM25 makes ``least`` with a cosine of ``most``; None where even rows without any might."""
    if not times > 0:
        return None
    needed = (float(least) - float(most)) / float(times)
    near = needed - 1e-6 * (1.0 + abs(needed) + (abs(float(least)) + abs(float(most))) / float(times))
    if near <= 0:
        return None
    found: I64 = np.flatnonzero(sparse >= np.float32(near))
    kept: I64 = found[most + times * sparse[found] >= least]
    return kept
