"""Product quantization in NumPy: codes of half a byte for each piece of a vector, and the best rows by these codes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
U8 = npt.NDArray[np.uint8]


def codes(vectors: F32, centroids: F32) -> U8:
    """Return the number of the nearest centroid of each piece, uint8[n, pieces].

    ``centroids`` is [pieces, 16, width]. If several centroids are equally near, it is the first of them.
    """
    pieces, _, width = centroids.shape
    own = np.zeros((len(vectors), pieces * width), np.float32)
    kept = min(own.shape[1], vectors.shape[1])
    own[:, :kept] = vectors[:, :kept]
    squares = np.zeros((pieces, 16), np.float32)
    for c in range(width):
        squares += centroids[:, :, c] * centroids[:, :, c]
    scores = np.broadcast_to(np.float32(-0.5) * squares, (len(vectors), pieces, 16)).astype(np.float32)
    for c in range(width):
        scores += own.reshape(-1, pieces, width)[:, :, c, None] * centroids[:, :, c]
    found: U8 = scores.argmax(axis=2).astype(np.uint8)
    return found


def packed(found: U8) -> U8:
    """Return the codes ``found`` as they are stored: in groups of 32 rows, uint8[groups, pieces, 16].

    Rows 0 to 15 of a group are in the lower halves of the bytes, rows 16 to 31 in the upper halves. The number of
    pieces is rounded up to a multiple of four.
    """
    rows, pieces = found.shape
    every = np.zeros((-(-rows // 32) * 32, -(-pieces // 4) * 4), np.uint8)
    every[:rows, :pieces] = found
    groups = every.reshape(-1, 2, 16, every.shape[1]).transpose(0, 1, 3, 2)
    return np.ascontiguousarray(groups[:, 0] | groups[:, 1] << 4)


def tables(query: F32, centroids: F32) -> U8:
    """Return the scores of a query with all centroids, quantized to uint8[pieces, 16].

    0 is the lowest score of each piece. The piece with the widest range of scores reaches 255, and all pieces have the
    same unit.
    """
    pieces, _, width = centroids.shape
    own = np.zeros(pieces * width, np.float32)
    own[: min(len(own), len(query))] = query[: len(own)]
    scores = np.zeros((pieces, 16), np.float32)
    for c in range(width):
        scores += own.reshape(pieces, width)[:, c, None] * centroids[:, :, c]
    scores -= scores.min(axis=1, keepdims=True)
    widest = scores.max()
    unit = widest / np.float32(255) if widest > 0 else np.float32(1)
    found: U8 = np.minimum(np.float32(255), scores / unit + np.float32(0.5)).astype(np.uint8)
    return found


def best(found: U8, centroids: F32, query: F32, count: int, allowed: npt.NDArray[np.bool_] | None = None) -> list[int]:
    """Return the rows with the highest scores by their codes, best first.

    Rows with equal scores are in the order of their numbers.
    """
    own = tables(query, centroids)
    scores = own[np.arange(len(own)), found].sum(axis=1, dtype=np.int64)
    rows = np.arange(len(found)) if allowed is None else np.flatnonzero(allowed)
    order = np.lexsort((rows, -scores[rows]))[:count]
    chosen: list[int] = rows[order].tolist()
    return chosen
