"""What a plan is worth. Source: SmartChunk's reward of STITCH, the sum of answer, cost, format and length."""

from __future__ import annotations

from .settings import Settings
from .tasks import Outcome


def reward(outcome: Outcome, settings: Settings, *, aligned: bool = False) -> float:
    """Answer less ``cost`` a search, or agreement with the label; ``format`` more, ``length`` less a token beyond.

    Example:
        >>> right = Outcome(correct=True, aligned=False, formatted=True, searches=2, tokens=34)
        >>> reward(right, Settings()), reward(right, Settings(), aligned=True)
        (1.06, 0.08)
    """
    gained = float(outcome.aligned) if aligned else float(outcome.correct) - settings.cost * outcome.searches
    beyond = max(0, outcome.tokens - settings.length_limit)
    return round(gained + settings.format * outcome.formatted - settings.length * beyond, 9)


def solves(outcome: Outcome, settings: Settings) -> bool:
    """Whether a plan answers the question in time: a trace beyond the limit does not."""
    return outcome.correct and outcome.tokens <= settings.length_limit
