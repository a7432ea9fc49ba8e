"""A runner of one Python target in several processes until a deadline, which keeps the findings."""

from __future__ import annotations

import multiprocessing
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import worker
from .shrink import kind, shrink

#: The number of different findings after which a target stops: they should be fixed before more are searched.
MOST = 5


@dataclass
class Outcome:
    """The outcome of a target."""

    target: str
    executions: int = 0
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)  # one line each, the file with the test in it

    @property
    def rate(self) -> float:
        return self.executions / self.seconds if self.seconds else 0.0


class _Worker:
    """A searching process, restarted after the seed that killed it."""

    def __init__(self, name: str, first: int, step: int) -> None:
        self.name, self.step = name, step
        self._shared = multiprocessing.get_context("spawn").RawArray("q", 2)
        self.progress = np.frombuffer(self._shared, np.int64)
        self.executions = 0  # from processes that ended
        self.start(first)

    def start(self, first: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.executions += int(self.progress[1])
        self.progress[:] = (-1, 0)
        self.pipe, other = context.Pipe()
        arguments = (self.name, first, self.step, self._shared, other)
        self.process: Any = context.Process(target=worker.search, args=arguments, daemon=True)
        self.process.start()
        other.close()
        self.first = first
        self.seen, self.since = (-1, -1), time.monotonic()

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def news(self, timeout: float) -> tuple[int, str] | None:
        """Return a finding: one that the process sent, its death, or an input that takes too long."""
        try:
            if self.pipe.poll():
                return self.pipe.recv()
        except (EOFError, OSError):
            pass
        seed, done = int(self.progress[0]), int(self.progress[1])
        if (seed, done) != self.seen:
            self.seen, self.since = (seed, done), time.monotonic()
        if not self.process.is_alive():
            self.process.join()
            if seed < 0:
                raise RuntimeError(f"the target {self.name} cannot be loaded: status {self.process.exitcode}")
            found = f"the process died with status {self.process.exitcode}"
        elif seed >= 0 and time.monotonic() - self.since > timeout:
            found = f"no end within {timeout:g} s"
            self.process.kill()
            self.process.join()
        else:
            return None
        self.pipe.close()
        self.start(seed + self.step)
        return seed, found


def run(
    name: str,
    *,
    seconds: float,
    jobs: int,
    seed: int,
    findings: Path,
    executions: int | None = None,
    say: Callable[[str], None] = print,
) -> Outcome:
    """Try inputs of the target `name` for this many seconds, or until this many executions.

    Returns the outcome; each finding is in the folder `findings` as a file with a test in it.
    """
    target = worker.load(name)
    timeout = float(getattr(target, "timeout", 60.0))
    outcome, known, begun = Outcome(name), set[str](), time.monotonic()
    workers = [_Worker(name, seed + job, jobs) for job in range(jobs)]
    told = begun
    try:
        while True:
            time.sleep(0.05)
            for each in workers:
                news = each.news(timeout)
                while news is not None:
                    found = _keep(name, news, known, findings, timeout)
                    if found:
                        outcome.findings.append(found)
                        say(f"{name}: FOUND {found}")
                    news = each.news(timeout)
            now = time.monotonic()
            outcome.executions = sum(each.executions + int(each.progress[1]) for each in workers)
            outcome.seconds = now - begun
            if now - told > 60:
                told = now
                say(f"{name}: {outcome.executions:,} inputs, {outcome.rate:,.0f} a second")
            if outcome.seconds >= seconds or len(outcome.findings) >= MOST:
                return outcome
            if executions is not None and outcome.executions >= executions:
                return outcome
    finally:
        for each in workers:
            each.stop()


def _keep(name: str, news: tuple[int, str], known: set[str], findings: Path, timeout: float) -> str | None:
    """Shrink a finding that is new in kind and place, write it down, and return the line about it."""
    seed, failure = news
    mark = re.sub(r"\d+", "0", failure.strip().splitlines()[-1])[:200]
    if mark in known:
        return None
    known.add(mark)
    target = worker.load(name)
    case = target.make(worker.rng_of(name, seed))
    case, failure = shrink(name, case, failure, timeout=timeout, seconds=60)
    known.add(re.sub(r"\d+", "0", failure.strip().splitlines()[-1])[:200])
    findings.mkdir(parents=True, exist_ok=True)
    path = findings / f"{target.name}_{seed}.py"
    comment = "".join(f"# {line}\n" for line in failure.strip().splitlines())
    path.write_text(f"{comment}\n{target.test(case)}\n", "utf-8", errors="backslashreplace")
    return f"{kind(failure)} (seed {seed}): {path}"
