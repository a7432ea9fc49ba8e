"""The tables that are found by the lines drawn around their cells."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    F64 = npt.NDArray[np.float64]

#: The greatest thickness and the minimum length of a line, in points.
_THICK, _LONG = 2.5, 8.0
#: The greatest distance between lines that meet, in points. Parallel lines up to twice as far apart count as one.
_NEAR = 3.0
#: The maximum number of lines of one direction that are checked.
_MOST = 600


class Grid(NamedTuple):
    """The borders of a table's columns and rows, ascending, in points from the page's top left."""

    columns: list[float]
    rows: list[float]

    def cell(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the (row, column) of the cell at a position, both from 0; None if it is outside the table."""
        row, column = bisect_right(self.rows, y) - 1, bisect_right(self.columns, x) - 1
        inside = 0 <= row < len(self.rows) - 1 and 0 <= column < len(self.columns) - 1
        return (row, column) if inside else None


def uprights_of(drawn: F64) -> F64:
    """Return the upright lines among drawn shapes, as float64[n, 3]: x, top and bottom.

    ``drawn`` holds the shapes' boxes, float64[m, 4]. A thin box is one line; a larger box has a line at its left side
    and one at its right side.
    """
    wide, high = drawn[:, 2] - drawn[:, 0], drawn[:, 3] - drawn[:, 1]
    thin = (wide <= _THICK) & (high >= _LONG)
    box = (wide >= _LONG) & (high >= _LONG)
    found = [
        np.stack(((drawn[thin, 0] + drawn[thin, 2]) / 2, drawn[thin, 1], drawn[thin, 3]), 1),
        drawn[box][:, [0, 1, 3]],
        drawn[box][:, [2, 1, 3]],
    ]
    return np.concatenate(found)[:_MOST]


def grids_of(drawn: F64) -> list[Grid]:
    """Return the grids of drawn lines that meet each other and enclose at least two rows and two columns.

    Example:
        >>> lines = [(x, 0, x, 40) for x in (0, 50, 100)] + [(0, y, 100, y) for y in (0, 20, 40)]
        >>> grids_of(np.array(lines, float))
        [Grid(columns=[0.0, 50.0, 100.0], rows=[0.0, 20.0, 40.0])]
    """
    if len(drawn) < 2:
        return []
    upright, level = uprights_of(drawn), uprights_of(drawn[:, [1, 0, 3, 2]])
    if not len(upright) or not len(level):
        return []
    x, top, bottom = upright.T[:, :, None]
    y, left, right = level.T[:, None, :]
    meet = (left - _NEAR <= x) & (x <= right + _NEAR) & (top - _NEAR <= y) & (y <= bottom + _NEAR)
    found = []
    for some, others in _together(meet):
        columns = _borders(upright[some, 0], level[others, 1].min(), level[others, 2].max())
        rows = _borders(level[others, 0], upright[some, 1].min(), upright[some, 2].max())
        if len(columns) > 2 and len(rows) > 2:
            found.append(Grid(columns, rows))
    return found


def _together(meet: npt.NDArray[np.bool_]) -> list[tuple[Sequence[int], Sequence[int]]]:
    """Return the groups of upright and level lines that meet directly or through other lines."""
    left = set(range(len(meet)))
    found: list[tuple[Sequence[int], Sequence[int]]] = []
    while left:
        uprights, levels = [left.pop()], np.zeros(meet.shape[1], bool)
        waiting = list(uprights)
        while waiting:
            new = meet[waiting.pop()] & ~levels
            levels |= new
            more: Any = np.flatnonzero(meet[:, new].any(axis=1)).tolist() if new.any() else []
            more = [each for each in more if each in left]
            left.difference_update(more)
            uprights += more
            waiting += more
        if levels.any():
            found.append((sorted(uprights), np.flatnonzero(levels).tolist()))
    return found


def _borders(places: F64, least: float, most: float) -> list[float]:
    """Return the borders, ascending: positions of lines, and ``least`` and ``most``, the ends of the crossing lines.

    Of positions that are near to each other, only the first counts.
    """
    borders: list[float] = []
    for place in sorted([*places.tolist(), float(least), float(most)]):
        if not borders or place - borders[-1] > 2 * _NEAR:
            borders.append(place)
    return borders
