"""The launch of the processes that are timed, under this interpreter or another."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

CHILD = Path(__file__).resolve().parent / "timed_process.py"

#: The environment variables of the process. With one thread, CPU time measures all work. The thresholds of the C
#: library's allocator are fixed, because it otherwise adapts them to the memory that was freed before. A workload's
#: page faults would then depend on the other workloads.
SETTINGS = {
    "PYCHUNK_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
}


@dataclass(frozen=True)
class Installation:
    """An interpreter and the pychunk that it imports.

    Attributes:
        python: The file of the interpreter.
        package: The folder of that pychunk; None means whichever the interpreter finds.
        inherits: Whether PYTHONPATH applies. For another interpreter it would point at this installation.
        program: The program that runs in the process.
    """

    python: str
    package: str | None
    inherits: bool = True
    program: Path = CHILD


def this_installation() -> Installation:
    """Return the pychunk that this module belongs to."""
    return Installation(sys.executable, str(Path(__file__).resolve().parents[1]))


def other_installation(python: str) -> Installation:
    """Return the pychunk of another interpreter, or of the virtual environment in a folder.

    Raises:
        ValueError: There is no such interpreter, or it cannot import pychunk.
    """
    path = Path(python)
    found = str(path / "bin" / "python") if path.is_dir() else shutil.which(python)
    if found is None or not Path(found).is_file():
        raise ValueError(f"no Python interpreter at {python!r}: pass its file, or the folder of a virtual environment")
    found = os.path.abspath(found)  # not resolved, because a virtual environment's interpreter is a link
    with Process(Installation(found, None, inherits=False), [], "") as process:
        return Installation(found, process.about["facts"]["package"], inherits=False)


def copied_installation(package: Path) -> Installation:
    """Return this interpreter with the pychunk in a folder.

    Raises:
        ValueError: The interpreter cannot import that pychunk.
    """
    found = Installation(sys.executable, str(package))
    with Process(found, [], ""):
        return found


class Process:
    """A fresh process with prepared workloads, as a context manager.

    Attributes:
        about: The facts of the process, its answers, and the workloads that are missing or wrong, with the reason.

    Raises:
        ValueError: The process ended early. The message has the end of its output.
    """

    def __init__(self, installation: Installation, names: list[str], texts: str) -> None:
        environment = {**os.environ, **SETTINGS}
        if not installation.inherits:
            for name in ("PYTHONPATH", "PYTHONHOME", "__PYVENV_LAUNCHER__"):
                environment.pop(name, None)
        self._installation = installation
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._folder = tempfile.TemporaryDirectory()  # an empty folder, so that nothing is imported by mistake
        self._process = subprocess.Popen(
            [installation.python, str(installation.program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=self._folder.name,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        try:
            self.about = self._ask({"package": installation.package, "texts": texts, "names": names})
        except BaseException:
            self.close()
            raise

    def time(self, name: str, *, warm: bool = False) -> dict[str, float]:
        """Return the CPU and wall seconds of a call of the workload, and the calibration's seconds."""
        timing: dict[str, float] = self._ask({"name": name, "warm": warm})
        return timing

    def _ask(self, question: dict[str, Any]) -> Any:
        pipes = self._process.stdin, self._process.stdout
        line = ""
        if pipes[0] is not None and pipes[1] is not None:
            try:
                pipes[0].write(json.dumps(question) + "\n")
                pipes[0].flush()
                line = pipes[1].readline()
            except BrokenPipeError:
                line = ""
        if not line:
            raise ValueError(
                f"{self._installation.python} could not time pychunk: {self._last_words()}; install pychunk again, or "
                "pass another interpreter"
            )
        return json.loads(line)

    def _last_words(self) -> str:
        status = self._process.wait(timeout=10)
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with status {status}"

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()
        self._folder.cleanup()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
