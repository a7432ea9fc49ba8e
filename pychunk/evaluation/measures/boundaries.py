"""Measures of the agreement of segment boundaries with a reference: Pk, WindowDiff, boundary F1.

A document has n units, usually sentences. A boundary is the number of the unit that begins a segment, from 1 to n - 1.
The beginning of the document is not a boundary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


class BoundaryScores(NamedTuple):
    """The precision, recall and F1 of boundaries."""

    precision: float
    recall: float
    f1: float


def in_units(positions: npt.ArrayLike, unit_starts: npt.ArrayLike) -> I64:
    """Return the boundaries, as units, of segments that begin at ``positions``; both arguments in characters, int[...].

    A segment that begins inside a unit counts as beginning with that unit. Unit 0 is left out.

    Example:
        >>> in_units([0, 40, 95], unit_starts=[0, 20, 40, 80])
        array([2, 3])
    """
    starts = np.asarray(unit_starts, np.int64)
    units = np.unique(np.searchsorted(starts, np.asarray(positions, np.int64), side="right") - 1)
    return units[units > 0]


def window_size(reference: npt.ArrayLike, units: int) -> int:
    """Return half the mean length of a reference segment in units, rounded, and at least 1."""
    return max(1, round(units / (2 * (len(_checked(reference, units, "reference")) + 1))))


def pk(reference: npt.ArrayLike, hypothesis: npt.ArrayLike, units: int, *, window: int | None = None) -> float:
    """Return Pk, the share of pairs of units on which reference and hypothesis disagree; 0 is best.

    The units of a pair are ``window`` apart. They disagree on a pair if only one of them has both units in the same
    segment. ``window=None`` is :func:`window_size` of the reference. A document of one unit has no pair and scores 0.

    Example:
        >>> pk([2], [3], units=4, window=1)
        0.6666666666666666

    Source: Beeferman, Berger and Lafferty, "Statistical models for text segmentation" (1999).
    """
    expected, found = _crossed(reference, hypothesis, units, window)
    return _share((expected > 0) != (found > 0))


def window_diff(reference: npt.ArrayLike, hypothesis: npt.ArrayLike, units: int, *, window: int | None = None) -> float:
    """Return WindowDiff, the share of windows in which the numbers of boundaries differ; 0 is best.

    It compares the numbers of boundaries that reference and hypothesis have in each window of ``window`` units. Unlike
    :func:`pk`, it also counts a surplus boundary in a window that already has one.

    Example:
        >>> window_diff([2], [2, 3], units=5, window=2)
        0.6666666666666666

    Source: Pevzner and Hearst, "A critique and improvement of an evaluation metric for text segmentation" (2002).
    """
    expected, found = _crossed(reference, hypothesis, units, window)
    return _share(expected != found)


def boundary_f1(
    reference: npt.ArrayLike, hypothesis: npt.ArrayLike, units: int, *, tolerance: int = 0
) -> BoundaryScores:
    """Return precision, recall and F1 of hypothesised boundaries, each matched with at most one reference boundary.

    A match is at most ``tolerance`` units away, and the number of matches is the largest possible. If neither side has
    a boundary, all three values are 1. If only one side has boundaries, all are 0.

    Example:
        >>> boundary_f1([3, 6], [3, 7, 9], units=10, tolerance=1)
        BoundaryScores(precision=0.6666666666666666, recall=1.0, f1=0.8)
    """
    if tolerance < 0:
        raise ValueError(f"tolerance must not be negative; got {tolerance}")
    expected, found = _checked(reference, units, "reference"), _checked(hypothesis, units, "hypothesis")
    if not len(expected) and not len(found):
        return BoundaryScores(1.0, 1.0, 1.0)
    # Both are sorted and have one tolerance, so matching the first two that are near enough never costs a later match.
    i = j = matches = 0
    while i < len(expected) and j < len(found):
        if abs(expected[i] - found[j]) <= tolerance:
            i, j, matches = i + 1, j + 1, matches + 1
        elif expected[i] < found[j]:
            i += 1
        else:
            j += 1
    return BoundaryScores(
        matches / max(1, len(found)), matches / max(1, len(expected)), 2 * matches / (len(expected) + len(found))
    )


def _checked(boundaries: npt.ArrayLike, units: int, name: str) -> I64:
    """Return the boundaries, sorted and without duplicates."""
    if units < 1:
        raise ValueError(f"units must be at least 1; got {units}")
    found = np.unique(np.asarray(boundaries, np.int64))
    outside = found[(found < 1) | (found >= units)]
    if len(outside):
        raise ValueError(f"{name} boundaries must be from 1 to units - 1 ({units - 1}); got {outside[0]}")
    return found


def _crossed(reference: npt.ArrayLike, hypothesis: npt.ArrayLike, units: int, window: int | None) -> tuple[I64, I64]:
    """Return the number of boundaries of each side between unit i and unit i + window, int64[units - window]."""
    if window is None:
        window = window_size(reference, units)
    elif not 1 <= window < max(units, 2):
        most = f"units - 1 ({units - 1})" if units > 1 else "1"
        raise ValueError(f"window must be from 1 to {most}; got {window}")
    counts = []
    for name, boundaries in (("reference", reference), ("hypothesis", hypothesis)):
        segment = np.zeros(units, np.int64)  # the segment of each unit
        segment[_checked(boundaries, units, name)] = 1
        segment = segment.cumsum()
        counts.append(segment[window:] - segment[:-window])
    return counts[0], counts[1]


def _share(wrong: npt.NDArray[np.bool_]) -> float:
    return float(wrong.mean()) if len(wrong) else 0.0
