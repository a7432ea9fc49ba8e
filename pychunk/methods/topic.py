"""Cut where a new topic begins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .._engine import native
from ..defaults import CHUNKS
from .base import Method, check_whole

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .._engine.data.plan import Plan
    from .._engine.data.ragged import Ragged


class Topic(Method):
    """Cut where a small network finds that a topic begins, learned from where sections of Wikipedia begin.

    It reads the vectors of the sentences around each gap, their cosines over windows of 1 to 8 sentences, the words
    that they begin with, words that come back, lengths and paragraphs. Its score is the probability that a sentence
    goes on with the topic of the one before. ``size`` is the wished mean length of chunks in tokens: the threshold that
    it stands for was calibrated on articles that nothing was learned from. Of all cuts that keep chunks within
    ``min_tokens`` and ``max_tokens`` ("auto": 1,024) those are made that are furthest under the threshold, by dynamic
    programming. ``model`` is a directory that ``training/topic.py`` wrote; default: the one that pychunk
    ships, for the static encoder.
    """

    name = "topic"
    reason = "score"
    needs = frozenset({"tokens", "vectors", "topics"})
    scores = "pairs"
    auto_max_tokens = CHUNKS.max_by_topic

    def __init__(self, *, size: int = CHUNKS.topic, model: str | Path | None = None) -> None:
        self.size = check_whole("size", size, least=1)
        if model is not None and not isinstance(model, (str, Path)):
            raise ValueError(f"model must be a directory; got {model!r}")
        self.model = model

    @property
    def score_name(self) -> str:
        return "probability that the topic goes on"

    def held(self, scores: Ragged, plan: Plan) -> tuple[Ragged, npt.NDArray[np.float64]]:
        return scores, native.thresholds(plan, scores, threads=1)

    def plan(self, shared: Plan) -> Plan:
        # NaN, until the model says which threshold gives that size.
        return super().plan(shared).with_(size=self.size, threshold="value", threshold_value=float("nan"))
