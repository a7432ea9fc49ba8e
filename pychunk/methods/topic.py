"""The method ``topic``: cuts where a new topic begins."""

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
    """A method that cuts where a small network, trained on sections of Wikipedia articles, sees a new topic begin.

    For each possible cut, the network reads the vectors of the sentences around it, and the cosines of windows of 1 to
    8 sentences on either side. It also reads the first words of the sentences, recurring words, lengths and paragraphs.
    Its score is the probability that a sentence continues the topic of the one before. The option ``size`` is the
    desired mean length of chunks in tokens. It selects a threshold that was calibrated on articles held out from
    training. Chunks must stay within ``min_tokens`` and ``max_tokens`` ("auto": 1,024). Dynamic programming chooses the
    cuts for which the sum of threshold minus score is highest. The option ``model`` is a directory that
    ``training/topic.py`` wrote. The default is the model that pychunk ships for the encoder: ``static`` and
    ``multilingual`` have one.
    """

    name = "topic"
    reason = "score"
    needs = frozenset({"tokens", "vectors", "topics"})
    scores = "pairs"
    auto_max_tokens = CHUNKS.max_by_topic

    def __init__(self, *, size: int = CHUNKS.topic, model: str | Path | None = None) -> None:
        self.size = check_whole("size", size, least=1)
        if model is not None and not isinstance(model, (str, Path)):
            raise ValueError(f"model must be the path of a folder; got {model!r:.80}")
        self.model = model

    @property
    def score_name(self) -> str:
        """The meaning of a score in words."""
        return "probability that the topic goes on"

    def held(self, scores: Ragged, plan: Plan) -> tuple[Ragged, npt.NDArray[np.float64]]:
        """Return the scores as they are, and the threshold of each document."""
        return scores, native.thresholds(plan, scores, threads=1)

    def plan(self, shared: Plan) -> Plan:
        """Return the shared plan with the method's size filled in."""
        # NaN stands for the threshold until the model's threshold for this size replaces it.
        return super().plan(shared).with_(size=self.size, threshold="value", threshold_value=float("nan"))
