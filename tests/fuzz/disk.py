"""The process with the failing disk: ``python -m tests.fuzz.disk``, with inject.so loaded before the C library.

It imports everything once, then forks for every case, because a fresh interpreter takes longer than the case. A case is
a line of JSON on standard input. The answer is a line with ``error`` (None if all is well), ``calls`` (those of the
unbroken run that change files) and ``call`` (the one with the fault).
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pychunk import Placement

from .forks import done, forked
from .injector import DISK
from .work import Work
from .work_files import Ingesting, Model, Segmenting, Updating
from .work_index import Indexing

KINDS: dict[str, type[Work]] = {
    "index": Indexing,
    "ingest": Ingesting,
    "model": Model,
    "segment": Segmenting,
    "update": Updating,
}


def differing(wanted: dict[str, bytes], found: dict[str, bytes]) -> str:
    return ", ".join(name for name in sorted({*wanted, *found}) if wanted.get(name) != found.get(name))


class Unbroken:
    """The results of cases without a fault, kept for the last few."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self._kept: dict[str, tuple[int, dict[str, bytes]]] = {}

    def of(self, kind: str, options: dict[str, Any]) -> tuple[int, dict[str, bytes]]:
        """Return the calls that change files, and the files."""
        key = json.dumps([kind, options])
        if key not in self._kept:
            work = KINDS[kind](self.scratch / "case", options)
            self._kept = dict(list(self._kept.items())[-3:])
            self._kept[key] = done(lambda: self._run(work))
            shutil.rmtree(work.folder)
        return self._kept[key]

    @staticmethod
    def _run(work: Work) -> tuple[int, dict[str, bytes]]:
        work.folder.mkdir()
        work.prepare()
        DISK.arm(work.folder)
        work.run(lambda state: None)
        DISK.mend()
        assert DISK.unseen == 0, "something writes by C's streams, where faults cannot be injected"
        assert work.check({work.steps}) == work.steps
        return DISK.calls, work.found()


def tried(scratch: Path, unbroken: Unbroken, case: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a case."""
    try:
        calls, wanted = unbroken.of(case["kind"], case["options"])
    except AssertionError:
        shutil.rmtree(scratch / "case", ignore_errors=True)
        return {"error": f"without a fault: {traceback.format_exc()}", "calls": 0, "call": 0}
    work = KINDS[case["kind"]](scratch / "case", case["options"])  # the unbroken run's folder: its path is stored
    call = 1 + min(calls - 1, int(case["at"] * calls))
    fault = case["fault"]

    def broken(tell: Callable[[Any], None]) -> None:
        work.folder.mkdir()
        work.prepare()
        DISK.arm(work.folder, call, fault, case["half"])
        if fault in ("kill", "short"):
            work.run(tell)
        else:
            work.survive()
        DISK.mend()

    try:
        status, told = forked(broken)
        if fault == "kill":
            assert status == -signal.SIGKILL, f"status {status}: {told[-1:]}"
            last = told[-1] if told else 0
            state = done(lambda: work.check({last, last + 1}))
            done(lambda: work.run(lambda state: None, state))
        else:
            assert status == 0, f"status {status}: {told[-1:]}"
        done(lambda: work.check({work.steps}))
        found = work.found()
        if work.same_bytes and (fault in ("kill", "short") or case["kind"] != "index"):
            assert found == wanted, f"other bytes than those of an unbroken run: {differing(wanted, found)}"
        return {"error": None, "calls": calls, "call": call}
    except Exception:
        return {"error": traceback.format_exc(), "calls": calls, "call": call}
    finally:
        shutil.rmtree(work.folder, ignore_errors=True)


def _warm(scratch: Path) -> None:
    import pychunk
    from pychunk.index import writer as contents_
    from pychunk.index.dense import quantized_index
    from pychunk.ingest import run, shards
    from pychunk.io import open_source

    for late in ("pychunk.encoders.files.model_dir", "pychunk.io.writers"):
        importlib.import_module(late)  # a case would import it under its fault, and each fork would import it again
    quantized_index.LEAST = 8  # enough vectors for codes
    for kind in ("flat", "pq", "hnsw"):  # everything that is loaded once is loaded before the forks
        work = Indexing(scratch / kind, {"kind": kind, "vectors": "sentence", "script": [["save"]]})
        work.folder.mkdir()
        work.prepare()
        work.check({1})
        shutil.rmtree(work.folder)
    pychunk.segment("Warm up.", "sentence", vectors="chunk", placement=Placement(threads=1))
    contents_.PART_CHUNKS = 40  # so that parts fill, are merged, and compaction has work
    run.open_source = functools.partial(open_source, batch_bytes=1 << 13)
    shards.ROW_GROUP_BYTES = 10_000


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # fsync takes 30 ms on a disk: most of the time
    with tempfile.TemporaryDirectory(prefix="pychunk-disk-", dir=memory) as folder:
        scratch = Path(folder).resolve()
        _warm(scratch)
        unbroken = Unbroken(scratch)
        for line in sys.stdin:
            print(json.dumps(tried(scratch, unbroken, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # the requesting process has ended
        os._exit(0)
