"""The method ``nsp``: cuts where a sentence is unlikely to follow the one before."""

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
    """A method that cuts where a sentence probably does not follow the one before (BERT's next-sentence prediction).

    It cuts where ``p_i = P(sentence i + 1 follows sentence i)`` is below a threshold. By default, the cross-encoder of
    the package ``pychunk-nsp`` computes ``p``, for English. Pass ``encoder=`` and a directory to use any model that
    ``pychunk export --task pairs`` wrote. Pass ``encoder="static"``, or ``"multilingual"`` or ``"auto"`` for other
    languages, to use a small network on the vectors of that encoder.

    The option ``threshold`` is a number from 0 to 1, or a pair ``("percentile", q)``, ``("std", k)`` or ``("iqr", k)``
    that is computed from the document's own ``p``, as for ``semantic``. The default is the mean ``p`` of neighbours in
    the text that the model learned from, and is stored with it. For an exported model it is 0.5.
    ``Segmenter.fit(sample)`` sets the threshold to the mean ``p`` of a sample.
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
        """The meaning of a score in words."""
        return "probability that the next sentence follows"

    def held(self, scores: Ragged, plan: Plan) -> tuple[Ragged, npt.NDArray[np.float64]]:
        """Return the scores as they are, and the threshold of each document."""
        return scores, native.thresholds(plan, scores, threads=1)

    def plan(self, shared: Plan) -> Plan:
        """Return the shared plan with the method's threshold filled in."""
        # NaN stands for no threshold, until the model's default threshold replaces it.
        kind, value = self.threshold or ("value", float("nan"))
        return super().plan(shared).with_(threshold=kind, threshold_value=value)
