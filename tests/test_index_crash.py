"""Killed at any moment, an index holds what had been saved, and nothing half."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("faiss")

import pychunk
from pychunk.retrieval.index import Index

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
