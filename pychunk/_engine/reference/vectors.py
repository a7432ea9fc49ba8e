"""Sentence vectors and their cosines in float32, with the order of operations on which the engine's results depend."""

from __future__ import annotations

import math
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt

from ..data.models import PairHead
from .hashing import hash128, random_words

F32 = npt.NDArray[np.float32]


def _f32(values: npt.ArrayLike) -> F32:
    return np.asarray(values, dtype=np.float32)


def dot(a: F32, b: F32) -> float:
    """Return the dot product of two vectors, added in a fixed order.

    There are 32 partial sums, called lanes. Lane i adds the products i, i + 32, i + 64 and so on, in order. Then the
    upper half of the lanes is added to the lower half, until one lane is left.
    """
    size = -(-len(a) // 32) * 32
    products = np.zeros(size, np.float32)
    products[: len(a)] = a.astype(np.float32) * b.astype(np.float32)
    lanes = _f32(np.zeros(32))
    for row in products.reshape(-1, 32):
        lanes = lanes + row
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return float(lanes[0])


def normalize(x: F32) -> F32:
    """Return x / |x|. Zero stays zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = dot(x, x)
    if not float(np.float32(1e-30)) < squares < float(np.float32(1e30)):
        largest = float(np.abs(x).max()) if len(x) else 0.0
        if largest == 0.0:
            return x
        x = np.ldexp(x, -math.frexp(largest)[1] + 1).astype(np.float32)
        squares = dot(x, x)
    return _f32(x * np.float32(1.0 / math.sqrt(squares)))


def bag(table: npt.NDArray[np.int8], ids: list[int]) -> F32:
    """Return the sum of rows of a table, scaled to unit length.

    The rows' integers are added exactly. Only the scaling is in float32.
    """
    sums = table[ids].astype(np.int64).sum(axis=0) if ids else np.zeros(table.shape[1], np.int64)
    squares = int((sums * sums).sum())
    if squares == 0:
        return np.zeros(table.shape[1], np.float32)
    return _f32(sums.astype(np.float32) * np.float32(1.0 / math.sqrt(float(squares))))


def next_probabilities(head: PairHead, vectors: F32) -> F32:
    """Return the probability that each sentence follows the sentence before it, float32[n - 1].

    csrc/vectors/nsp_head.h describes the network.
    """
    out = []
    for u, v in pairwise(vectors):
        parts = [
            [dot(row, x) for row in matrix] for matrix, x in ((head.first, u), (head.second, v), (head.product, u * v))
        ]
        hidden = np.zeros(len(head.bias), np.float32)
        for part in (*map(_f32, parts), head.bias):
            hidden = hidden + part
        logit = np.float32(dot(np.maximum(hidden, np.float32(0)), head.out)) + np.float32(head.out_bias)
        out.append(1.0 / (1.0 + math.exp(-float(logit))))
    return _f32(np.array(out))


def total(vectors: F32) -> F32:
    """Return the sum of rows. Blocks of 256 rows are added in order, and then the sums of the blocks are added."""
    out = np.zeros(vectors.shape[1], np.float32)
    for first in range(0, len(vectors), 256):
        partial = np.zeros_like(out)
        for row in vectors[first : first + 256]:
            partial = partial + row
        out = out + partial
    return out


def adjacent(vectors: F32, window: int = 1) -> F32:
    """Return the cosine of the two sentences at each boundary, float32[n - 1].

    With a ``window`` above 1, it is the cosine of the sums of that many vectors on either side of the boundary.
    """
    n = len(vectors)
    if window == 1:
        return np.array([dot(vectors[i], vectors[i + 1]) for i in range(n - 1)], np.float32)
    cosines = []
    for i in range(n - 1):
        left, right = vectors[max(0, i + 1 - window) : i + 1], vectors[i + 1 : i + 1 + window]
        cosines.append(dot(normalize(total(left)), normalize(total(right))))
    return np.array(cosines, np.float32)


def summary_vector(source: str, vectors: F32, paragraph_starts: list[bool], text: str) -> tuple[F32, list[int]]:
    """Return the vector of a document's summary, and the numbers of the sentences of which it consists, if any."""
    n = len(vectors)
    seed = hash128(text.encode())[0]
    if source == "mean":
        return normalize(total(vectors)), []
    if source == "lead":
        end = next((i for i in range(1, n) if paragraph_starts[i]), n)
        return normalize(total(vectors[:end])), list(range(end))
    if source == "sentence":
        drawn = next(random_words(seed)) % n
        return _f32(vectors[drawn]), [drawn]
    if source == "random":
        words = islice(random_words(seed), vectors.shape[1])
        sums = [sum(word >> shift & 0xFFFF for shift in (0, 16, 32, 48)) - 131070 for word in words]
        return normalize(np.array(sums, np.float32)), []
    mean = normalize(total(vectors))
    chosen: list[int] = []
    for _ in range(min(5, 1 + n // 20)):
        scores = {}
        for i in set(range(n)) - set(chosen):
            score = np.float32(dot(vectors[i], mean))
            if chosen:
                score -= np.float32(0.5 * max(dot(vectors[i], vectors[c]) for c in chosen))
            scores[i] = score
        chosen.append(min(scores, key=lambda i: (-scores[i], i)))
    return normalize(total(vectors[chosen])), sorted(chosen)
