"""Percentile bootstrap intervals of means over questions, of paired differences, and of figures computed from sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: The number of indices of questions that are drawn at a time, for a block of several resamples. They take 8 MB.
_BLOCK = 1 << 20


class Interval(NamedTuple):
    """A mean with the ends of its confidence interval."""

    mean: float
    low: float
    high: float


def interval(values: npt.ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
    """Return the mean of ``values`` (one for each question, [questions]) and its percentile bootstrap interval.

    Each of the ``resamples`` resamples draws as many questions as there are, with replacement. The interval contains
    the middle share ``level`` of the resamples' means. The same seed and number of questions draw the same questions,
    whatever the values.

    Example:
        >>> interval([1.0, 1.0, 1.0])
        Interval(mean=1.0, low=1.0, high=1.0)

    Source: Efron, "Bootstrap methods: another look at the jackknife" (1979).
    """
    scores = np.asarray(values, np.float64)
    if scores.ndim != 1 or not len(scores):
        raise ValueError(
            f"values must be a flat list with a number for each question, at least one; got shape {scores.shape}"
        )
    if not np.isfinite(scores).all():
        question = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise ValueError(f"values must be finite; got {scores[question]} for question {question}")
    _check(level, resamples)
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
    """Return the mean of a - b over the same questions, [questions] each, with its interval.

    A question that is hard for both methods cancels out, so the interval is narrower than the intervals of a and b
    suggest.
    """
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if left.shape != right.shape:
        raise ValueError(f"a and b must have one value for each question; got shapes {left.shape} and {right.shape}")
    return interval(left - right, level=level, resamples=resamples, seed=seed)


def of_sums(
    parts: npt.ArrayLike,
    figure: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return a figure computed from sums over documents or questions, and its percentile bootstrap interval.

    An example of such a figure is the number of words divided by the number of chunks. The bootstrap draws as many
    whole documents as there are, with replacement. Chunks of one document are alike, so intervals over chunks would be
    too narrow. Draws whose figure is not finite are left out.

    Args:
        parts: The numbers to sum, one row for each document, [documents, sums].
        figure: A function from sums float64[sums, n], with one column for each of n draws, to figures float64[n], NaN
            for none.
        level: The share of the draws that the interval contains, 0.95 for 95 %.
        resamples: The number of draws.
        seed: The seed of the draws.

    Raises:
        ValueError: ``parts`` is not [documents, sums] or not finite, or its sums give no figure.

    Example:
        >>> of_sums([[2, 10], [2, 10]], lambda sums: sums[1] / sums[0])  # chunks and words of two documents
        Interval(mean=5.0, low=5.0, high=5.0)
    """
    rows = np.asarray(parts, np.float64)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"parts must be [documents, sums] with at least one of each; got shape {rows.shape}")
    if not np.isfinite(rows).all():
        wrong = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise ValueError(f"parts must be finite; got {rows[wrong].tolist()!s:.80} in row {wrong}")
    _check(level, resamples)
    rng = np.random.default_rng(seed)
    drawn = np.empty((rows.shape[1], resamples))
    for i in range(resamples):
        drawn[:, i] = np.bincount(rng.integers(len(rows), size=len(rows)), minlength=len(rows)) @ rows
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = float(figure(rows.sum(axis=0)[:, None])[0])
        found = figure(drawn)
    if not np.isfinite(whole):
        raise ValueError(f"figure must be finite for the sums of parts; got {whole} for {rows.sum(axis=0).tolist()}")
    low, high = np.quantile(found[np.isfinite(found)], [(1 - level) / 2, (1 + level) / 2])
    return Interval(whole, float(low), float(high))


def by_documents(values: npt.ArrayLike, documents: npt.ArrayLike, *, level: float = 0.95, seed: int = 0) -> Interval:
    """Return the mean of values of chunks or questions, with its interval over their documents by :func:`of_sums`.

    Args:
        values: The value of each chunk or question, float64[n]. NaN values are left out.
        documents: The document of each chunk or question, int[n].
        level: The share of the draws that the interval contains, 0.95 for 95 %.
        seed: The seed of the draws.

    Returns:
        The mean and the interval, all NaN if there is no value.

    Example:
        >>> by_documents([1.0, float("nan"), 1.0], [0, 0, 7])
        Interval(mean=1.0, low=1.0, high=1.0)
    """
    own = np.asarray(values, np.float64)
    given = np.isfinite(own)
    if not given.any():
        return Interval(np.nan, np.nan, np.nan)
    rows = np.unique(np.asarray(documents)[given], return_inverse=True)[1].reshape(-1)
    sums = np.stack([np.bincount(rows, own[given]), np.bincount(rows)], axis=1)
    return of_sums(sums, lambda each: each[0] / each[1], level=level, seed=seed)


def _check(level: float, resamples: int) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must be above 0 and below 1; got {level}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1; got {resamples}")
