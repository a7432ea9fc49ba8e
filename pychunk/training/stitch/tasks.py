"""What a training needs of a task: questions, traces of experts, and what a plan is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        prompt: tokens that the policy is given.
        hard: whether it is counted with the hard half.
        about: what the task needs to judge a plan; no policy sees it.
    """

    prompt: Tokens
    hard: bool
    about: Any


@dataclass(frozen=True)
class Outcome:
    """What a plan led to.

    Attributes:
        correct: the searches that it asks for answer the question.
        aligned: it is the pseudo-label's.
        formatted: it can be read.
        searches: how many levels it has searched; 0 where it cannot be read.
        tokens: length of the trace, hint and plan included.
    """

    correct: bool
    aligned: bool
    formatted: bool
    searches: int
    tokens: int


class Task(Protocol):
    """A source of questions. Each draw is known by the seed and its own number, whatever was drawn before."""

    def draw(self, count: int, seed: int, step: int) -> list[Question]:
        """Questions to learn from."""

    def held_out(self, count: int) -> list[Question]:
        """Questions to measure on, ``count`` of each half; the same for every training."""

    def traces(self, question: Question) -> Sequence[Sequence[Tokens]]:
        """Traces that solve the question, one an expert, each as its sentences; the plan is in the last."""

    def judge(self, question: Question, trace: Tokens) -> Outcome:
        """What a trace's plan leads to."""
