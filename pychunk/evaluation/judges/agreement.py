"""How far two judges agree beyond chance: Cohen's kappa, with its interval over documents."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..measures.intervals import Interval, of_sums
from ..measures.intrinsic import RatioSum

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

Weights = Literal["equal", "quadratic"]


class Agreement(NamedTuple):
    """Of two judges.

    Attributes:
        kappa: 1 where they always agree, 0 where no more than by chance; NaN where both know one verdict alone, or have
            judged nothing together. Its ends are NaN where all is of one document.
        same: equal verdicts, of how many that both gave.
        table: how often which verdict of the first met which of the second, int64[verdicts, verdicts].
    """

    kappa: Interval
    same: RatioSum
    table: I64


def cohen_kappa(
    one: npt.ArrayLike,
    other: npt.ArrayLike,
    documents: npt.ArrayLike | None = None,
    *,
    weights: Weights = "equal",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Agreement:
    """Cohen's kappa of two lists of verdicts on the same chunks.

    The interval is a percentile bootstrap over documents, each drawn whole: chunks of one document are alike.

    Args:
        one, other: verdicts, whole numbers from 0, [chunks] each; what one of them leaves out (-1) is not counted.
        documents: of each chunk, int[chunks]; default: each chunk is one.
        weights: ``"equal"``: any two verdicts that differ count alike; ``"quadratic"``: by the square of the
            difference, for grades.
        level, resamples, seed: as in :func:`~.intervals.interval`.

    Raises:
        ValueError: lists of different lengths, or verdicts under -1.

    Example:
        >>> found = cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0])
        >>> found.kappa.mean, found.same, found.table.tolist()
        (0.5, Tally(found=3, of=4), [[2, 0], [1, 1]])

    Source: Cohen, "A coefficient of agreement for nominal scales" (1960) and "Weighted kappa" (1968).
    """
    left, right = np.asarray(one, np.int64), np.asarray(other, np.int64)
    rows = np.arange(len(left)) if documents is None else np.asarray(documents, np.int64)
    if left.ndim != 1 or not left.shape == right.shape == rows.shape:
        raise ValueError(f"verdicts must be of the same chunks; got shapes {left.shape}, {right.shape}, {rows.shape}")
    if weights not in ("equal", "quadratic"):
        raise ValueError(f"weights must be equal or quadratic; got {weights!r}")
    if len(left) and min(left.min(), right.min()) < -1:
        raise ValueError("verdicts must be whole numbers from 0, or -1 for none")
    both = (left >= 0) & (right >= 0)
    left, right, rows = left[both], right[both], np.unique(rows[both], return_inverse=True)[1].reshape(-1)
    count = 1 + int(max(left.max(), right.max())) if len(left) else 1
    parts = np.zeros((int(rows.max()) + 1 if len(rows) else 0, count * count))
    np.add.at(parts, (rows, left * count + right), 1)
    away = np.subtract.outer(np.arange(count), np.arange(count)).astype(np.float64)
    cost = away**2 if weights == "quadratic" else (away != 0).astype(np.float64)
    table = parts.sum(axis=0).reshape(count, count).astype(np.int64)
    same = RatioSum(int(np.trace(table)), len(left))
    whole = float(_kappa(table.reshape(-1, 1).astype(np.float64), cost)[0])
    if not np.isfinite(whole) or len(parts) < 2:
        return Agreement(Interval(whole, np.nan, np.nan), same, table)
    found = of_sums(parts, lambda sums: _kappa(sums, cost), level=level, resamples=resamples, seed=seed)
    return Agreement(found, same, table)


def _kappa(sums: F64, cost: F64) -> F64:
    """Of tables float64[verdicts * verdicts, n], one a column: 1 less what differs over what would by chance."""
    tables = sums.reshape(*cost.shape, -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = tables / tables.sum(axis=(0, 1))
        chance = shares.sum(axis=1)[:, None] * shares.sum(axis=0)[None]
        found = 1 - (cost[:, :, None] * shares).sum(axis=(0, 1)) / (cost[:, :, None] * chance).sum(axis=(0, 1))
    return np.asarray(found, np.float64)
