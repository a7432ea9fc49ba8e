"""How sure a mean over questions is: percentile bootstrap intervals, of one method or of a pair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: Questions drawn at a time, over all resamples of a block: 8 MB of indices.
_BLOCK = 1 << 20


class Interval(NamedTuple):
    """A mean with the ends of its confidence interval."""

    mean: float
    low: float
    high: float


def interval(values: npt.ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
    """The mean of ``values`` (one a question, [questions]) and its percentile bootstrap interval.

    Questions are drawn with replacement, as many as there are, ``resamples`` times; the interval holds the middle
    ``level`` of the means. The same seed and number of questions draw the same questions, whatever the values.

    Example:
        >>> interval([1.0, 1.0, 1.0])
        Interval(mean=1.0, low=1.0, high=1.0)

    Source: Efron, "Bootstrap methods: another look at the jackknife" (1979).
    """
    scores = np.asarray(values, np.float64)
    if scores.ndim != 1 or not len(scores):
        raise ValueError(f"values must be one number a question, of at least one; got shape {scores.shape}")
    if not np.isfinite(scores).all():
        question = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise ValueError(f"values must be finite; got {scores[question]} for question {question}")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1; got {level}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1; got {resamples}")
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    rows = max(1, _BLOCK // len(scores))
    for begin in range(0, resamples, rows):
        block = means[begin : begin + rows]
        block[:] = scores[rng.integers(len(scores), size=(len(block), len(scores)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(scores.mean()), float(low), float(high))


def paired(
    a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """The mean of a - b over the same questions, [questions] each, and its interval.

    What makes a question hard for both methods cancels out, so the interval is narrower than those of a and b suggest.
    """
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if left.shape != right.shape:
        raise ValueError(f"a and b must be of the same questions; got shapes {left.shape} and {right.shape}")
    return interval(left - right, level=level, resamples=resamples, seed=seed)
