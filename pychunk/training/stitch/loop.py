"""The training step by step; each step depends only on its number, so that a killed run resumes unchanged."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._util.durable_files import whole_file
from ..teacher import import_torch
from . import losses
from .buffer import ImitationBuffer
from .hints import HintLength
from .rollouts import Group, after_hints, roll_out
from .settings import METHODS, Settings
from .tasks import Task, Tokens

logger = logging.getLogger(__name__)

#: The seed of measurements, whose rollouts do not influence the training.
_MEASURING = 7919


class Training:
    """One method's training of one policy.

    Args:
        policy: The policy; see :class:`.rollouts.Policy`.
        task: The source of questions, which also judges plans.
        method: One of :data:`METHODS`.
        settings: All other settings.
        name: The name of the policy, so that its checkpoint is not used for another policy.

    Attributes:
        history: A row for each step, with reward, loss, and the numbers of solved, hinted and imitated questions.
        curve: A row for each measurement.
        trace_tokens: The number of tokens of experts' traces that were fitted. Several passes over a trace count once.
        seconds: The time spent so far by all processes that took part.
    """

    def __init__(self, policy: Any, task: Task, method: str, settings: Settings, name: str) -> None:
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
        self.policy, self.task, self.method, self.settings, self.name = policy, task, method, settings, name
        torch = import_torch()
        self.reference: Any = None
        self.optimizer = torch.optim.Adam(policy.net.parameters(), lr=settings.rate)
        self.generator = import_torch().Generator().manual_seed(settings.seed)
        self.buffer = ImitationBuffer(settings.buffer)
        self.hints = HintLength(settings.target)
        self.step = 0
        self.trace_tokens = 0
        self.seconds = 0.0
        self.history: list[dict[str, Any]] = []
        self.curve: list[dict[str, Any]] = []

    @property
    def imitating(self) -> int:
        """The number of steps at the beginning that only fit traces."""
        return self.settings.sft_steps if self.method.startswith("sft") else 0

    @property
    def steps(self) -> int:
        """The number of all steps of this method."""
        return self.imitating + (self.settings.steps if self.method != "sft" else 0)

    def run(self, folder: Path | None = None, until: int | None = None) -> None:
        """Run the steps up to ``until``, or all, with regular measurements, each with a checkpoint in ``folder``."""
        last = self.steps if until is None else min(until, self.steps)
        if self.step == 0 and not self.curve:
            self.curve.append(self.measured())
        begun = time.monotonic()
        while self.step < last:
            self.history.append(self.one_step())
            self.step += 1
            if self.step % self.settings.every == 0 or self.step == self.steps:
                self.curve.append(self.measured())
                logger.info("%s", self.curve[-1])
                begun, self.seconds = time.monotonic(), self.seconds + time.monotonic() - begun
                if folder is not None:
                    self.save(folder)

    def one_step(self) -> dict[str, Any]:
        """Train on one batch of questions, and return its row of the history."""
        settings = self.settings
        random = np.random.default_rng([settings.seed, self.step, 1])
        questions = self.task.draw(settings.questions, settings.seed, self.step)
        if self.step < self.imitating:
            pairs = []
            for question in questions:
                experts = self.task.traces(question)
                pairs.append((question.prompt, sum(experts[int(random.integers(len(experts)))], ())))
            return {"step": self.step, "loss": self.imitate(pairs), "imitated": len(pairs)}
        if self.reference is None:
            self.reference = _frozen(self.policy)
        aligned = self.step - self.imitating < settings.aligned
        groups = roll_out(self.policy, self.task, questions, [()] * len(questions), settings, self.generator)
        solved = [group.solved(settings) > 0 for group in groups]
        row: dict[str, Any] = {
            "step": self.step,
            "reward": float(np.mean([group.rewards(settings) for group in groups])),
            "solved": sum(solved),
        }
        if self.method == "stitch":
            unsolved = [group.question for group, found in zip(groups, solved, strict=True) if not found]
            helped = after_hints(
                self.policy, self.task, unsolved, self.hints, self.buffer, settings, self.generator, random
            )
            groups = [group for group, found in zip(groups, solved, strict=True) if found] + helped
            row |= {"hinted": len(helped), "chance": self.hints.chance(), "unsolved": len(unsolved) - len(helped)}
        row["loss"] = self.reinforce(groups, aligned)
        if self.buffer.full:
            pairs = self.buffer.take()
            row |= {"imitated": len(pairs), "imitation_loss": self.imitate(pairs, settings.passes)}
        return row

    def reinforce(self, groups: Sequence[Group], aligned: bool) -> float:
        """Apply GRPO to groups and return the mean loss.

        Groups whose rewards are all equal carry no information and are left out.
        """
        torch = import_torch()
        settings = self.settings
        if not groups:
            return 0.0
        found = losses.advantages([group.rewards(settings, aligned=aligned) for group in groups])
        prefixes, outputs, gains = [], [], []
        for group, own in zip(groups, found, strict=True):
            if own.any():
                prefixes += [group.prefix] * len(own)
                outputs += group.outputs
                gains += own.tolist()
        with torch.no_grad():
            before = [self.policy.log_probs(*part)[0] for part in self.parts(prefixes, outputs)]
            apart = [self.reference.log_probs(*part)[0] for part in self.parts(prefixes, outputs)]
        old, reference = ([row for part in each for row in part] for each in (before, apart))
        total, size = 0.0, settings.mini_batch * settings.rollouts
        for begin in range(0, len(outputs), size):
            own = slice(begin, min(begin + size, len(outputs)))
            self.optimizer.zero_grad(set_to_none=True)
            for rows in _ranges(own.start, own.stop, settings.rows):
                new, mask = self.policy.log_probs(prefixes[rows], outputs[rows])
                loss = losses.grpo(
                    new,
                    _stacked(old[rows], new),
                    _stacked(reference[rows], new),
                    torch.tensor(gains[rows], device=new.device),
                    mask,
                    settings.clip,
                    settings.kl,
                ).sum()
                (loss / (own.stop - own.start)).backward()
                total += float(loss.detach())
            self.update()
        return total / max(1, len(outputs))

    def imitate(self, pairs: Sequence[tuple[Tokens, Tokens]], passes: int = 1) -> float:
        """Fit traces after their prompts and return the mean loss of the last pass."""
        total = 0.0
        for _ in range(passes):
            total = 0.0
            for begin in range(0, len(pairs), self.settings.mini_batch):
                own = pairs[begin : begin + self.settings.mini_batch]
                self.optimizer.zero_grad(set_to_none=True)
                for rows in _ranges(0, len(own), self.settings.rows):
                    new, mask = self.policy.log_probs([p for p, _ in own[rows]], [trace for _, trace in own[rows]])
                    loss = losses.imitation(new, mask).sum()
                    (loss / len(own)).backward()
                    total += float(loss.detach())
                self.update()
        self.trace_tokens += sum(len(trace) for _, trace in pairs)
        return total / len(pairs)

    def update(self) -> None:
        """Make one step of the optimizer, with the gradient clipped to length 1."""
        import_torch().nn.utils.clip_grad_norm_(self.policy.net.parameters(), 1.0)
        self.optimizer.step()

    def parts(self, prefixes: list[Tokens], outputs: list[Tokens]) -> list[tuple[list[Tokens], list[Tokens]]]:
        """Split rows into the parts that go through the model together."""
        return [(prefixes[rows], outputs[rows]) for rows in _ranges(0, len(outputs), self.settings.rows)]

    def measured(self) -> dict[str, Any]:
        """Return the mean reward and the share of right plans that the policy draws for held-out questions.

        The values of the hard half are None if no held-out question is hard.
        """
        settings = self.settings
        generator = import_torch().Generator().manual_seed(_MEASURING)
        questions = self.task.held_out(settings.held_out)
        written = self.policy.sample([each.prompt for each in questions], settings.max_tokens, generator)
        groups = [
            Group(question, (), [output], [self.task.judge(question, output)])
            for question, output in zip(questions, written, strict=True)
        ]
        hard = np.array([group.question.hard for group in groups])
        rewards = np.array([group.rewards(settings)[0] for group in groups])
        solved = np.array([group.solved(settings) for group in groups], float)
        return {
            "step": self.step,
            "reward": round(float(rewards.mean()), 4),
            "reward_hard": _mean(rewards[hard]),
            "solved": round(float(solved.mean()), 4),
            "solved_hard": _mean(solved[hard]),
        }

    def save(self, folder: Path) -> None:
        """Write the checkpoint, completely or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        state = {
            "settings": asdict(self.settings) | {"method": self.method, "policy": self.name},
            "policy": self.policy.net.state_dict(),
            "reference": self.reference.net.state_dict() if self.reference is not None else None,
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "buffer": self.buffer.held,
            "hints": self.hints.counts,
            "step": self.step,
            "trace_tokens": self.trace_tokens,
            "seconds": self.seconds,
            "history": self.history,
            "curve": self.curve,
        }
        with whole_file(folder / "checkpoint.pt") as file:
            import_torch().save(state, file)

    def resume(self, folder: Path) -> bool:
        """Resume from the checkpoint in a folder, and return False if there is none.

        Raises:
            ValueError: The checkpoint was made with other settings; the message names them.
        """
        path = folder / "checkpoint.pt"
        if not path.is_file():
            return False
        state = import_torch().load(path, weights_only=True)
        here = asdict(self.settings) | {"method": self.method, "policy": self.name}
        there = state["settings"]
        other = [f"{key} {there.get(key)!r} there, {here.get(key)!r} here" for key in sorted(here | there)
                 if there.get(key) != here.get(key)]  # fmt: skip
        if other:
            raise ValueError(f"{path} has other settings: {'; '.join(other)}; remove it or use another --work")
        self.policy.net.load_state_dict(state["policy"])
        if state["reference"] is not None:
            self.reference = _frozen(self.policy)
            self.reference.net.load_state_dict(state["reference"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"])
        self.buffer.held = [(tuple(prompt), tuple(trace)) for prompt, trace in state["buffer"]]
        self.hints.counts = state["hints"]
        self.step, self.trace_tokens, self.seconds = state["step"], state["trace_tokens"], state["seconds"]
        self.history, self.curve = state["history"], state["curve"]
        return True


def _mean(values: npt.NDArray[np.float64]) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None


def _frozen(policy: Any) -> Any:
    copied = copy.deepcopy(policy)
    copied.net.requires_grad_(False)
    return copied


def _ranges(begin: int, end: int, size: int) -> list[slice]:
    return [slice(at, min(at + size, end)) for at in range(begin, end, size)]


def _stacked(rows: Sequence[Any], like: Any) -> Any:
    """Stack rows of log probabilities of possibly different widths into the shape of ``like``."""
    out = import_torch().zeros_like(like, requires_grad=False)
    for i, row in enumerate(rows):
        width = min(len(row), like.shape[1])
        out[i, :width] = row[:width]
    return out
