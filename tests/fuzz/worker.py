"""The process that tries a target's inputs, so that an input that kills it or never ends is a finding, too."""

from __future__ import annotations

import importlib
import logging
import os
import pickle
import random
import signal
import sys
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any, Protocol

import numpy as np


class Target(Protocol):
    """A target for random inputs. A case is a plain value that pickles."""

    name: str

    def make(self, rng: random.Random) -> Any:
        """Return one case; everything random in it comes from `rng`."""

    def check(self, case: Any) -> None:
        """Raise if pychunk does something wrong; leave no files."""

    def simpler(self, case: Any) -> Iterator[Any]:
        """Yield cases to try instead after a failure, the simplest first."""

    def test(self, case: Any) -> str:
        """Return the source of a pytest function that fails if the case does."""


def load(name: str) -> Target:
    """Return the target of tests/fuzz/`name`.py, or of any module by its dotted name."""
    target: Target = importlib.import_module(name if "." in name else f"tests.fuzz.{name}").target
    return target


def rng_of(target: str, seed: int) -> random.Random:
    """Return the random numbers of one input, the same on every machine and in every process."""
    return random.Random(f"{target} {seed}")


def describe(error: BaseException) -> str:
    """Return a failure as text, with the message last, as Python prints it."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__)[-12:])


def _quiet() -> None:
    # The runner handles Ctrl-C; a worker ends when its pipe closes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("PYCHUNK_THREADS", "2")
    logging.disable(logging.WARNING)  # random text is not English, as pychunk would warn each time


def search(name: str, first: int, step: int, shared: Any, pipe: Connection) -> None:
    """Try the seeds first, first + step, ... until this process is killed; send (seed, failure).

    `shared` tells the runner [the seed being tried, inputs finished], even if the process dies.
    """
    _quiet()
    target = load(name)
    progress = np.frombuffer(shared, np.int64)
    seed = first
    while True:
        progress[0] = seed
        try:
            target.check(target.make(rng_of(name, seed)))
        except Exception as error:
            pipe.send((seed, describe(error)))
        progress[1] += 1
        seed += step
        if os.getppid() == 1:
            return


def answer(name: str, pipe: Connection) -> None:
    """Report when ready, then check the cases from the pipe, and send None or the failure for each."""
    _quiet()
    target = load(name)
    pipe.send("ready")
    while True:
        try:
            case = pickle.loads(pipe.recv_bytes())
        except EOFError:
            return
        try:
            target.check(case)
        except Exception as error:
            pipe.send(describe(error))
        else:
            pipe.send(None)
        sys.stdout.flush()
