"""The interface of tasks: questions, traces of experts, and the judgement of plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Question:
    """A question.

    Attributes:
        prompt: The tokens that the policy receives.
        hard: Whether it belongs to the hard half.
        about: The data that the task needs to judge a plan, which no policy sees.
    """

    prompt: Tokens
    hard: bool
    about: Any


@dataclass(frozen=True)
class Outcome:
    """The outcome of a plan.

    Attributes:
        correct: Whether its searches answer the question.
        aligned: Whether it equals the pseudo-label.
        formatted: Whether it can be parsed.
        searches: The number of levels that it searches, 0 if it cannot be parsed.
        tokens: The length of the trace, including hint and plan.
    """

    correct: bool
    aligned: bool
    formatted: bool
    searches: int
    tokens: int


class Task(Protocol):
    """A source of questions; each draw depends only on the seed and its own number, not on earlier draws."""

    def draw(self, count: int, seed: int, step: int) -> list[Question]:
        """Return questions to learn from."""

    def held_out(self, count: int) -> list[Question]:
        """Return ``count`` questions of each half to measure on, the same for every training."""

    def traces(self, question: Question) -> Sequence[Sequence[Tokens]]:
        """Return traces that solve the question, one for each expert, as sentences with the plan in the last."""

    def judge(self, question: Question, trace: Tokens) -> Outcome:
        """Return the outcome of a trace's plan."""
