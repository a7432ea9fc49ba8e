"""The partition with the highest similarity inside chunks, found by dynamic programming over exact integers."""

from __future__ import annotations

from collections.abc import Sequence

from .search.thresholds import fixed_point
from .vectors import F32, dot


def optimal_partition(vectors: F32, tokens: Sequence[int], max_tokens: int) -> list[int]:
    """Return the first sentences of the chunks of the best partition into chunks of up to ``max_tokens`` tokens.

    The best partition maximizes the sum of s(a, b) - m over all pairs of sentences a and b in the same chunk. s is
    their cosine, and m the mean cosine of all pairs that fit into a chunk.
    """
    n = len(vectors)

    def fits(i: int, j: int) -> bool:
        return i == j or not max_tokens or sum(tokens[i : j + 1]) <= max_tokens

    scores = {(a, b): fixed_point(dot(vectors[a], vectors[b])) for b in range(n) for a in range(b) if fits(a, b)}
    count, total = len(scores), sum(scores.values())
    best, first = [0], []
    for j in range(n):
        options = []
        for i in range(j, -1, -1):
            if not fits(i, j):
                break
            inside = sum(scores[a, b] * count - total for b in range(i, j + 1) for a in range(i, b))
            options.append((best[i] + inside, -i))
        value, start = max(options)
        best.append(value)
        first.append(-start)
    found, j = [], n - 1
    while j >= 0:
        found.append(first[j])
        j = first[j] - 1
    return found[::-1]
