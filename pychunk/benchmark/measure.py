"""The rounds of fresh processes in which every workload is timed."""

from __future__ import annotations

import contextlib
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .launch import Installation, Process
from .synthetic_texts import corpora

#: The number of timings of a workload in one process. The fastest counts, because momentary noise only adds to a time.
#: Its remaining noise, 1 to 5 %, depends on where the process's memory is. More timings in the same process would not
#: reduce that.
TIMINGS = 12


@dataclass
class Timings:
    """The timings of a workload, one of each kind for each round.

    They are CPU and wall seconds a call, the calibration's seconds, and the share of time spent waiting. Waiting is
    wall time in which other processes had the CPU, from 0 to 1. It shows how busy the machine was.
    """

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    calibration: list[float] = field(default_factory=list)
    waiting: list[float] = field(default_factory=list)

    @property
    def costs(self) -> list[float]:
        """The CPU time divided by the calibration's time, one number for each round."""
        return [cpu / unit for cpu, unit in zip(self.cpu, self.calibration, strict=True)]

    def add(self, timings: list[dict[str, float]]) -> None:
        """Add one process's smallest CPU, wall and calibration seconds, each on its own, and its share of waiting."""
        for name, values in (("cpu", self.cpu), ("wall", self.wall), ("calibration", self.calibration)):
            values.append(min(timing[name] for timing in timings))
        cpu, wall = (math.fsum(timing[name] for timing in timings) for name in ("cpu", "wall"))
        self.waiting.append(max(0.0, 1 - cpu / wall))


@dataclass
class Run:
    """The results of one installation: its facts, figures, answers, and missing or failing workloads with reasons."""

    facts: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, Timings] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)


class Bench:
    """A measurement of one or two installations, as a context manager that keeps the texts in a temporary file.

    Args:
        installations: One installation, or two that take turns within every round.
        prepared: The workloads that every process prepares, timed or not, so that all processes have the same memory
            contents.
        step: A function called after each workload of each round.
        check: A function called with the first installation's run before any of its timings. It raises an error to end
            a useless measurement.

    Attributes:
        corpora: The texts, by corpus.
    """

    def __init__(
        self,
        installations: Sequence[Installation],
        prepared: Sequence[str],
        step: Callable[[], None] = lambda: None,
        check: Callable[[Run], None] = lambda run: None,
    ) -> None:
        self.installations = list(installations)
        self.prepared = list(prepared)
        self._step = step
        self._check = check
        self._folder = tempfile.TemporaryDirectory()
        self._texts = Path(self._folder.name) / "texts.json"
        self.corpora = corpora()
        self._texts.write_text(json.dumps(self.corpora), encoding="utf-8")

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def measure(self, names: Sequence[str], rounds: int) -> list[Run]:
        """Return one Run for each installation, with `rounds` figures for each workload that it has."""
        runs = [Run() for _ in self.installations]
        for number in range(rounds):
            self._round(runs, list(names), number)
        return runs

    def _round(self, runs: list[Run], names: list[str], number: int) -> None:
        order = range(len(runs)) if number % 2 == 0 else range(len(runs) - 1, -1, -1)
        with contextlib.ExitStack() as stack:
            processes = {
                at: stack.enter_context(Process(self.installations[at], self.prepared, str(self._texts)))
                for at in order
            }
            for at, process in processes.items():
                _note(runs[at], process.about)
            self._check(runs[0])
            for name in names:
                here = [at for at in order if name in processes[at].about["answers"]]
                for at, timings in _timed({at: processes[at] for at in here}, name).items():
                    runs[at].figures.setdefault(name, Timings()).add(timings)
                self._step()


def _timed(processes: dict[int, Process], name: str) -> dict[int, list[dict[str, float]]]:
    """Return the timings of one workload in each process, taken in turn: a b, b a, a b, b a."""
    found: dict[int, list[dict[str, float]]] = {at: [] for at in processes}
    for turn in range(TIMINGS):
        for at in list(processes) if turn % 2 == 0 else list(processes)[::-1]:
            found[at].append(processes[at].time(name, warm=turn == 0))
    return found


def _note(run: Run, about: dict[str, Any]) -> None:
    run.facts = about["facts"]
    run.answers = about["answers"]
    run.missing = about["missing"]
    run.wrong = about["wrong"]
