"""The reward of a plan, as in SmartChunk's STITCH: the sum of answer, cost, format and length."""

from __future__ import annotations

from .settings import Settings
from .tasks import Outcome


def reward(outcome: Outcome, settings: Settings, *, aligned: bool = False) -> float:
    """Return the reward of a plan.

    It begins with 1 for a right answer, minus ``cost`` for each search. With ``aligned`` it begins with 1 for agreement
    with the pseudo-label instead. A plan that can be parsed adds ``format``, and each token beyond the limit subtracts
    ``length``.

    Example:
        >>> right = Outcome(correct=True, aligned=False, formatted=True, searches=2, tokens=34)
        >>> reward(right, Settings()), reward(right, Settings(), aligned=True)
        (1.06, 0.08)
    """
    gained = float(outcome.aligned) if aligned else float(outcome.correct) - settings.cost * outcome.searches
    beyond = max(0, outcome.tokens - settings.length_limit)
    return round(gained + settings.format * outcome.formatted - settings.length * beyond, 9)


def solves(outcome: Outcome, settings: Settings) -> bool:
    """Return whether a plan answers the question within the length limit."""
    return outcome.correct and outcome.tokens <= settings.length_limit
