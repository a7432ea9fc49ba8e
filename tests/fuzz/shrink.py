"""A shrinker of failing cases, which tries each candidate in a process that may die or hang."""

from __future__ import annotations

import multiprocessing
import pickle
import time
from typing import Any

from . import worker


class Checker:
    """A process that says whether and how a case fails; one that dies or hangs counts as failing and is replaced."""

    def __init__(self, target: str, timeout: float) -> None:
        self._target = target
        self._timeout = timeout
        self._process: Any = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=worker.answer, args=(self._target, other), daemon=True)
        self._process.start()
        other.close()
        self._pipe.recv()  # imports may take longer than many cases

    def failure(self, case: Any) -> str | None:
        """Return the case's failure, or None if all is well."""
        if self._process is None:
            self._start()
        try:
            self._pipe.send_bytes(pickle.dumps(case))
            if self._pipe.poll(self._timeout):
                return self._pipe.recv()
            self.close()
            return f"no end within {self._timeout:g} s"
        except (EOFError, OSError):
            self._process.join(5)
            code = self._process.exitcode
            self.close()
            return f"the process died with status {code}"

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def kind(failure: str) -> str:
    """Return the class of a failure: the exception's type, or the whole text of a death or a hang."""
    last = failure.strip().splitlines()[-1]
    return last.split(":")[0] if "Traceback" in failure or "Error" in last else last


def shrink(name: str, case: Any, failure: str, *, timeout: float, seconds: float) -> tuple[Any, str]:
    """Return the simplest case found that fails in the same way, and its failure, within `seconds`."""
    target = worker.load(name)
    checker = Checker(name, timeout)
    deadline = time.monotonic() + seconds
    wanted = kind(failure)
    try:
        moved = True
        while moved and time.monotonic() < deadline:
            moved = False
            for candidate in target.simpler(case):
                found = checker.failure(candidate)
                if found is not None and kind(found) == wanted:
                    case, failure, moved = candidate, found, True
                    break
                if time.monotonic() > deadline:
                    break
    finally:
        checker.close()
    return case, failure
