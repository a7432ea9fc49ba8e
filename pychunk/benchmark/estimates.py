"""Robust means of few noisy figures, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: The shares of a workload's times that are left out of its mean: the fastest 10 % and the slowest 50 %. Noise of a
#: busy machine only adds to a time, so the faster times count. This was simulated with times that vary by 4 % between
#: processes, three of ten of which are slowed by up to half. With these shares, 95 % of slowdowns by 15 % are found.
#: With 20 % left out at either end, 67 % are found.
OF_TIMES = (0.1, 0.5)
#: The shares of ratios of two times that are left out of their mean, the same at either end, because noise can make a
#: ratio too large or too small.
OF_RATIOS = (0.2, 0.2)
#: The number of standard errors on either side of a mean that gives an interval of 95 %. It is that of Student's t for
#: the five degrees of freedom that ten figures have after trimming.
WIDTH = 2.57


@dataclass(frozen=True)
class Ratio:
    """The ratio of two costs, 1.10 for 10 % slower, with the ends of its interval of about 95 %."""

    value: float
    low: float
    high: float


def kept(values: Sequence[float], trim: tuple[float, float]) -> slice:
    """Return the slice of the sorted values that remains after trimming: at least two values if there are two."""
    count = len(values)
    first = int(trim[0] * count)
    return slice(first, max(count - int(trim[1] * count), min(count, first + 2)))


def trimmed_mean(values: Sequence[float], trim: tuple[float, float]) -> float:
    """Return the mean without the lowest and the highest values, whose shares are ``trim``.

    Example:
        >>> trimmed_mean([1.0, 2.0, 3.0, 4.0, 100.0], (0.2, 0.2))
        3.0
    """
    some = sorted(values)[kept(values, trim)]
    return math.fsum(some) / len(some)


def standard_error(values: Sequence[float], trim: tuple[float, float]) -> float:
    """Return the standard error of the trimmed mean; for a single figure it is infinite, because its noise is unknown.

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
    """Return the ratio of the mean of ``new`` to the mean of ``base``; all figures must be positive.

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
    """Return the mean ratio of ``new`` to ``base``, whose figures were measured in pairs.

    Noise that both figures of a pair share cancels out.

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
