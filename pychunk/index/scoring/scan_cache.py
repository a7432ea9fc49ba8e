"""A cache of the best rows of a level by cosine, for a planner's first pass and the search that it plans.

Both read the vectors of all sentences. The first pass needs the best rows by the sum of cosine and BM25. The search
needs the best rows by cosine alone, and more of them. The best sums can be computed from the best cosines: a row that
is not among the best cosines has at most the lowest of these, so it needs a BM25 score that few rows have
(:func:`by_sums`).

With 742,072 sentences, a scan takes 12 ms of CPU time for the 32 best sums, and as long for the 257 best cosines. For
thirty queries, computing the sums from the cosines needed 3 to 370 further rows.
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

#: The most rows, in addition to the best by cosine, that are scored one by one. If there are more, a scan is used
#: instead, which takes equally long for any number.
MOST = 16_384
#: The most rows of good documents that are scored first, to give the scan of all sentences a lower limit to start from.
#: Among the 2,000 to 8,000 sentences of 32 documents, the 257th best cosine is 0.02 to 0.09 below the 257th best of all
#: sentences. Starting from it, the scan takes 9.5 ms of CPU time instead of 11.2; if the right limit were known, it
#: would take 7.0. Sentences with the best BM25 give a limit that is 0.1 and more too low, which gains nothing.
INSIDE = 16_384
#: The most rows that are cached for all queries of a call: 48 MB.
KEPT = 1 << 22

#: The masks of two levels differ already within this number of first rows, so that comparing these first saves time.
_DIFFERENT = 1024

#: The best rows of a query: (the number of rows requested; their scores, best first; the rows).
Best = tuple[int, F32, I64]


@dataclass
class ScanCache:
    """A cache of the rows found for queries, which are identified by the bits of their vectors.

    Attributes:
        allowed: The rows that were searched, bool[rows].
    """

    allowed: Mask
    _found: dict[bytes, Best] = field(default_factory=dict)

    def keep(self, vectors: F32, found: Sequence[Best]) -> None:
        """Store the best rows for each of the vectors of q queries, float32[q, dim]."""
        self._found.update(zip((vector.tobytes() for vector in vectors), found, strict=True))

    def of(self, vectors: F32, allowed: Mask | None) -> list[Best] | None:
        """Return the best rows of each vector, or None unless all are cached and the same rows are allowed."""
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
    """Return the ``count`` best rows by cosine plus ``weight`` times BM25, or None if a scan is faster.

    Of rows with equal sums, the first ones are returned. The result is the same, bit for bit, as that of
    ``scan.top(query, count, allowed, beside=sparse, weight=weight)``. The reason is that the cosine of any other row is
    at most the lowest in ``best``, and that rounding never reverses an order.

    Args:
        scan: The scan that computes cosines.
        query: The unit vector of the query, float32[dim].
        best: The best allowed rows by cosine alone.
        sparse: The BM25 scores, float32[rows].
        weight: The weight of BM25.
        count: The number of rows to return.
        allowed: The rows that may be found, bool[rows]. None: all.
        most: The most rows to score in addition to those of ``best``.

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
    """Return the rows whose sum is at least ``least`` if their cosine is ``most``.

    The result is None if even rows with a BM25 score of 0 may reach that sum. ``times`` is the weight of BM25.
    """
    if not times > 0:
        return None
    needed = (float(least) - float(most)) / float(times)
    near = needed - 1e-6 * (1.0 + abs(needed) + (abs(float(least)) + abs(float(most))) / float(times))
    if near <= 0:
        return None
    found: I64 = np.flatnonzero(sparse >= np.float32(near))
    kept: I64 = found[most + times * sparse[found] >= least]
    return kept
