"""Parts that another thread finishes equal those made without it, and no error is lost."""

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("faiss")

import pychunk
from pychunk._util.durable_files import BufferedFile
from pychunk.index import Bm25, writer
from pychunk.index.index import Index
from pychunk.index.lexical import postings
from pychunk.index.store.part import PartWriter


def batch(number: int) -> Any:
    texts = [f"Document {number} has sentence {i}, of an {['quagga', 'okapi', 'bongo'][i % 3]}." for i in range(12)]
    return pychunk.segment(texts, "sentence", vectors="sentence", ids=[f"{number}/{i}" for i in range(12)])


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "PART_CHUNKS", 10)
    monkeypatch.setattr(writer, "_PIECE", 5)
    monkeypatch.setattr(postings, "_SHARE", 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"bm25": Bm25("ngrams", ngram=3)}, {"dtype": "float32", "bm25": Bm25(stop_words=["of"])}]
)
def test_the_files_are_the_same_for_any_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    found = {}
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("PYCHUNK_THREADS", threads)
        folder = tmp_path / threads
        with Index.create(folder, **options) as index:
            for number in range(4):
                index.add(batch(number))
        found[threads] = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert len(found[threads]) > 20
    assert found["1"] == found["2"] == found["5"]


def test_adding_goes_on_while_a_part_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish, may_end = PartWriter.finish, threading.Event()
    threads = []

    def slowly(writer: PartWriter) -> None:
        threads.append(threading.current_thread())
        assert may_end.wait(60)
        finish(writer)

    monkeypatch.setattr(PartWriter, "finish", slowly)
    index = Index.create(tmp_path / "x")
    index.add(batch(0))  # 12 chunks: a part is full, and not on the disk yet
    assert threads
    assert threads[0] is not threading.main_thread()
    may_end.set()
    index.add(batch(1))
    assert len(index) == 24
    assert {hit.document_id for hit in index.search("okapi", k=24, mode="sparse")[0]} == {
        f"{number}/{i}" for number in range(2) for i in range(1, 12, 3)
    }
    index.save()
    index.add(batch(0))
    index.close(discard=True)
    assert len(Index.open(tmp_path / "x")) == 24


def test_what_fails_beside_is_said_by_the_next_call_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, failures = PartWriter.finish, [1]

    def fails(writer: PartWriter) -> None:
        if failures:
            failures.pop()
            raise OSError(errno.ENOSPC, "No space left on device")
        finish(writer)

    monkeypatch.setattr(PartWriter, "finish", fails)
    index = Index.create(tmp_path / "x")
    index.add(batch(0))
    with pytest.raises(OSError, match="No space left"):
        index.add(batch(1))
    assert len(index) == 12
    assert index.count(ids=["0/3", "1/3"]) == 1
    index.add(batch(1))
    failures.append(1)
    index.add(batch(2))
    with pytest.raises(OSError, match="No space left"):
        index.save()
    index.save()
    index.close()
    assert len(Index.open(tmp_path / "x")) == 36


def test_a_child_does_not_wait_for_a_thread_that_it_has_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish = PartWriter.finish

    def slowly(writer: PartWriter) -> None:
        threading.Event().wait(0.3)
        finish(writer)

    monkeypatch.setattr(PartWriter, "finish", slowly)
    index = Index.create(tmp_path / "x")
    index.add(batch(0))
    child = os.fork()
    if child == 0:  # the alarm would kill a process that waits in vain
        import signal

        signal.alarm(60)
        os._exit(0 if index._contents._settle() is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    index.close(discard=True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_a_full_disk_is_told_by_the_file() -> None:
    file = BufferedFile(Path("/dev/full"))
    file.write(b"Okapi")
    with pytest.raises(
        OSError, match=r"No space left on device; write to another disk, or free space on this one: '/dev/full'"
    ):
        file.drain()
    file.release()
