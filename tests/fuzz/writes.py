"""Writing on a disk that fails: full, broken, in short pieces, or with a kill, at any call that changes files.

In every case the disk holds the state before or the one after, which opens. A failed step works when it is tried again.
A run that continued after a kill has the bytes of one that was never broken.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(__file__).with_name("inject.c")


class Case(NamedTuple):
    """The work (see the classes of work_*.py for the options), and the fault.

    Attributes:
        at: The call with the fault, as a share of all calls that change files.
        half: Whether a write stores half of its bytes before it fails.
    """

    kind: str
    options: dict[str, Any]
    fault: str
    at: float
    half: bool = False


def unavailable() -> str:
    """Return why faults cannot be injected here, or "" if they can."""
    if not sys.platform.startswith("linux"):
        return "LD_PRELOAD and /proc are Linux's"
    return "" if shutil.which("cc") else "no C compiler (cc)"


@functools.cache
def injector() -> Path:
    """Return the library that makes a disk fail, compiled once for each version of its source."""
    name = f"pychunk-inject-{os.getuid()}-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]}.so"
    path = Path(tempfile.gettempdir()) / name
    if not path.exists():
        aside = path.with_suffix(f".{os.getpid()}")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(aside), str(SOURCE), "-ldl"], check=True)
        aside.replace(path)
    return path


class FailingDisk:
    """A process that tries cases one after the other; a context manager."""

    def __init__(self) -> None:
        own = {"LD_PRELOAD": str(injector()), "OMP_NUM_THREADS": "1", "PYCHUNK_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.disk"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **own},
            cwd=SOURCE.parents[2],
            start_new_session=True,  # Ctrl-C is for the process that started this
        )

    def __enter__(self) -> FailingDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        self._process.wait()

    def answer(self, case: Case) -> dict[str, Any]:
        """Return the outcome of a case: ``error``, ``calls``, ``call``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(case._asdict()), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the process with the failing disk ended: status {self._process.wait()}")
        found: dict[str, Any] = json.loads(line)
        return found

    def check(self, case: Case) -> int:
        """Return the number of calls in the unbroken run; raise on a finding."""
        found = self.answer(case)
        if found["error"]:
            raise AssertionError(f"{case}, at call {found['call']} of {found['calls']}:\n{found['error']}")
        return int(found["calls"])


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Callable[[], None]]:
    """Mount a file system of this size, and yield a function that enlarges it; skip the test if mounting fails."""
    import pytest

    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        enlarge = ["mount", "-o", "remount,size=256m", str(folder)]
        yield lambda: print(subprocess.run(enlarge, check=True))
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@functools.cache
def _disk() -> FailingDisk:
    disk = FailingDisk()
    atexit.register(disk.close)
    return disk


class Writes:
    """The target for writes."""

    name = "writes"

    def make(self, rng: random.Random) -> Case:
        kind = rng.choice(["index", "index", "index", "ingest", "ingest", "model", "segment"])
        options = getattr(self, f"_{kind}")(rng)
        fault = rng.choice(["full", "full", "broken", "short", "kill", "kill", "kill", "interrupt"])
        return Case(kind, options, fault, rng.random(), rng.random() < 0.5)

    def _index(self, rng: random.Random) -> dict[str, Any]:
        script: list[list[Any]] = []
        for _ in range(rng.randint(1, 4)):
            for _ in range(rng.randint(0, 6)):
                what = rng.choice(["add", "add", "add", "remove", "search"])
                names = rng.sample("abcdefghijklmnop", rng.randint(1, 12 if what == "add" else 6))
                script.append([what, names] if what != "search" else [what])
            script.append(["save"])
        return {
            "kind": rng.choice(["flat", "pq", "hnsw"]),
            "vectors": rng.choice(["sentence", "chunk"]),
            "script": script,
            "contexts": rng.random() < 0.5,
        }

    def _ingest(self, rng: random.Random) -> dict[str, Any]:
        return {
            "documents": rng.choice([0, 1, 40, 120]),
            "shard_bytes": rng.choice([1, 9000, 40_000]),
            "compression": rng.choice(["none", "lz4", "zstd"]),
            "vectors": rng.choice([None, "chunk", "sentence"]),
            "summaries": rng.random() < 0.5,
            "removed": rng.random() < 0.3,
        }

    def _model(self, rng: random.Random) -> dict[str, Any]:
        return {"older": rng.random() < 0.5}

    def _segment(self, rng: random.Random) -> dict[str, Any]:
        return {"ending": rng.choice([".parquet", ".jsonl", ".arrow"]), "batches": rng.randint(1, 3)}

    def check(self, case: Case) -> None:
        if not unavailable():
            _disk().check(case)

    def simpler(self, case: Case) -> Iterator[Case]:
        if case.kind == "index":
            script = case.options["script"]
            for i in range(len(script)):
                rest = script[:i] + script[i + 1 :]
                if any(step[0] == "save" for step in rest):
                    yield case._replace(options={**case.options, "script": rest})
            for i, step in enumerate(script):
                if step[0] in ("add", "remove") and len(step[1]) > 1:
                    half = [step[0], step[1][: len(step[1]) // 2]]
                    yield case._replace(options={**case.options, "script": [*script[:i], half, *script[i + 1 :]]})
        if case.kind == "ingest" and case.options["documents"] > 40:
            yield case._replace(options={**case.options, "documents": 40})
        if case.half:
            yield case._replace(half=False)

    def test(self, case: Case) -> str:
        return (
            "def test_a_failing_disk() -> None:\n"
            "    from tests.fuzz.writes import Case, FailingDisk\n\n"
            "    with FailingDisk() as disk:\n"
            f"        disk.check({case!r})\n"
        )


target = Writes()
