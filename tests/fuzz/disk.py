"""The process with the failing disk: ``python -m tests.fuzz.disk``, with inject.so loaded before the C library.

It imports everything once, then forks for every case, because a fresh interpreter takes longer than the case. A case
comes as a line of JSON on standard input; the answer is a line with ``error`` (None where all is well), ``calls`` (that
change files, of the unbroken run) and ``ended`` (how the run with the fault ended).
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import json
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
import traceback
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FAULTS = ("none", "full", "broken", "short", "kill", "interrupt")
#: Seconds after which a forked process is taken to hang.
_PATIENCE = 60

State = dict[str, list[tuple[str, int | None]]]


class Disk:
    """The injector that was loaded before the C library."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.pychunk_inject_calls.restype = ctypes.c_long
        self._library.pychunk_inject_unseen.restype = ctypes.c_long

    def arm(self, folder: Path, call: int = 0, fault: str = "none", half: bool = False) -> None:
        """Counts from now on; at the call of this number comes the fault."""
        self._library.pychunk_inject_arm(
            os.fsencode(folder), ctypes.c_long(call), FAULTS.index(fault), ctypes.c_int(half)
        )

    def mend(self) -> None:
        self._library.pychunk_inject_disarm()

    @property
    def calls(self) -> int:
        return int(self._library.pychunk_inject_calls())

    @property
    def unseen(self) -> int:
        return int(self._library.pychunk_inject_unseen())


DISK = Disk()


def forked(work: Callable[[Callable[[Any], None]], Any]) -> tuple[int, list[Any]]:
    """(status, what it told) of a forked process that calls ``work(tell)``; the last is what ``work`` returned."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        status = 0
        try:

            def tell(value: Any) -> None:
                data = pickle.dumps(value)
                os.write(write, len(data).to_bytes(8, "little") + data)

            tell(work(tell))
        except BaseException:
            traceback.print_exc()
            tell("".join(traceback.format_exc()[-3000:]))
            status = 1
        os._exit(status)
    os.close(write)
    ended = time.monotonic() + _PATIENCE
    data = b""
    with os.fdopen(read, "rb") as pipe:
        os.set_blocking(read, False)
        while True:
            some = os.read(read, 1 << 16) if _readable(read) else None
            if some == b"":
                break
            data += some or b""
            if time.monotonic() > ended:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return 1000, [f"no end within {_PATIENCE} s"]
        del pipe
    told = []
    while data:
        size = int.from_bytes(data[:8], "little")
        told.append(pickle.loads(data[8 : 8 + size]))
        data = data[8 + size :]
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told


def _readable(handle: int) -> bool:
    import select

    return bool(select.select([handle], [], [], 1.0)[0])


def done(work: Callable[[], Any]) -> Any:
    """What ``work`` returns, in a forked process; its error, or its end, is a finding."""
    status, told = forked(lambda tell: work())
    if status:
        raise AssertionError(f"status {status}: {told[-1] if told else ''}")
    return told[-1]


def contents(folder: Path) -> dict[str, bytes]:
    """All files, those of folders in it too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def differing(wanted: dict[str, bytes], found: dict[str, bytes]) -> str:
    return ", ".join(name for name in sorted({*wanted, *found}) if wanted.get(name) != found.get(name))


class Work(ABC):
    """What is done under a fault: from ``state`` 0, steps that each end with a state that is on the disk.

    Attributes:
        folder: below which calls are counted; empty at first.
        same_bytes: whether the bytes of a run that went on after a kill are those of the unbroken run.
    """

    same_bytes = True
    steps: int

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        self.folder, self.options = folder, options

    @abstractmethod
    def prepare(self) -> None:
        """Writes state 0."""

    @abstractmethod
    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        """All steps after state ``begun``; tells the number of each state that is reached."""

    def survive(self) -> None:
        """All steps, where the disk may fail once: what fails is done again once the disk is mended."""
        try:
            self.run(lambda state: None)
        except (OSError, RuntimeError, KeyboardInterrupt):
            DISK.mend()
            self.run(lambda state: None, self.check(None))

    @abstractmethod
    def check(self, possible: set[int] | None) -> int:
        """The state that is on the disk, which is whole, and one of those possible."""

    def found(self) -> dict[str, bytes]:
        return contents(self.folder)


class Indexing(Work):
    """Adds, replacements and removals, with saves between."""

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        super().__init__(folder, options)
        self.path = folder / "x.idx"
        self.script = [tuple(step) for step in options["script"]]
        self.steps = sum(step[0] == "save" for step in self.script)

    def prepare(self) -> None:
        from pychunk.retrieval.index import Index

        index = Index.create(self.path, kind=self.options["kind"], vectors=self.options["vectors"])
        index.add(*self._batch(["a", "b", "c"], 0)[:1])
        index.save()
        index.close()

    def _batch(self, names: list[str], version: int) -> tuple[Any, dict[str, Any], State]:
        """(chunks, keywords, what they come to) of documents of some sentences each."""
        import pychunk

        texts = [
            " ".join(f"Document {name} in version {version} has sentence {i}." for i in range(1 + (ord(name) % 4)))
            for name in names
        ]
        chunks = pychunk.segment(
            texts,
            "sentence",
            vectors="sentence" if self.options["vectors"] != "chunk" else "chunk",
            ids=names,
            threads=1,
        )
        years = [1900 + version + i for i in range(len(names))] if version % 2 else [None] * len(names)
        keywords = {"metadata": {"year": years}} if version % 2 else {}
        state: State = {}
        for name, text in zip(chunks.table["id"].to_pylist(), chunks.table["text"].to_pylist(), strict=True):
            state.setdefault(name, []).append((text, years[names.index(name)]))
        return chunks, keywords, state

    @functools.cached_property
    def after(self) -> list[State]:
        """The contents at first, and after each step."""
        found = [self._batch(["a", "b", "c"], 0)[2]]
        for number, step in enumerate(self.script, 1):
            now = found[-1]
            if step[0] == "add":
                now = {**now, **self._batch(step[1], number)[2]}
            if step[0] == "remove":
                now = {name: rows for name, rows in now.items() if name not in step[1]}
            found.append(now)
        return found

    @property
    def states(self) -> list[State]:
        """The contents at first, and after each save."""
        saved = [number for number, step in enumerate(self.script, 1) if step[0] == "save"]
        return [self.after[number] for number in [0, *saved]]

    def _apply(self, index: Any, number: int, step: tuple[Any, ...]) -> None:
        if step[0] == "add":
            chunks, keywords, _ = self._batch(step[1], number)
            index.add(chunks, **keywords)
        elif step[0] == "remove":
            index.remove(step[1])
        elif step[0] == "search":
            index.search("document", k=3)
        else:
            index.save()

    def _from(self, state: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Steps after a state, numbered."""
        saves = 0
        for number, step in enumerate(self.script, 1):
            if saves >= state:
                yield number, step
            saves += step[0] == "save"

    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        from pychunk.retrieval.index import Index

        index = Index.open(self.path)
        for number, step in self._from(begun):
            self._apply(index, number, step)
            if step[0] == "save":
                begun += 1
                tell(begun)
        index.save()  # where nothing is left to save, what a kill left is removed all the same
        index.close()

    def survive(self) -> None:
        from pychunk.retrieval.index import Index

        index, state = Index.open(self.path), 0
        steps = list(self._from(0))
        while steps:
            number, step = steps[0]
            try:
                self._apply(index, number, step)
            except (OSError, KeyboardInterrupt):
                DISK.mend()
                if step[0] == "save":
                    state = self.check({state, state + 1})
                else:
                    self.check({state})
                try:
                    self._same(index, number)
                    self._apply(index, number, step)
                except ValueError as lost:
                    if "is lost" not in str(lost):
                        raise
                    index.close(discard=True)
                    index = Index.open(self.path)
                    steps = list(self._from(state))
                    continue
                if step[0] == "save":
                    state = self.check({self._saves(number)})
            else:
                state += step[0] == "save"
            del steps[0]
        DISK.mend()
        index.close()
        self.check({self.steps})

    def _saves(self, number: int) -> int:
        return sum(step[0] == "save" for step in self.script[:number])

    def _same(self, index: Any, number: int) -> None:
        """The index that a step failed on holds what it did before."""
        wanted, found = self.after[number - 1], _state_of(index)
        assert found == wanted, f"before step {number} there was {wanted}, now {found}"

    def check(self, possible: set[int] | None) -> int:
        from pychunk.retrieval.index import Index

        index = Index.open(self.path, verify=True)
        found = _state_of(index)
        which = [i for i, state in enumerate(self.states) if state == found and (possible is None or i in possible)]
        assert which, f"not one of the states {possible}: {found}"
        return which[-1]  # of two that are equal, the save between changed nothing


def _state_of(index: Any) -> State:
    """Documents and their chunks, as the table and as searches tell them."""
    table, removed = index.table, index._contents.removed
    state: State = {}
    for row, gone in zip(table.to_pylist(), removed, strict=True):
        if not gone:
            state.setdefault(row["id"], []).append((row["text"], row.get("year")))
    count = len(index)
    assert count == sum(map(len, state.values()))
    for mode in ("dense", "sparse", "hybrid"):
        hits = index.search("document", k=10_000, mode=mode)[0]
        assert Counter(hit.id for hit in hits) == Counter({name: len(rows) for name, rows in state.items()}), mode
    return state


class Ingesting(Work):
    """A corpus to shards."""

    steps = 1

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        super().__init__(folder, options)
        self.source = folder.parent / f"{folder.name}.jsonl"

    def prepare(self) -> None:
        lines = []
        for i in range(self.options["documents"]):
            text = " ".join(f"Document {i} has sentence {j}, and no more." for j in range(1 + i * 7 % 40))
            lines.append("broken\n" if i % 29 == 5 else json.dumps({"id": f"d{i}", "text": text}) + "\n")
        self.source.write_text("".join(lines))
        os.utime(self.source, (1, 1))  # the manifest holds it

    def _ingest(self) -> Any:
        from pychunk.ingest import ingest

        return ingest(
            self.source,
            self.folder / "out",
            column="text",
            id_column="id",
            resume=True,
            shard_bytes=self.options["shard_bytes"],
            compression=self.options["compression"],
            vectors=self.options["vectors"],
            threads=1,
        )

    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        self._ingest()
        tell(1)

    def survive(self) -> None:
        try:
            self._ingest()
        except (OSError, RuntimeError, KeyboardInterrupt):
            DISK.mend()
            self.check(None)
            self._ingest()

    def check(self, possible: set[int] | None) -> int:
        from pychunk.ingest.manifest import Manifest
        from pychunk.ingest.verify import damage

        manifest = Manifest.load(self.folder / "out") if (self.folder / "out").is_dir() else None
        if manifest is not None:
            bad = damage(self.folder / "out", manifest.shards, hashes=True)
            assert not bad, bad
        state = int(manifest is not None and manifest.complete)
        assert possible is None or state in possible
        return state


class Model(Work):
    """A model's folder, written where an older one lies or none."""

    steps = 1
    same_bytes = False  # what a kill leaves beside the model stays

    def prepare(self) -> None:
        if self.options["older"]:
            self._write(b"older")

    def _write(self, data: bytes) -> None:
        from pychunk.encoders import model_dir

        with model_dir.whole_or_nothing(self.folder / "model") as aside:
            (aside / "model.onnx").write_bytes(data * 10_000)
            (aside / "vocab.txt").write_bytes(b"[PAD]\n" * 1000)
            model_dir.write_facts(
                aside,
                model_dir.ModelFacts(
                    name=data.decode(),
                    task="vectors",
                    model="model.onnx",
                    model_sha256=model_dir.sha256(aside / "model.onnx"),
                    tokenizer="vocab.txt",
                    tokenizer_sha256=model_dir.sha256(aside / "vocab.txt"),
                    prefix=(1,),
                    middle=(),
                    suffix=(2,),
                    pad=0,
                    max_length=512,
                ),
            )

    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        self._write(b"newer")
        tell(1)

    def survive(self) -> None:
        try:
            self._write(b"newer")
        except (OSError, KeyboardInterrupt):
            DISK.mend()
            assert not self.options["older"] or (self.folder / "model").exists()
            self.check({0, 1})
            self._write(b"newer")

    def check(self, possible: set[int] | None) -> int:
        from pychunk.encoders import model_dir

        if not (self.folder / "model").exists():
            return 0
        state = int(model_dir.read(self.folder / "model").name == "newer")
        assert possible is None or state in possible
        assert state or self.options["older"]
        return state


class Segmenting(Work):
    """A table of chunks in the place of a file."""

    steps = 1

    def prepare(self) -> None:
        self._path.write_bytes(b"mine")

    @property
    def _path(self) -> Path:
        return self.folder / f"out{self.options['ending']}"

    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        import pychunk
        from pychunk.io.writers import Writer

        with Writer(str(self._path)) as writer:
            for batch in range(self.options["batches"]):
                texts = [f"Batch {batch} has document {i}. It says no more." for i in range(200)]
                writer.write(pychunk.segment(texts, "sentence", threads=1).table)
        tell(1)

    def survive(self) -> None:
        try:
            self.run(lambda state: None)
        except (OSError, KeyboardInterrupt):
            DISK.mend()
            self.check({0, 1})
            assert [path.name for path in self.folder.iterdir()] == [self._path.name]
            self.run(lambda state: None)

    def check(self, possible: set[int] | None) -> int:
        import pyarrow as pa
        import pyarrow.parquet as pq

        data = self._path.read_bytes()
        state = int(data != b"mine")
        if state:
            count = {
                ".jsonl": lambda: len([json.loads(line) for line in data.splitlines()]),
                ".parquet": lambda: pq.read_table(pa.BufferReader(data)).num_rows,
                ".arrow": lambda: pa.ipc.open_file(data).read_all().num_rows,
            }[self.options["ending"]]()
            assert count == 400 * self.options["batches"], count
        assert possible is None or state in possible
        return state

    def found(self) -> dict[str, bytes]:
        return {self._path.name: self._path.read_bytes()}


KINDS: dict[str, type[Work]] = {"index": Indexing, "ingest": Ingesting, "model": Model, "segment": Segmenting}


class Unbroken:
    """What cases come to where nothing fails, kept for the last few."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self._kept: dict[str, tuple[int, dict[str, bytes]]] = {}

    def of(self, kind: str, options: dict[str, Any]) -> tuple[int, dict[str, bytes]]:
        """(calls that change files, the files)."""
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
    """The answer to a case."""
    try:
        calls, wanted = unbroken.of(case["kind"], case["options"])
    except AssertionError:
        shutil.rmtree(scratch / "case", ignore_errors=True)
        return {"error": f"without a fault: {traceback.format_exc()}", "calls": 0, "call": 0}
    work = KINDS[case["kind"]](scratch / "case", case["options"])  # the same place as the unbroken run's: it is told
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
    from pychunk.ingest import run, shards
    from pychunk.io import open_source
    from pychunk.retrieval import contents as contents_

    for late in ("pychunk.encoders.model_dir", "pychunk.io.readers", "pychunk.io.writers"):
        importlib.import_module(late)  # a case would import it under its fault, and each fork anew
    for kind in ("flat", "hnsw"):  # what is loaded once is loaded before the forks
        work = Indexing(scratch / kind, {"kind": kind, "vectors": "sentence", "script": [["save"]]})
        work.folder.mkdir()
        work.prepare()
        work.check({1})
        shutil.rmtree(work.folder)
    pychunk.segment("Warm up.", "sentence", vectors="chunk", threads=1)
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
    except BrokenPipeError:  # who asked is gone
        os._exit(0)
