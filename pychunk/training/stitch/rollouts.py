"""Groups of rollouts, and the two ways to a group in which a plan succeeds: alone, or after a hint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .buffer import ImitationBuffer
from .hints import HintLength
from .rewards import reward, solves
from .settings import Settings
from .tasks import Outcome, Question, Task, Tokens


class Policy(Protocol):
    """A model that writes plans.

    Attributes:
        net: The torch module whose weights are trained.
    """

    net: Any

    def sample(self, prefixes: Sequence[Tokens], limit: int, generator: Any) -> list[Tokens]:
        """Return what the model writes after each prefix, drawn by its probabilities, at most ``limit`` tokens."""

    def log_probs(self, prefixes: Sequence[Tokens], outputs: Sequence[Tokens]) -> tuple[Any, Any]:
        """Return log probabilities float[rows, tokens] of outputs after their prefixes, and a mask of that shape."""


@dataclass(frozen=True)
class Group:
    """The rollouts of one question after the same hint."""

    question: Question
    hint: Tokens
    outputs: list[Tokens]
    outcomes: list[Outcome]

    @property
    def prefix(self) -> Tokens:
        """The tokens that the policy received."""
        return self.question.prompt + self.hint

    def solved(self, settings: Settings) -> int:
        """Return the number of rollouts that answer the question within the length limit."""
        return sum(solves(outcome, settings) for outcome in self.outcomes)

    def rewards(self, settings: Settings, *, aligned: bool = False) -> list[float]:
        """Return the reward of each rollout."""
        return [reward(outcome, settings, aligned=aligned) for outcome in self.outcomes]


def roll_out(
    policy: Policy,
    task: Task,
    questions: Sequence[Question],
    hints: Sequence[Tokens],
    settings: Settings,
    generator: Any,
) -> list[Group]:
    """Return a group for each question; a plan is judged together with the hint before it."""
    count = settings.rollouts
    prefixes = [each.prompt + hint for each, hint in zip(questions, hints, strict=True) for _ in range(count)]
    written = policy.sample(prefixes, settings.max_tokens, generator)
    groups = []
    for i, (question, hint) in enumerate(zip(questions, hints, strict=True)):
        outputs = written[i * count : (i + 1) * count]
        groups.append(Group(question, hint, outputs, [task.judge(question, hint + output) for output in outputs]))
    return groups


def after_hints(
    policy: Policy,
    task: Task,
    unsolved: Sequence[Question],
    hints: HintLength,
    buffer: ImitationBuffer,
    settings: Settings,
    generator: Any,
    random: np.random.Generator,
) -> list[Group]:
    """Return the groups in which a rollout succeeds after a hint; questions without success go into the buffer.

    The hint is the beginning of the trace of one expert, drawn at random. A trace of one sentence allows no hint.
    """
    asked, given, left = [], [], []
    traces = []
    for question in unsolved:
        experts = task.traces(question)
        sentences = experts[int(random.integers(len(experts)))]
        whole = sum(sentences, ())
        size = hints.sentences(len(sentences))
        if size == 0:
            buffer.add(question.prompt, whole)
            continue
        asked.append(question)
        given.append(sum(sentences[:size], ()))
        left.append(len(sentences) - size)
        traces.append(whole)
    groups = roll_out(policy, task, asked, given, settings, generator) if asked else []
    right: Counter[int] = Counter()
    tried: Counter[int] = Counter()
    helped = []
    for group, sentences_left, trace in zip(groups, left, traces, strict=True):
        found = group.solved(settings)
        right[sentences_left] += found
        tried[sentences_left] += len(group.outputs)
        if found:
            helped.append(group)
        else:
            buffer.add(group.question.prompt, trace)
    hints.saw({each: (right[each], tried[each]) for each in sorted(tried)})
    return helped
