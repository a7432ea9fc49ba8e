"""The chunks from which a context is made: a document's first and last ones, or those around a chunk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


def ends(counts: I64, window: int) -> tuple[I64, I64]:
    """Return for each document how many chunks are read at its beginning, and how many at its end.

    Args:
        counts: int64[k]: the number of chunks of each document.
        window: The most chunks that are read. If a document has more, half are read at its beginning and half at its
            end. If ``window`` is odd, one more is read at the end.

    >>> [each.tolist() for each in ends(np.array([1, 5, 6, 20]), 5)]
    [[1, 5, 2, 2], [0, 0, 3, 3]]
    """
    short = counts <= window
    return np.where(short, counts, window // 2), np.where(short, 0, window - window // 2)


def filled(sizes: Sequence[int], tokens: int) -> list[tuple[int, int]]:
    """Return the (first, end) of consecutive windows of chunks, each with as many chunks as fit into ``tokens``.

    A token is estimated as four characters, and each chunk takes four more tokens for its number. A window holds at
    least one chunk.

    Args:
        sizes: The characters of each chunk.
        tokens: The most tokens of a window.

    >>> filled([40, 40, 400, 4], 30)
    [(0, 2), (2, 3), (3, 4)]
    """
    found: list[tuple[int, int]] = []
    first = held = 0
    for place, size in enumerate(sizes):
        held += size // 4 + 4
        if held > tokens and place > first:
            found.append((first, place))
            first, held = place, size // 4 + 4
    return [*found, (first, len(sizes))] if len(sizes) else found


def around(counts: I64, places: I64, window: int) -> tuple[I64, I64]:
    """Return the (first, end) of the chunks around a chunk, including it.

    Half of the ``window`` other chunks come before the chunk. Near the start or end of a document, more of them come
    from the other side. If a document has at most ``window`` other chunks, all are read.

    Args:
        counts: int64[n]: the number of chunks of each chunk's document.
        places: int64[n]: the position of each chunk in its document.
        window: The number of other chunks.

    >>> [each.tolist() for each in around(np.full(7, 7), np.arange(7), 4)]
    [[0, 0, 0, 1, 2, 2, 2], [5, 5, 5, 6, 7, 7, 7]]
    """
    first = np.clip(places - window // 2, 0, np.maximum(0, counts - 1 - window))
    return first, np.minimum(first + window + 1, counts)
