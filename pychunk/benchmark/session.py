"""A complete benchmark: measure, check the answers, compare."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import BadZipFile

from . import baseline, package_copies
from .compare import Verdict, by_calibration, by_pairs, verdicts
from .launch import Installation, copied_installation
from .measure import Bench, Run, Timings
from .workloads import WORKLOADS

#: The share of time spent waiting above which a run is called busy.
BUSY = 0.3

#: A function called before a measurement with its description and its number of steps.
Announce = Callable[[str, int], None]


@dataclass
class BenchmarkResult:
    """The run of this installation, its workloads' definitions and text sizes in bytes, and any verdicts and notes."""

    run: Run
    definitions: dict[str, str]
    sizes: dict[str, int]
    verdicts: list[Verdict]
    notes: list[str]


@dataclass
class Session:
    """The settings that all kinds of run share.

    Attributes:
        names: The workloads to time.
        rounds: The number of fresh processes, or of pairs of processes if two installations are compared. The second
            measurement of suspects takes 1.5 times as many.
        announce, step: The callbacks for progress.
    """

    names: Sequence[str]
    rounds: int
    announce: Announce = lambda what, steps: None
    step: Callable[[], None] = lambda: None

    def alone(self, here: Installation) -> BenchmarkResult:
        """Measure one installation."""
        with self._bench([here], self.names) as bench:
            return self._outcome(bench, self._measure(bench, "measuring", self.names, self.rounds)[0])

    def with_saved(self, here: Installation, base_file: Path, limit: float) -> BenchmarkResult:
        """Compare this installation with the run in a file.

        If the copy of the package that was saved next to the file can run here, this installation and the copy are
        measured in turn. Otherwise, this installation is measured and compared with the figures in the file.

        Raises:
            ValueError: The file cannot be used.
        """
        base = baseline.load(base_file)
        with ExitStack() as stack:
            try:
                package = stack.enter_context(package_copies.unpacked(package_copies.path_of(base_file), base.copy))
                other = copied_installation(package)
            except (ValueError, OSError, BadZipFile) as error:
                why = str(error)
            else:
                outcome, copy = self._in_turns(here, other, limit)
                failures = copy.wrong | copy.missing
                failed = [name for name in base.run.figures if name in failures]
                if not failed:
                    return outcome
                why = f"the base's copy fails at {failed[0]} here ({failures[failed[0]]})"
        outcome = self._with_figures(here, base.run, base.definitions, limit)
        outcome.notes.append(
            f"{why}; therefore this compares with older figures, which differ by 6 % for the same code: "
            "--max-regression 25% allows for that"
        )
        return outcome

    def _with_figures(
        self, here: Installation, base: Run, base_definitions: dict[str, str], limit: float
    ) -> BenchmarkResult:
        prepared = [name for name in WORKLOADS if name in self.names or name in base.figures]
        with self._bench([here], prepared) as bench:
            outcome = self._outcome(bench, self._measure(bench, "measuring", self.names, self.rounds)[0])

            def again(suspects: list[str]) -> tuple[dict[str, Timings], dict[str, Timings]]:
                return self._measure(bench, "measuring again", suspects, self._more)[0].figures, base.figures

            redefined = [
                name
                for name in outcome.run.figures
                if name in base.figures and base_definitions[name] != outcome.definitions[name]
            ]
            usable = {name: each for name, each in base.figures.items() if name not in redefined}
            outcome.verdicts = verdicts(outcome.run.figures, usable, by_calibration, limit, again)
        note = "the text or the options changed: save the base again"
        outcome.verdicts += [Verdict(name, "redefined", note=note) for name in redefined]
        self._complete(outcome, base, redefined)
        outcome.notes += _busy(outcome.run, base) + _other_machine(outcome.run, base)
        return outcome

    def save(self, path: Path, outcome: BenchmarkResult, here: Installation | None) -> None:
        """Write a run as a base for later runs; if ``here`` is the run's installation, also a copy of its package."""
        digest = ""
        if here is not None:
            try:
                digest = package_copies.keep(here, package_copies.path_of(path))
            except (OSError, ValueError) as error:
                outcome.notes.append(f"only the figures were saved, without a copy of the package: {error}")
        baseline.save(path, baseline.Base(outcome.run, outcome.definitions, digest))

    def with_other(self, here: Installation, other: Installation, limit: float) -> BenchmarkResult:
        """Compare this installation with another one; both are measured in turn."""
        return self._in_turns(here, other, limit)[0]

    def _in_turns(self, here: Installation, other: Installation, limit: float) -> tuple[BenchmarkResult, Run]:
        """Return the comparison and the other installation's run."""
        with self._bench([here, other], self.names) as bench:
            mine, base = self._measure(bench, "measuring both", self.names, self.rounds)
            outcome = self._outcome(bench, mine)

            def again(suspects: list[str]) -> tuple[dict[str, Timings], dict[str, Timings]]:
                runs = self._measure(bench, "measuring both again", suspects, self._more)
                return runs[0].figures, runs[1].figures

            outcome.verdicts = verdicts(mine.figures, base.figures, by_pairs, limit, again)
        self._complete(outcome, base, [])
        if mine.facts["package"] == base.facts["package"]:
            outcome.notes.append(f"both interpreters import the same pychunk, {base.facts['package']}")
        return outcome, base

    @property
    def _more(self) -> int:
        return self.rounds + (self.rounds + 1) // 2

    def _bench(self, installations: list[Installation], prepared: Sequence[str]) -> Bench:
        return Bench(installations, prepared, self.step, check_answers)

    def _measure(self, bench: Bench, what: str, names: Sequence[str], rounds: int) -> list[Run]:
        self.announce(what, rounds * len(names))
        return bench.measure(names, rounds)

    def _outcome(self, bench: Bench, run: Run) -> BenchmarkResult:
        texts = {name: bench.corpora[WORKLOADS[name].corpus] for name in self.names}
        definitions = {name: WORKLOADS[name].definition(texts[name]) for name in self.names}
        sizes = {name: sum(len(text.encode()) for text in texts[name]) for name in self.names}
        return BenchmarkResult(run, definitions, sizes, [], [])

    def _complete(self, outcome: BenchmarkResult, base: Run, redefined: list[str]) -> None:
        """Add verdicts for workloads that only one side has, and notes about answers that differ."""
        mine = outcome.run
        for at, verdict in enumerate(outcome.verdicts):
            if verdict.ratio and base.answers[verdict.name] != mine.answers[verdict.name]:
                outcome.verdicts[at] = replace(verdict, note="the base gives other chunks")
        for name in mine.figures:
            if name not in base.figures and name not in redefined:
                reason = base.missing.get(name) or base.wrong.get(name, "")
                outcome.verdicts.append(Verdict(name, "new", note=reason))
        for name in base.figures:
            if name not in mine.figures and name in self.names:
                outcome.verdicts.append(Verdict(name, "missing", note=mine.missing.get(name, "")))


def check_answers(run: Run) -> None:
    """Check that this installation fails at no workload and answers all of them correctly.

    Raises:
        ValueError: The installation fails or answers wrongly; the message names the workload.
    """
    for name, reason in run.wrong.items():
        raise ValueError(
            f"workload {name} failed: {reason}; build or install pychunk again, or name other workloads with --only"
        )
    for name, found in run.answers.items():
        expected = WORKLOADS[name].answer
        if found != expected:
            raise ValueError(
                f"workload {name} gave a wrong answer: its spans' hash is {found}, {expected} expected; build or "
                "install pychunk again, or store the new hash in pychunk/benchmark/workloads.py if other chunks are "
                "intended"
            )


def _busy(run: Run, base: Run) -> list[str]:
    shares = {}
    for which, each in (("base", base), ("run", run)):
        shares[which] = max((statistics.median(figures.waiting) for figures in each.figures.values()), default=0.0)
    return [
        f"other processes had the CPU for {100 * share:.0f} % of the {which}'s time: intervals are wider if the "
        "runs differ in this; --against compares better on a busy machine"
        for which, share in shares.items()
        if share > BUSY
    ]


def _other_machine(run: Run, base: Run) -> list[str]:
    kinds = {"cpu": "CPU", "isa": "instruction set", "python": "Python", "numpy": "NumPy"}
    return [
        f"the base was measured on another {kind} ({base.facts.get(key)}; here {run.facts[key]}): differences may come "
        "from the machine"
        for key, kind in kinds.items()
        if base.facts.get(key) != run.facts[key]
    ]
