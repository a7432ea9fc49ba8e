"""The method ``semantic``: cuts where neighbouring sentences are unlike each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._engine import native
from .._engine.data.ragged import Ragged
from ..defaults import CHUNKS
from .base import Method, check_threshold, check_whole

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._engine.data.plan import Plan

ANY = (float("-inf"), float("inf"))
PERCENT = (0.0, 100.0)
RANGES = {"value": (-1.0, 1.0), "percentile": PERCENT, "std": ANY, "iqr": ANY, "gradient": PERCENT}


class Semantic(Method):
    """A method that cuts where the cosine of neighbouring sentences is below a threshold (Kamradt's semantic chunking).

    The cosine is ``a_i = e_i . e_(i+1)``. The option ``threshold`` is a number or a pair. ``("percentile", p)`` is a
    percentile of the document's own ``a``; the default is p = 20, PIC's baseline. ``("std", k)`` is mean - k standard
    deviations, and ``("iqr", k)`` is mean - k interquartile ranges. ``("gradient", p)`` cuts where the gradient of ``1
    - a`` is above its percentile p. ``Segmenter.fit(sample)`` sets the threshold to the mean ``a`` of a sample (the NSP
    paper's cosine baseline). With ``window=w`` the method compares the summed vectors of the w sentences before and
    after each possible cut.
    """

    name = "semantic"
    reason = "score"
    needs = frozenset({"vectors"})
    scores = "pairs"
    auto_max_tokens, auto_min_tokens = CHUNKS.max_by_meaning, CHUNKS.min_by_meaning
    fitted_threshold = True

    def __init__(self, *, threshold: tuple[str, float] | float = ("percentile", 20), window: int = 1) -> None:
        self.threshold = check_threshold(threshold, RANGES)
        self.window = check_whole("window", window, least=1)

    @property
    def has_kernel(self) -> bool:
        """Return whether a GPU computes everything that the method cuts by, which it does for windows of 1."""
        return self.window == 1

    @property
    def score_name(self) -> str:
        """The meaning of a score in words, which depends on the window and on the kind of threshold."""
        what = (
            "cosine to the next sentence" if self.window == 1 else f"cosine of {self.window} sentences on either side"
        )
        return f"slope of the {what}" if self.threshold[0] == "gradient" else what

    def held(self, scores: Ragged, plan: Plan) -> tuple[Ragged, npt.NDArray[np.float64]]:
        """Return the cosines, or the negated slopes for a ``gradient`` threshold, and the thresholds."""
        if plan.threshold != "gradient":
            return scores, native.thresholds(plan, scores, threads=1)
        # The engine does not return slopes, so this computes them as pychunk/_engine/reference/search/thresholds.py
        # does. The engine cuts where a slope is above the threshold. Slopes and threshold are negated here, so that the
        # score of a cut is below the threshold, as with cosines.
        slopes, found = [], np.full(scores.documents, np.nan)
        for row in range(scores.documents):
            wide = np.rint(scores.part(row).astype(np.float64) * 2.0**32) * 2.0**-32
            slope = np.gradient(1.0 - wide) if len(wide) > 1 else np.zeros(len(wide))
            if len(wide) > 1:
                found[row] = -np.percentile(slope, plan.threshold_value)
            slopes.append(-slope)
        return Ragged.of(slopes, np.float64), found

    def plan(self, shared: Plan) -> Plan:
        """Return the shared plan with the method's threshold and window filled in."""
        kind, value = self.threshold
        return super().plan(shared).with_(threshold=kind, threshold_value=value, window=self.window)
