"""The thresholds by which methods cut, computed from the scores of a document."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
UNIT = 2.0**-32


def fixed_point(score: np.float32 | float) -> int:
    """Return a score in units of 2**-32, rounded to an integer; halves are rounded to even."""
    return round(Fraction(float(score)) * 2**32)


def mean(scores: F32) -> float:
    return sum(map(fixed_point, scores)) / len(scores) * UNIT


def deviation(scores: F32) -> float:
    values = [fixed_point(score) for score in scores]
    scaled = sum(value * value for value in values) * len(values) - sum(values) ** 2
    return math.sqrt(scaled) / len(values) * UNIT


def labels(scores: F32, k: float) -> list[bool]:
    """Return whether each score is at least the mean plus ``k`` standard deviations (PIC, equations 2 to 4)."""
    if k == 0.0:
        fixed = [fixed_point(score) for score in scores]
        return [value * len(fixed) >= sum(fixed) for value in fixed]
    threshold = mean(scores) + k * deviation(scores)
    return [fixed_point(score) * UNIT >= threshold for score in scores]


def cuts(scores: F32, kind: str, parameter: float) -> list[bool]:
    """Return for each boundary whether the text is cut there.

    ``scores`` has the score of the two sentences at each boundary; ``kind`` and ``parameter`` are the threshold.
    """
    if len(scores) == 0:
        return []
    wide = np.array([fixed_point(score) * UNIT for score in scores])
    if kind == "gradient":
        if len(wide) < 2:
            return [True]
        slope = np.gradient(1.0 - wide)
        return [bool(x) for x in slope > np.percentile(slope, parameter)]
    if kind == "percentile":
        threshold = float(np.percentile(wide, parameter))
    elif kind == "std":
        threshold = mean(scores) - parameter * deviation(scores)
    elif kind == "iqr":
        threshold = mean(scores) - parameter * float(np.percentile(wide, 75) - np.percentile(wide, 25))
    else:
        threshold = parameter
    return [bool(x) for x in wide < threshold]
