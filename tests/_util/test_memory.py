"""A run whose memory runs out ends with one line, which is neither a dead letter about a file nor a signal."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pychunk
from pychunk._util import memory
from pychunk.io import open_source

TEXT = "Cats purr when they are content. Dogs bark at night. " * 200
#: Each thread would take 64 MB of address space for malloc, so that a limit would mean something else on each machine.
ONE_ARENA = {"MALLOC_ARENA_MAX": "1", "PYCHUNK_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
#: The limits are megabytes of address space. Below 500, glibc and Arrow end a process that starts threads, whatever
#: pychunk does.
COMMANDS = [("segment a.txt", 350), ("index a.txt -o out", 450), ("ingest a.txt -o out", 800)]

WITHOUT_FAISS = """
import sys

class Without:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "faiss":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Without())
import pychunk
for kind in ("flat", "pq", "auto"):
    with pychunk.Index.create(kind, kind=kind) as index:
        index.add(pychunk.segment(["Cats purr.", "Stars burn."], "sentence", vectors="sentence"))
        print(index.search("cats", k=1)[0][0].text)
try:
    pychunk.Index.create("hnsw", kind="hnsw")
except ImportError as error:
    print(error)
"""


def short(*_: Any, **__: Any) -> Any:
    raise pa.ArrowMemoryError("malloc of size 1152921504606846976 failed")


@pytest.mark.skipif(sys.platform != "linux", reason="limits on address space are those of Linux")
@pytest.mark.parametrize(("command", "megabytes"), COMMANDS)
def test_lack_of_memory_is_one_line(tmp_path: Path, command: str, megabytes: int) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    limit = megabytes << 20
    done = subprocess.run(
        [sys.executable, "-m", "pychunk", *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, **ONE_ARENA},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    told = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert done.returncode in (0, 1, 2), done.stderr  # not a signal
    assert len(told) == bool(done.returncode), done.stderr
    assert "Traceback" not in done.stderr
    assert not [path for path in tmp_path.rglob("*dead*") if path.stat().st_size]


def test_a_letter_about_a_file_asks_for_more_than_any_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text\n1,Cats purr.\n")

    def read(**_: Any) -> list[str]:
        letters: list[Any] = []
        for _ in open_source(path, column="text", dead_letters=letters.append):
            pass
        return [letter.reason for letter in letters]

    assert read() == []
    monkeypatch.setattr("pyarrow.csv.read_csv", short)
    assert "malloc" in read()[0]  # the memory that any file needs is available
    monkeypatch.setattr(memory, "_LARGEST", 1 << 60)
    with pytest.raises(MemoryError, match="let the process have more"):
        read()


@pytest.mark.slow
def test_only_a_graph_needs_faiss(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_FAISS], capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr == ""
    *found, told = done.stdout.splitlines()
    assert found == ["Cats purr."] * 3
    assert told == 'an index of kind "hnsw" needs FAISS: pip install "pychunk-native[hnsw]"'


@pytest.mark.parametrize("text", ["", "2 XB", "GB", "0", "-1GB", "1e9", "2GB3"])
def test_a_limit_that_is_no_size_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="must be a number with a unit, such as 2GB"):
        memory.bytes_of(text)


def test_the_least_limit_of_all_control_groups_around_a_process_counts(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("4:memory,cpu:/a/b\n3:cpuset:/\n0::/c/d\n")
    for name, value in {
        "memory/memory.limit_in_bytes": 9,
        "memory/a/memory.limit_in_bytes": 5,
        "memory/a/b/memory.limit_in_bytes": 7,
        "c/memory.max": 4,
        "c/d/memory.max": "max",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{value}\n")
    assert sorted(memory._group_limits(tmp_path, own)) == [4, 5, 7, 9]
    assert list(memory._group_limits(tmp_path, tmp_path / "none")) == []


def test_a_limit_sizes_batches_and_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.VARIABLE, "640MB")
    assert memory.limit() == (640_000_000, "--memory-limit")
    assert memory.batch_bytes(32 << 20) == 20_000_000
    assert memory.processes(16, 80_000_000) == 4
    monkeypatch.setenv(memory.VARIABLE, "10MB")
    assert memory.batch_bytes(32 << 20) == memory.LEAST_BATCH
    assert memory.processes(16, 80_000_000) == 1
    seg = pychunk.Segmenter("sentence")
    monkeypatch.delenv(memory.VARIABLE)
    texts = [TEXT * 40] * 4
    assert seg(texts).to_list() == pychunk.Segmenter("sentence")(texts).to_list()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
@pytest.mark.parametrize(("limit", "status"), [("20MB", 2), ("2GB", 0)])
def test_a_run_that_needs_more_than_its_limit_ends_with_one_line(tmp_path: Path, limit: str, status: int) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    command = [sys.executable, "-m", "pychunk", "--log-format", "json", "--memory-limit", limit]
    done = subprocess.run(
        [*command, "ingest", "a.txt", "-o", "out"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    said = [json.loads(line) for line in done.stderr.splitlines()]
    assert [each["message"].partition(":")[0] for each in said if each["level"] == "error"] == ["memory ran out"] * (
        status == 2
    )
    assert all(each.keys() >= {"time", "level", "event", "message"} for each in said)
    assert "Cats purr" not in done.stderr
    if status == 0:
        ended = next(each for each in said if each["event"] == "ingest.end")
        assert sum(ended["cuts"].values()) == ended["chunks"]
        assert ended["bytes"] == len(TEXT)
