"""The selection of the levels that a search uses, and of nodes that are not nested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..scoring.scorers import Mask

    I64 = npt.NDArray[np.int64]


def between(levels: Any, known: Mapping[str, Mask]) -> list[str]:
    """Return the names of the levels that ``levels`` chooses: one level, or all from the finest to the coarsest.

    Args:
        levels: One level, or a pair of the finest and the coarsest level.
        known: The levels of the index, from fine to coarse.

    Raises:
        ValueError: The index has no levels or lacks a requested level, or the first level of a pair is the coarser one.
    """
    if not known:
        raise ValueError(
            f"levels= needs an index of levels, and this one has none; got {levels!r:.80}: make one with pychunk index "
            "--levels, or add the result of pychunk.Hierarchy.chunks()"
        )
    pair = (levels, levels) if isinstance(levels, (str, int)) and not isinstance(levels, bool) else levels
    if not isinstance(pair, Sequence) or len(pair) != 2:
        raise ValueError(f"levels must be one level, or a pair of the finest and the coarsest; got {levels!r:.80}")
    names = list(known)
    for level in pair:
        if isinstance(level, bool) or str(level) not in names:
            raise ValueError(f"no level {level!r} in this index; name one of {', '.join(names)}")
    low, high = (names.index(str(level)) for level in pair)
    if low > high:
        raise ValueError(f"levels must have the finer first, in the order {', '.join(names)}; got {pair[0]}, {pair[1]}")
    return names[low : high + 1]


def apart(document: I64, start: I64, end: I64) -> I64:
    """Return the positions of the rows that share no character with an earlier chosen row of the same document.

    ``document``, ``start`` and ``end`` describe the rows in the order of their ranks, int64[n].
    """
    chosen: list[int] = []
    taken: dict[int, list[tuple[int, int]]] = {}
    for place, (of, first, last) in enumerate(zip(document.tolist(), start.tolist(), end.tolist(), strict=True)):
        own = taken.setdefault(of, [])
        if all(last <= begin or finish <= first for begin, finish in own):
            own.append((first, last))
            chosen.append(place)
    return np.array(chosen, np.int64)
