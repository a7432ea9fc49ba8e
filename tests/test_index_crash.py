"""Killed at any moment, an index holds what had been saved, and nothing half."""

import errno
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("faiss")

import pychunk
from pychunk.retrieval.index import Index
from pychunk.retrieval.store import Store, checksum

ROUNDS = 50
SENTENCES = 5
#: Seconds within which a writer is killed: some rounds of its loop.
PERIODS = 0.4

# Reports the numbers of documents in the index: by "+" before they are added, by "=" when their save has returned.
WRITER = f"""
import sys
import pychunk
from pychunk.retrieval import contents
contents.PART_CHUNKS = 40  # so that parts fill, are merged, and compaction has work
first = int(sys.argv[2])
pychunk.segment("Warm up.", "sentence", vectors="sentence")
print("ready", flush=True)
with pychunk.Index.open(sys.argv[1]) as index:
    for number in range(first, first + 10_000, 4):
        own = [str(each) for each in range(number, number + 4)]
        texts = [" ".join(f"Document {{name}} sentence {{i}}." for i in range({SENTENCES})) for name in own]
        for at in range(4):
            index.add(pychunk.segment(texts[at], "sentence", vectors="sentence", ids=own[at : at + 1]))
        gone = [str(each) for each in range(number - 24, number - 20)]
        index.remove(gone)
        print("+", *own, *("-" + name for name in gone), flush=True)
        index.save()
        print("=", flush=True)
"""


def killed(folder: Path, first: int, delay: float) -> list[str]:
    """Lines that a writer printed until it was killed ``delay`` seconds after it had begun."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(first)], stdout=subprocess.PIPE, text=True, cwd=folder.parent
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        lines = writer.stdout.read().split("\n")
        assert writer.wait() == -signal.SIGKILL
    return lines[:-1]  # the last one is not ended, or empty


def after(held: set[str], line: str) -> set[str]:
    """What an index of the documents ``held`` holds when the changes of a line have been saved."""
    changes = line.split()[1:]
    return (held | {each for each in changes if each[0] != "-"}) - {each[1:] for each in changes if each[0] == "-"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_a_killed_writer_loses_nothing_that_was_saved(kind: str, tmp_path: Path) -> None:
    folder, moments, drawn = tmp_path / "x", Counter[str](), random.Random(7)
    Index.create(folder, kind=kind).close()
    held: set[str] = set()
    first = 0
    for turn in range(ROUNDS // 2):
        lines = killed(folder, first, drawn.uniform(0, PERIODS))
        states = [held]
        for line in lines:
            if line[0] == "+":
                states.append(after(states[-1], line))
        reported = sum(line == "=" for line in lines)
        saving = bool(lines) and lines[-1][0] == "+"
        moments["save" if saving else "add"] += 1
        index: Any = Index.open(folder, verify=True)
        found = Counter(hit.id for hit in index.search("document", k=10_000, mode="dense")[0])
        # What was reported, or one save more, whose report was not to be.
        possible = states[reported:]
        assert len(possible) == 1 + saving, lines
        assert set(found) in possible, f"round {turn}"
        assert all(count == SENTENCES for count in found.values())
        assert len(index) == sum(found.values())
        assert len(index.search("document", k=10_000, mode="sparse")[0]) == len(index)
        held, first = set(found), first + 4 * len(lines) + 100
        with index:  # the next writer can add and save, and clears away what was left
            index.add(pychunk.segment(["One more."], "sentence", vectors="sentence", ids=[f"more {turn}"]))
            index.remove([f"more {turn}"])
            index.save()
            assert len(index) == sum(found.values())
        named = {name.split("/")[0] for name in index._store.files(index._store.manifest)}
        assert {path.name for path in folder.iterdir()} == named | {"manifest.json", "lock"}
    assert set(moments) == {"save", "add"}
    assert held


# The disk takes so many bytes of a file; then room is made.
FULL = """
import resource, signal, sys
import pychunk
from pychunk.retrieval import contents
from pychunk.retrieval.index import Index
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
made = pychunk.Segmenter("sentence", vectors="sentence")
index = Index.create(sys.argv[1])
index.add(made(["Old quagga.", "Okapi."], ids=["a", "b"]))
index.save()
ids = ["a"] + [f"n{i}" for i in range(1, 1000)]
chunks = made([f"New version {i} of the quagga document." for i in range(1000)], ids=ids)

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def refused(action, size=510_000):
    limit(size)
    try:
        action()
    except OSError as error:
        assert error.errno, error
    else:
        raise AssertionError("it went through")
    limit(resource.RLIM_INFINITY)

def found(index, text="quagga"):
    return {hit.id for hit in index.search(text, k=5)[0]}

"""


def run(code: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-c", FULL + code, str(folder)], check=True, timeout=120)


def test_after_a_full_disk_adding_leaves_what_there_was(tmp_path: Path) -> None:
    run(
        """
refused(lambda: index.add(chunks))
assert len(index) == 2 and found(index) == {"a", "b"}, found(index)
assert index.search("old quagga", k=1)[0][0].text == "Old quagga."
index.add(made(["A bongo."], ids=["c"]))  # waits to be saved
refused(lambda: index.add(chunks))
assert len(index) == 3 and found(index) == {"a", "b", "c"}, found(index)
assert index.add(chunks) == 1000
index.save()
for again in (index, Index.open(sys.argv[1])):
    assert len(again) == 1002
    assert index.search("old quagga", k=1, ids=["a"])[0][0].text == "New version 0 of the quagga document."
""",
        tmp_path / "x",
    )


def test_after_a_full_disk_saving_again_saves_all(tmp_path: Path) -> None:
    run(
        """
index.add(chunks)
refused(index.save, 20_000)
refused(lambda: index.search("quagga"), 20_000)  # a search has to write what was added, too
refused(index.save, 1000)
before = Index.open(sys.argv[1])
assert len(before) == 2 and found(before) == {"a", "b"}
index.save()
index.close()
after = Index.open(sys.argv[1])
assert len(after) == 1001
assert len(after.search("quagga", k=2000, mode="sparse")[0]) == 1000
assert len(after.search("quagga", k=2000, mode="dense")[0]) == 1001
assert after.search("old quagga", k=1, ids=["a"])[0][0].text == "New version 0 of the quagga document."
""",
        tmp_path / "x",
    )


def test_after_a_full_disk_while_parts_are_written_anew_saving_again_saves_all(tmp_path: Path) -> None:
    run(
        """
index.add(chunks)
index.save()
index.remove(ids[:900])
index.add(made(["A bongo."], ids=["c"]))
index.search("bongo")  # the last part is whole
refused(index.save, 10_000)
assert len(index) == 102 and found(index, "bongo") > {"c"}
assert len(Index.open(sys.argv[1])) == 1001
index.save()
assert index.info["removed"] == 0 and len(Index.open(sys.argv[1])) == 102
""",
        tmp_path / "x",
    )


def test_a_disk_that_drops_what_it_took_loses_nothing_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index: Any = Index.create(tmp_path / "x")
    index.add(pychunk.segment(["Old."], "sentence", vectors="sentence", ids=["a"]))
    index.save()
    index.add(pychunk.segment(["New.", "More."], "sentence", vectors="sentence", ids=["a", "b"]))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: _raise(OSError(errno.EIO, "Input/output error")))
        with pytest.raises(OSError, match="Input/output"):
            index.save()
    for use in (index.save, lambda: index.search("old"), lambda: len(index), lambda: index.remove(["a"])):
        with pytest.raises(ValueError, match=r"is lost \(2 chunks\): open the index again"):
            use()
    index.close(discard=True)
    with Index.open(tmp_path / "x") as again:
        assert [hit.text for hit in again.search("old", k=9)[0]] == ["Old."]
        again.add(pychunk.segment(["New."], "sentence", vectors="sentence", ids=["a"]))
        again.save()
        assert [hit.text for hit in again.search("old", k=9)[0]] == ["New."]


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("part-000001/sentence_vectors.bin", lambda path: os.truncate(path, 512)),
        ("part-000001/sentence_spans.bin", lambda path: os.truncate(path, 16)),
        ("part-000001/sentence_offsets.bin", lambda path: os.truncate(path, 16)),
        ("part-000001/lengths.npy", lambda path: np.save(path, np.zeros(1, np.int32))),
        ("part-000001/posting_rows.npy", lambda path: np.save(path, np.zeros(1, np.int32))),
        ("part-000001/chunks.arrow", lambda path: _one_row(path)),
        ("removed-000001.npy", lambda path: np.save(path, np.array([7]))),
        ("removed-000001.npy", lambda path: np.save(path, np.array([0, 1]))),
    ],
)
def test_files_that_do_not_fit_together_are_refused_by_name(name: str, broken: Any, tmp_path: Path) -> None:
    # With checksums that are right: what a writer got wrong, not the disk.
    folder = tmp_path / "x"
    with Index.create(folder) as index:
        index.add(pychunk.segment(["One.", "Two.", "Three."], "sentence", vectors="sentence", ids=["a", "b", "c"]))
        index.remove(["b"])
        index.save()
    store = Store(folder)
    manifest = store.read()
    broken(folder / name)
    folders = {part["name"]: part["files"] for part in manifest["parts"]}
    part, _, file = name.rpartition("/")
    (folders[part] if part else manifest["files"])[file] = checksum(folder / name)
    store.commit(manifest)
    with pytest.raises(ValueError, match=re.escape(str(folder / name)) + " is damaged"):
        Index.open(folder)


def _one_row(path: Path) -> None:
    with pa.ipc.open_file(path.read_bytes()) as file:
        table = file.read_all()
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table[:1])
