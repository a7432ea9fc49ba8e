"""Levels of documents, computed node by node: the vectors of nodes, windows of tokens, trees and parents."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .topic import add_products, exponential, log_length
from .vectors import F32, dot, normalize

I64 = npt.NDArray[np.int64]
F = np.float32


def span_vectors(
    vectors: F32,
    weights: I64,
    doc_offsets: I64,
    levels: Sequence[tuple[I64, I64]],
    *,
    threads: int,
) -> list[F32]:
    """Return the vectors of the nodes of each level: weighted sums of the sentences' vectors, scaled to unit length.

    Vectors are added in order. If all sentences of a node have weight 0, they count equally.
    """
    return _each(lambda first, last: normalize(_sum(vectors, weights, first, last)), vectors.shape[1], levels)


def compressed_vectors(
    parts: Sequence[F32],
    vectors: F32,
    tokens: I64,
    doc_offsets: I64,
    levels: Sequence[tuple[I64, I64]],
    *,
    threads: int,
) -> list[F32]:
    """Return the vectors of the compression encoder in csrc/vectors/compressor.h, node by node."""

    def one(first: int, last: int) -> F32:
        return _compressed(parts, vectors[first:last], tokens[first:last])

    return _each(one, vectors.shape[1], levels)


def _each(one: Callable[[int, int], F32], dim: int, levels: Sequence[tuple[I64, I64]]) -> list[F32]:
    """Return float32[nodes, dim] for each level. ``one`` computes the vector of a node from its [first, last)."""
    out = []
    for firsts, lasts in levels:
        rows = np.zeros((len(firsts), dim), np.float32)
        for row, first, last in zip(rows, firsts, lasts, strict=True):
            row[:] = one(first, last)
        out.append(rows)
    return out


def _compressed(parts: Sequence[F32], vectors: F32, tokens: I64) -> F32:
    """Return the vector of one node."""
    queries, places, mix, down, up, bias = parts
    n, features = len(vectors), len(places) // 2
    size = F(log_length(n)) * F(0.25)
    weights = np.zeros(n, np.float32)
    for h, query in enumerate(queries):
        own = places[:features, h] + size * places[features:, h]
        scores = []
        for i, (x, t) in enumerate(zip(vectors, tokens.tolist(), strict=True)):
            length, place, near = F(log_length(t)) * F(0.25), F(i) / F(n), F(1) / (F(1) + F(i))
            told = (own[0] * length + own[1] * (length * length)) + (own[2] * place + own[3] * (place * place))
            scores.append(F(dot(query, x)) + (told + own[4] * near))
        each = [F(exponential(float(score - max(scores)))) for score in scores]
        total = F(0)
        for value in each:
            total = total + value
        weights = weights + mix[h] / total * np.array(each, np.float32)
    mean = np.zeros(vectors.shape[1], np.float32)
    for x, weight in zip(vectors, weights, strict=True):
        mean = mean + weight * x
    mean = normalize(mean)
    if not mean.any():
        return mean
    hidden, row = np.zeros((1, len(up)), np.float32), (mean + (bias[0] + size * bias[1]))[None]
    add_products(mean[None], down, hidden)
    add_products(hidden, up, row)
    return normalize(row[0])


def token_windows(tokens: I64, doc_offsets: I64, sizes: list[int]) -> list[I64]:
    """Return for each size the first sentences of consecutive windows, each with as many sentences as fit the size.

    ``sizes`` are numbers of tokens, in increasing order. Each window consists of windows of the size before.
    """
    out: list[I64] = []
    for size in sizes:
        made: list[int] = []
        for begin, end in pairwise(doc_offsets.tolist()):
            units = [s for s in (out[-1].tolist() if out else range(begin, end)) if begin <= s < end]
            held = 0
            for first, last in pairwise([*units, end]):
                own = int(tokens[first:last].sum())
                if first == begin or held + own > size:
                    made.append(first)
                    held = 0
                held += own
        out.append(np.array(made, np.int64))
    return out


def agglomerate(vectors: F32, weights: I64, doc_offsets: I64, first: I64, branching: int, *, threads: int) -> list[I64]:
    """Return the levels of the documents' trees, each as the first sentences of its nodes.

    Of all neighbouring nodes, the two with the highest cosine are joined first.
    """
    trees = []
    for begin, end in pairwise(doc_offsets.tolist()):
        nodes = [s for s in first[:-1].tolist() if begin <= s < end]
        sums = [_sum(vectors, weights, a, b) for a, b in pairwise([*nodes, end])]
        tree: list[list[int]] = []
        while len(nodes) > 1:
            wanted, held = -(-len(nodes) // branching), [1] * len(nodes)
            if len(nodes) <= branching:
                wanted = 1
            while len(nodes) > wanted:
                open_pairs = [i for i in range(len(nodes) - 1) if held[i] + held[i + 1] <= branching]
                if not open_pairs:
                    break
                best = min(open_pairs, key=lambda i: (-_cosine(sums[i], sums[i + 1]), i)) if wanted > 1 else 0
                sums[best] = sums[best] + sums[best + 1]
                held[best] += held[best + 1]
                del nodes[best + 1], sums[best + 1], held[best + 1]
            tree.append(list(nodes))
        trees.append(tree)
    depth = max(map(len, trees), default=0)
    filled = [
        (tree, [begin]) for tree, begin, end in zip(trees, doc_offsets, doc_offsets[1:], strict=False) if begin < end
    ]
    return [
        np.array([s for tree, root in filled for s in (tree[level] if level < len(tree) else root)], np.int64)
        for level in range(depth)
    ]


def _sum(vectors: F32, weights: I64, first: int, last: int) -> F32:
    total = np.zeros(vectors.shape[1], np.float32)
    weighs = any(weights[first:last])
    for s in range(first, last):
        total = total + np.float32(weights[s] if weighs else 1) * vectors[s]
    return total


def _cosine(a: F32, b: F32) -> float:
    lengths = math.sqrt(dot(a, a) * dot(b, b))
    return dot(a, b) / lengths if lengths > 0 else 0.0


def section_levels(headings: Sequence[tuple[int, int]]) -> tuple[set[int], set[int]]:
    """Return the first sentences of one document's sections, and of its sections and subsections together.

    ``headings`` holds the (first sentence, level) of each heading.
    """
    known = sorted({level for _, level in headings})
    if not known:
        return set(), set()
    titled = len(known) > 1 and headings[0][1] == known[0] and [level for _, level in headings].count(known[0]) == 1
    sections = known[1] if titled else known[0]
    below = next((level for level in known if level > sections), 99)
    return (
        {first for first, level in headings if level <= sections},
        {first for first, level in headings if level <= below},
    )


def nodes_of(starts: Sequence[set[int]], count: int) -> list[dict[str, Any]]:
    """Return the nodes of a document of ``count`` sentences, from the finest level to the coarsest.

    ``starts`` holds the first sentences of the nodes of each level, from fine to coarse. A boundary of a coarser level
    also cuts the nodes of finer levels. A span that is a node of several levels is returned once. Each node has its
    ``span`` of sentences, its ``lowest`` and ``highest`` level, and the span of its ``parent``.
    """
    cut = [set().union({0}, *starts[level:]) for level in range(len(starts))]
    spans = [list(pairwise([*sorted(each), count])) if count else [] for each in cut]
    found: dict[tuple[int, int], list[int]] = {}
    for level, each in enumerate(spans):
        for span in each:
            found.setdefault(span, []).append(level)
    out = []
    for span, at in sorted(found.items(), key=lambda item: (item[1][0], item[0])):
        above = [
            other for level in range(at[-1] + 1, len(spans)) for other in spans[level] if other[0] <= span[0] < other[1]
        ]
        out.append({"span": span, "lowest": at[0], "highest": at[-1], "parent": above[0] if above else None})
    return out
