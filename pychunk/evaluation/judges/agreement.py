"""The agreement of two judges beyond chance: Cohen's kappa, with its interval over documents."""

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
    """The agreement of two judges.

    Attributes:
        kappa: Cohen's kappa: 1 if the judges always agree, 0 if they agree no more than by chance. It is NaN if both
            give the same one verdict to all chunks, or if they judged no chunk in common. The ends of its interval are
            NaN if all chunks come from one document.
        same: The number of equal verdicts, and the number of chunks that both judged.
        table: The number of chunks for each pair of verdicts, int64[verdicts of the first, verdicts of the second].
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
    """Return Cohen's kappa of two lists of verdicts on the same chunks.

    The interval is a percentile bootstrap over documents. It draws whole documents, because chunks of one document are
    alike.

    Args:
        one: The verdicts of one judge, whole numbers from 0, int[chunks]. A chunk with -1 in either list is not
            counted.
        other: The verdicts of the other judge, in the same form.
        documents: The document of each chunk, int[chunks]. By default, each chunk is a document of its own.
        weights: ``"equal"`` counts any two different verdicts alike. ``"quadratic"`` weights them by the square of
            their difference, as is usual for grades.
        level: The share of the draws that the interval contains, 0.95 for 95 %.
        resamples: The number of draws.
        seed: The seed of the draws.

    Raises:
        ValueError: The lists differ in length, or a verdict is below -1.

    Example:
        >>> found = cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0])
        >>> found.kappa.mean, found.same, found.table.tolist()
        (0.5, RatioSum(found=3, of=4), [[2, 0], [1, 1]])

    Source: Cohen, "A coefficient of agreement for nominal scales" (1960) and "Weighted kappa" (1968).
    """
    left, right = np.asarray(one, np.int64), np.asarray(other, np.int64)
    rows = np.arange(len(left)) if documents is None else np.asarray(documents, np.int64)
    if left.ndim != 1 or not left.shape == right.shape == rows.shape:
        raise ValueError(
            "one, other and documents must have one entry for each chunk; got shapes "
            f"{left.shape}, {right.shape} and {rows.shape}"
        )
    if weights not in ("equal", "quadratic"):
        raise ValueError(f"weights must be equal or quadratic; got {weights!r}")
    if len(left) and min(left.min(), right.min()) < -1:
        raise ValueError(f"verdicts must be whole numbers from 0, or -1 for none; got {min(left.min(), right.min())}")
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
    """Return kappa for each column of float64[verdicts * verdicts, n], with one table of verdicts in each column.

    Kappa is 1 minus the ratio of the observed disagreement to the disagreement expected by chance.
    """
    tables = sums.reshape(*cost.shape, -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = tables / tables.sum(axis=(0, 1))
        chance = shares.sum(axis=1)[:, None] * shares.sum(axis=0)[None]
        found = 1 - (cost[:, :, None] * shares).sum(axis=(0, 1)) / (cost[:, :, None] * chance).sum(axis=(0, 1))
    return np.asarray(found, np.float64)
