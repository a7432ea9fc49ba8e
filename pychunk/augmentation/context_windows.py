"""Which chunks of a document are read: its ends, or those around one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


def ends(counts: I64, window: int) -> tuple[I64, I64]:
    """Of documents of so many chunks how many are read: (from the first on, up to the last).

    All where there are at most ``window``, else the first half of as many and the last, which is larger by one where
    the window is odd.

    >>> [each.tolist() for each in ends(np.array([1, 5, 6, 20]), 5)]
    [[1, 5, 2, 2], [0, 0, 3, 3]]
    """
    short = counts <= window
    return np.where(short, counts, window // 2), np.where(short, 0, window - window // 2)


def filled(sizes: Sequence[int], tokens: int) -> list[tuple[int, int]]:
    """(first, end) of windows that tile chunks of so many characters, as many each as so many tokens hold.

    A token is four characters, and each chunk takes four tokens more, for its number. One chunk at least is in each.

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
    """(first, end) of the chunks around those at some places in documents of so many chunks, themselves among them.

    Of ``window`` others half come before the chunk; at a document's borders the window is moved, not cut short. A
    document of at most ``window`` others is read whole.

    >>> [each.tolist() for each in around(np.full(7, 7), np.arange(7), 4)]
    [[0, 0, 0, 1, 2, 2, 2], [5, 5, 5, 6, 7, 7, 7]]
    """
    first = np.clip(places - window // 2, 0, np.maximum(0, counts - 1 - window))
    return first, np.minimum(first + window + 1, counts)
