"""Cut where a sentence does not follow the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._engine import native
from ..defaults import CHUNKS
from .base import Method, check_threshold

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .._engine.data.plan import Plan
    from .._engine.data.ragged import Ragged

ANY = (float("-inf"), float("inf"))
RANGES = {"value": (0.0, 1.0), "percentile": (0.0, 100.0), "std": ANY, "iqr": ANY}


class Nsp(Method):
    """Cut where ``p_i = P(sentence i + 1 follows sentence i)`` is under a threshold (BERT's next-sentence prediction).

    ``p`` comes from a cross-encoder with a next-sentence head: the one that pychunk ships (default), any that
    ``pychunk export --task pairs`` wrote (``encoder=`` its directory), or a small network on the static vectors
    (``encoder="static"``). ``threshold`` is a number from 0 to 1, ``("percentile", q)``, ``("std", k)`` or
    ``("iqr", k)`` of the document's own ``p``; default: the value stored with the model, which was fitted on
    training articles; 0.5 for an exported head. ``Segmenter.fit(sample)`` sets it to the mean ``p`` of a sample.
    """

    name = "nsp"
    reason = "score"
    needs = frozenset({"pairs"})
    scores = "pairs"
    auto_max_tokens, auto_min_tokens = CHUNKS.max_by_meaning, CHUNKS.min_by_meaning
    fitted_threshold = True

    def __init__(self, *, threshold: tuple[str, float] | float | None = None) -> None:
        self.threshold = None if threshold is None else check_threshold(threshold, RANGES)

    @property
    def score_name(self) -> str:
        return "probability that the next sentence follows"

    def held(self, scores: Ragged, plan: Plan) -> tuple[Ragged, npt.NDArray[np.float64]]:
        return scores, native.thresholds(plan, scores, threads=1)

    def plan(self, shared: Plan) -> Plan:
        # Without a threshold: NaN, until the model's own takes its place.
        kind, value = self.threshold or ("value", float("nan"))
        return super().plan(shared).with_(threshold=kind, threshold_value=value)
