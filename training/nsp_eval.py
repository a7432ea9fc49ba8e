"""Measures of how well probabilities separate neighbours from strangers: area under curve, accuracy, calibration."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from .nsp_pairs import NEXT, OTHER_DOCUMENT, SAME_DOCUMENT

F32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Scores:
    """Measures on held-out pairs: neighbours compared with strangers from other, and from the same, documents."""

    auc_other: float
    auc_same: float
    accuracy: float
    calibration_error: float

    def rounded(self) -> dict[str, float]:
        """Return the measures by name, rounded to four decimal places."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def area_under_curve(positive: F32, negative: F32) -> float:
    """Return the share of (positive, negative) pairs in the right order, ties counted half (Mann-Whitney)."""
    values = np.sort(negative)
    below = np.searchsorted(values, positive, side="left")
    through = np.searchsorted(values, positive, side="right")
    return float((below + through).sum() / (2 * len(positive) * len(negative)))


def score(probabilities: F32, kind: npt.NDArray[np.int8]) -> Scores:
    """Return the scores of probabilities.

    ``calibration_error`` is the expected one over ten equal bins of probability (Guo et al., 2017, eq. 3).
    """
    follows = kind == NEXT
    bins = np.minimum((probabilities * 10).astype(int), 9)
    gaps = [
        abs(float(follows[bins == b].mean()) - float(probabilities[bins == b].mean())) * float((bins == b).mean())
        for b in range(10)
        if (bins == b).any()
    ]
    return Scores(
        area_under_curve(probabilities[follows], probabilities[kind == OTHER_DOCUMENT]),
        area_under_curve(probabilities[follows], probabilities[kind == SAME_DOCUMENT]),
        float(((probabilities >= 0.5) == follows).mean()),
        float(sum(gaps)),
    )
