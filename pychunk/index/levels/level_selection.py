"""The levels that a search asks for, and nodes that do not hold one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..scoring.scorers import Mask

    I64 = npt.NDArray[np.int64]


def between(levels: Any, known: Mapping[str, Mask]) -> list[str]:
    """The levels of an index from one to another, or the one that is named.

    Raises:
        ValueError: the index has no levels, or not these; or the first is coarser than the last.
    """
    if not known:
        raise ValueError(
            "levels= is for an index of levels: make one by pychunk index --levels, or add what "
            "pychunk.Hierarchy.chunks() gives"
        )
    pair = (levels, levels) if isinstance(levels, (str, int)) and not isinstance(levels, bool) else levels
    if not isinstance(pair, Sequence) or len(pair) != 2:
        raise ValueError(f"levels must be one level, or the finest and the coarsest; got {levels!r}")
    names = list(known)
    for level in pair:
        if isinstance(level, bool) or str(level) not in names:
            raise ValueError(f"no level {level!r} in this index; there are {', '.join(names)}")
    low, high = (names.index(str(level)) for level in pair)
    if low > high:
        raise ValueError(f"levels must be the finest first, of {', '.join(names)}; got {pair[0]}, {pair[1]}")
    return names[low : high + 1]


def apart(document: I64, start: I64, end: I64) -> I64:
    """Places of ranked rows that hold none before them, nor lie in one: of those the first stays."""
    chosen: list[int] = []
    taken: dict[int, list[tuple[int, int]]] = {}
    for place, (of, first, last) in enumerate(zip(document.tolist(), start.tolist(), end.tolist(), strict=True)):
        own = taken.setdefault(of, [])
        if all(last <= begin or finish <= first for begin, finish in own):
            own.append((first, last))
            chosen.append(place)
    return np.array(chosen, np.int64)
