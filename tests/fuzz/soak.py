"""The command ``python -m tests.fuzz.soak --minutes 60``: mixed calls of many threads, forks, interrupts and faults.

The calls come in turns. After each turn all threads have ended, and a line shows what the process still has. That is
the bytes that the C library and Arrow have allocated and not got back, blocks of Python's objects, resident memory
after free memory went back to the system, handles, and threads. Caches fill during a warm-up of a third of the time.
After it none of these may grow: the median of the last third is compared with that of the second. The status is 1 if
one has grown, or if a call did something wrong.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import faulthandler
import gc
import json
import os
import pickle
import random
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import pychunk
from pychunk._engine import native
from pychunk.encoders import registry
from pychunk.encoders.runtime.placement import ModelPlacement
from pychunk.index.index import Index
from pychunk.io import open_source
from pychunk.io.writers import Writer

#: The allowed difference between the medians of two thirds of the time: (share, at least). The threads that help with
#: large calls stay, with the scratch memory of the largest document that each has met. Resident memory varies with the
#: free blocks between used ones. A leak of 1 kB a call is 20 MB or more in the last third of an hour.
ROOM = {
    "native MB": (0.0, 12),
    "Python blocks": (0.005, 1000),
    "resident MB": (0.15, 50),
    "handles": (0.0, 0),
    "threads": (0.0, 1),
}
#: An exception that a bad input should raise.
EXPECTED = (ValueError, TypeError, OSError)

SENTENCES = (
    "Cats purr when they are content. ",
    "Dr. Smith went to Washington, D.C. at 3.5 miles an hour! ",
    "Été chaud, n'est-ce pas ? ",
    "他走了。“你好!”她说。",
    "नमस्ते। कैसे हैं? ",
    "Short.\n\n",
    "# A heading\n\n- an item\n- another\n",
    "x" * 150 + " ",
    "Page.\x0cNext. ",
)
METHODS: tuple[dict[str, Any], ...] = (
    {"method": "sentence"},
    {"method": "paragraph", "max_tokens": 60},
    {"method": "page"},
    {"method": "fixed", "size": 40, "overlap": 10},
    {"method": "recursive", "size": 200, "unit": "characters"},
    {"method": "recursive", "size": 50, "overlap": 10},
    {"method": "semantic"},
    {"method": "semantic", "window": 3, "max_tokens": 100, "min_tokens": 20},
    {"method": "cluster", "max_tokens": 80},
    {"method": "pic"},
    {"method": "pic", "summary": "mean", "vectors": "chunk"},
    {"method": "sentence", "vectors": "sentence"},
)


def text(rng: random.Random) -> str:
    return "".join(rng.choices(SENTENCES, k=rng.randrange(60)))


def texts(rng: random.Random) -> list[str]:
    if rng.random() < 0.02:
        return [text(rng) * 300]
    return [text(rng) for _ in range(rng.randrange(1, 60))]


def segmenter(rng: random.Random) -> pychunk.Segmenter:
    return pychunk.Segmenter(placement=pychunk.Placement(threads=rng.choice([None, 1, 2, 5])), **rng.choice(METHODS))


def segment(rng: random.Random, folder: Path) -> None:
    documents = texts(rng)
    chunks = segmenter(rng)(documents)
    for chunk in rng.sample(list(chunks), min(3, len(chunks))):
        assert documents[chunk.document_index][chunk.start : chunk.end] == chunk.text


def stream(rng: random.Random, folder: Path) -> None:
    batches = [texts(rng) for _ in range(4)]
    done = sum(out.documents for out in segmenter(rng).stream(batches))
    assert done == sum(map(len, batches))


def pickled(rng: random.Random, folder: Path) -> None:
    made = segmenter(rng)
    documents = texts(rng)
    assert pickle.loads(pickle.dumps(made))(documents).table.equals(made(documents).table)


def index(rng: random.Random, folder: Path) -> None:
    place = folder / f"index-{threading.get_ident()}-{rng.randrange(10**9)}"
    documents = [f"Number {i}. {text(rng)}" for i in range(20)]
    made = pychunk.Segmenter("sentence", vectors="sentence", placement=pychunk.Placement(threads=1))
    try:
        with Index.create(place) as opened:
            opened.add(made(documents, ids=[str(i) for i in range(20)]))
            opened.save()
        with Index.open(place) as opened:
            assert opened.search("cats that purr", k=3)
            opened.remove(["3"])
            opened.save()
    finally:
        shutil.rmtree(place, ignore_errors=True)


def ingest(rng: random.Random, folder: Path) -> None:
    source = folder / f"in-{threading.get_ident()}-{rng.randrange(10**9)}.jsonl"
    try:
        lines = [json.dumps({"text": text(rng)}) for _ in range(20)]
        if rng.random() < 0.5:
            lines.insert(rng.randrange(len(lines)), '{"text": broken')
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        letters: list[Any] = []
        made = segmenter(rng)
        for batch in open_source(str(source), column="text", dead_letters=letters.append):
            made(batch.table, columns={"text": "text"})
    finally:
        source.unlink(missing_ok=True)


def bad_rows(rng: random.Random, folder: Path) -> None:
    documents: list[Any] = [*texts(rng), rng.choice([None, 5, b"bytes", "\ud800"])]
    rng.shuffle(documents)
    if rng.random() < 0.5:
        try:
            pychunk.segment(documents, "sentence")
        except EXPECTED:
            return
        raise AssertionError("a bad row was taken")
    assert len(pychunk.segment(documents, "sentence", on_error="skip").errors) == 1


def bad_options(rng: random.Random, folder: Path) -> None:
    options, threads = rng.choice([({"method": "nothing"}, None), ({"method": "fixed", "size": 0}, None), ({}, 2**31)])
    try:
        pychunk.Segmenter(placement=pychunk.Placement(threads=threads), **options)
    except EXPECTED:
        return
    raise AssertionError(f"{options} in {threads} threads were taken")


class FaultError(Exception):
    """An error that a caller's function or input raises."""


def faults(rng: random.Random, folder: Path) -> None:
    """Run a call with a caller's fault: a function that raises, wrong vectors, or an unwritable output."""

    def failing(*_: object) -> None:
        raise FaultError

    documents = [text(rng) + " More." for _ in range(20)]
    what = rng.randrange(4)
    try:
        if what == 0:
            pychunk.segment(documents, progress=failing)
        elif what == 1:
            pychunk.segment(
                documents, "semantic", columns={"sentence_vectors": np.ones((rng.randrange(5), 8), np.float32)}
            )
        elif what == 2:
            with Writer(str(folder / "no such folder" / "out.parquet")) as writer:
                writer.write(pychunk.segment(documents, "sentence").table)
        else:
            out = folder / f"out-{threading.get_ident()}.parquet"
            with Writer(str(out)) as writer:
                writer.write(pychunk.segment(documents, "sentence").table)
                raise FaultError
    except (FaultError, *EXPECTED):
        return
    raise AssertionError(f"fault {what} went unnoticed")


CALLS: tuple[tuple[Callable[[random.Random, Path], None], int], ...] = (
    (segment, 20),
    (stream, 4),
    (pickled, 3),
    (index, 1),
    (ingest, 2),
    (bad_rows, 3),
    (bad_options, 1),
    (faults, 2),
)


class Soak:
    def __init__(self, threads: int, folder: Path) -> None:
        self.folder = folder
        self.threads = threads
        self.counts: collections.Counter[str] = collections.Counter()
        self.slowest = 0.0  # seconds from an interrupt to the end of its call
        self.failures: list[str] = []
        self._going = True
        self._arrived = False
        signal.signal(signal.SIGINT, self._handle)

    def turn(self, rng: random.Random, seconds: float) -> None:
        """Let all threads work for this long, while this one forks and is interrupted."""
        self._going, until = True, time.monotonic() + seconds
        threads = [threading.Thread(target=self._work, args=(rng.random(),)) for _ in range(self.threads)]
        for thread in threads:
            thread.start()
        try:
            while time.monotonic() < until:
                rng.choice([self.fork, self.interrupt])(rng)
        finally:
            self._going = False
            faulthandler.dump_traceback_later(300, exit=True)  # a call that never ends
            for thread in threads:
                thread.join()
            faulthandler.cancel_dump_traceback_later()

    def _work(self, seed: float) -> None:
        rng = random.Random(seed)
        calls, weights = zip(*CALLS, strict=True)
        while self._going:
            call = rng.choices(calls, weights)[0]
            try:
                call(rng, self.folder)
            except Exception:
                self.failures.append(f"{call.__name__}: {traceback.format_exc()}")
            self.counts[call.__name__] += 1

    def fork(self, rng: random.Random) -> None:
        """Fork a child that segments; it must end by itself."""
        documents = texts(rng)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.alarm(120)
                pychunk.segment(documents, "recursive", size=100, placement=pychunk.Placement(threads=2))
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status != 0:
            self.failures.append(f"a forked child ended with {status}")
        self.counts["forks"] += 1

    def _handle(self, *_: object) -> None:
        self._arrived = True
        raise KeyboardInterrupt

    def interrupt(self, rng: random.Random) -> None:
        """Send Ctrl-C in the middle of a call on this, the main thread."""
        sent = 0.0

        def send() -> None:
            nonlocal sent
            sent = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)

        def long(rng: random.Random, folder: Path) -> None:
            pychunk.segment(text(rng) * 3000, "cluster", max_tokens=5000, placement=pychunk.Placement(threads=2))

        timer = threading.Timer(rng.uniform(0.01, 0.3), send)
        call = rng.choice([long, long, index, stream, ingest, segment])
        self._arrived = False
        try:
            try:
                timer.start()
                call(rng, self.folder)
            finally:
                ended = time.monotonic()
                timer.cancel()
                timer.join()
                while sent and not self._arrived:
                    time.sleep(0.001)
        except KeyboardInterrupt:
            self.slowest = max(self.slowest, ended - sent)
        except Exception:
            self.failures.append(f"interrupted {call.__name__}: {traceback.format_exc()}")
        self.counts["interrupts"] += self._arrived


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")]
    _fields_ += [(name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def resident() -> int:
    """Return the resident memory in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def at_rest() -> dict[str, float]:
    """Return the amounts that :data:`ROOM` names, after free memory has gone back to the system."""
    time.sleep(1.5)  # threads that are no longer needed end after one
    # Up to 256 MB of large blocks are kept for the next call; the vectors of these empty texts replace all others.
    encoder: Any = registry.vector_encoder("static", ModelPlacement.of("auto", "auto"))
    offsets = np.zeros((256 << 20) // (4 * encoder.dim) + 1, np.int64)
    native.encode_static(np.empty(0, np.uint8), offsets, encoder, threads=1)
    del offsets
    gc.collect()
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = _Mallinfo
    pa.default_memory_pool().release_unused()
    library.malloc_trim(0)
    info = library.mallinfo2()
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]
    pages = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return {
        "native MB": (info.uordblks + info.hblkhd + pa.total_allocated_bytes()) / 1e6,
        "Python blocks": sys.getallocatedblocks(),
        # Pages that the system takes back when it needs some are not counted.
        "resident MB": (pages["Rss"] - pages["LazyFree"]) / 1e3,
        "handles": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }


def grown(samples: list[dict[str, float]]) -> list[str]:
    """Return the amounts that grew from the second third of the samples to the last."""
    third = len(samples) // 3
    found = []
    for name, (share, least) in ROOM.items():
        before, after = (
            statistics.median(each[name] for each in part) for part in (samples[third:-third], samples[-third:])
        )
        if after > before + max(share * before, least):
            found.append(f"{name} from {before:,.0f} to {after:,.0f}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--seed", type=int, default=time.time_ns() // 10**9)
    arguments = parser.parse_args()
    seconds = arguments.minutes * 60
    print(f"seed {arguments.seed}", flush=True)
    rng = random.Random(arguments.seed)
    samples: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        soak = Soak(arguments.threads, Path(folder))
        begun = time.monotonic()
        while (passed := time.monotonic() - begun) < seconds:
            soak.turn(rng, min(30, seconds / 20, seconds - passed))
            working = resident()
            samples.append(at_rest())
            rest = ", ".join(f"{name} {value:,.1f}".removesuffix(".0") for name, value in samples[-1].items())
            counts = ", ".join(f"{name} {count:,}" for name, count in sorted(soak.counts.items()))
            print(
                f"{(time.monotonic() - begun) / 60:.1f} min: at work {working / 1e6:,.0f} MB; at rest {rest}; "
                f"{len(soak.failures)} failures; {counts}; slowest interrupt {soak.slowest:.2f} s",
                flush=True,
            )
        left = os.listdir(folder)
    if left:
        soak.failures.append(f"left behind: {left}")
    for failure in soak.failures[:5]:
        print(failure)
    more = grown(samples) if len(samples) >= 6 else ["nothing can be said: run it for longer"]
    print(f"{sum(soak.counts.values()):,} calls, {len(soak.failures)} failures; grown: {'; '.join(more) or 'nothing'}")
    return 1 if more or soak.failures else 0


if __name__ == "__main__":
    sys.exit(main())
