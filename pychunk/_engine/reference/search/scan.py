"""Exact search over the stored vectors of an index. Every row is scored, and a chunk has the score of its best row."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]


def products(rows: npt.NDArray[Any], query: F32) -> F32:
    """Return the dot product of each row with a query, float32[n], bit for bit as :func:`..vectors.dot` computes it.

    Rows are float16 or float32 [n, dim], or int8 [n, dim + 4]. An int8 row holds integers, and in its last 4 bytes a
    float32 by which the product is multiplied.
    """
    if rows.dtype == np.int8:
        scales = np.ascontiguousarray(rows[:, -4:]).view(np.float32)[:, 0]
        return products(rows[:, :-4].astype(np.float32), query) * scales
    size = -(-rows.shape[1] // 32) * 32
    padded = np.zeros((len(rows), size), np.float32)
    padded[:, : rows.shape[1]] = rows.astype(np.float32) * query.astype(np.float32)
    lanes = np.zeros((len(rows), 32), np.float32)
    for first in range(0, size, 32):
        lanes = lanes + padded[:, first : first + 32]
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    return lanes[:, 0]


def chunk_scores(rows: npt.NDArray[Any], offsets: I64, query: F32) -> tuple[F32, I64]:
    """Return for each chunk the (score, number) of its best row.

    If several rows have the best score, it is the first of them. A chunk without rows has score 0 and row -1.
    """
    scores = products(rows, query)
    best = [a + int(scores[a:b].argmax()) if b > a else -1 for a, b in pairwise(offsets)]
    return np.array([scores[row] if row >= 0 else 0 for row in best], np.float32), np.array(best, np.int64)


def top(
    rows: npt.NDArray[Any],
    offsets: I64,
    query: F32,
    count: int,
    allowed: npt.NDArray[np.bool_] | None = None,
    beside: F32 | None = None,
    weight: float = 1.0,
) -> tuple[F32, I64, I64]:
    """Return (scores, chunks, best rows) of the ``count`` best chunks that have rows.

    Chunks with equal scores are in the order of their numbers. With ``beside``, float32[chunks], ``weight`` times these
    scores is added. A chunk without rows then also counts if its score in ``beside`` is above 0.
    """
    scores, best = chunk_scores(rows, offsets, query)
    there = best >= 0
    if beside is not None:
        there |= beside > 0
        scores = scores + np.float32(weight) * beside
    chunks = np.flatnonzero(there if allowed is None else there & allowed)
    found = chunks[np.lexsort((chunks, -scores[chunks]))][:count]
    return scores[found], found, best[found]
