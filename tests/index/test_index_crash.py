"""After a kill at any moment, or on a failing disk, an index holds all that had been saved, and nothing partial."""

import errno
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from amounts import amounts
from fuzz.writes import Case, FailingDisk, small_disk

pytest.importorskip("faiss")

import pychunk
from pychunk.index.index import Index
from pychunk.index.store.index_folder import Store, checksum

#: Documents are added, replaced and removed. Parts of 40 chunks fill, many small ones become one, and the last save
#: finds more than half of the chunks removed. Every second batch has metadata.
SCRIPT = [
    ["add", list("abcdefghijkl")],
    ["save"],
    ["remove", list("ab")],
    ["add", list("amnopqrstuvwxyz")],
    ["search"],
    ["add", list("xyzabcde")],
    ["save"],
    *(["add", [name]] for name in "abacadab"),
    ["save"],
    ["remove", list("cdefghijklmnopqrstu")],
    ["save"],
]
KINDS = [(kind, vectors) for kind in ("flat", "pq", "hnsw") for vectors in ("sentence", "chunk")]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "vectors"), KINDS)
@pytest.mark.parametrize("kills", amounts(8, 50))
def test_killed_at_any_write_the_state_before_or_after_goes_on_to_the_same_bytes(
    disk: FailingDisk, kind: str, vectors: str, kills: int
) -> None:
    options = {"kind": kind, "vectors": vectors, "script": SCRIPT}
    for i in range(kills):
        calls = disk.check(Case("index", options, "kill", (i + 0.5) / kills, half=i % 2 == 0))
    assert calls > kills


@pytest.mark.slow
@pytest.mark.parametrize("kills", amounts(8, 40))
def test_killed_at_any_write_contexts_that_were_saved_are_found_and_no_others(disk: FailingDisk, kills: int) -> None:
    options = {"kind": "flat", "vectors": "sentence", "script": SCRIPT, "contexts": True}
    for i in range(kills):
        disk.check(Case("index", options, "kill", (i + 0.5) / kills, half=i % 2 == 0))


@pytest.mark.slow
@pytest.mark.parametrize("kills", amounts(8, 100))
def test_killed_at_any_write_vectors_are_kept_of_what_was_saved(disk: FailingDisk, kills: int) -> None:
    script = [*SCRIPT[:2], *(["add", list("abcdefg")], ["save"]) * 2, *SCRIPT[2:]]
    options = {"kind": "flat", "vectors": "sentence", "script": script, "encoded": True}
    for i in range(kills):
        disk.check(Case("index", options, "kill", (i + 0.5) / kills, half=i % 2 == 0))


@pytest.mark.slow
@pytest.mark.parametrize("kills", amounts(4, 12))
def test_killed_at_any_write_documents_have_all_their_levels_or_none(disk: FailingDisk, kills: int) -> None:
    options = {"kind": "flat", "vectors": "chunk", "script": SCRIPT, "levels": True}
    for i in range(kills):
        disk.check(Case("index", options, "kill", (i + 0.5) / kills, half=i % 2 == 0))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pq", "hnsw"])
@pytest.mark.parametrize("step", amounts(9, 1))
def test_a_disk_that_is_full_at_any_write_loses_nothing(disk: FailingDisk, kind: str, step: int) -> None:
    script = [*SCRIPT[2:5], ["save"], ["add", list("bc")], ["remove", list("amnopqrstuvwxy")], ["save"]]
    options = {"kind": kind, "vectors": "sentence", "script": script}
    call, calls = 0, 1
    while call < calls:
        calls = disk.check(Case("index", options, "full", (call + 0.5) / calls, half=call % 2 == 0))
        call += step
    assert calls > 60


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pq", "hnsw"])
@pytest.mark.parametrize("fault", ["broken", "short", "interrupt"])
@pytest.mark.parametrize("faults", amounts(4, 20))
def test_a_broken_disk_and_ctrl_c_lose_nothing(disk: FailingDisk, fault: str, kind: str, faults: int) -> None:
    options = {"kind": kind, "vectors": "sentence", "script": SCRIPT}
    for i in range(faults):
        disk.check(Case("index", options, fault, (i + 0.5) / faults))


# The disk accepts this many bytes of a file; then space is freed.
FULL = """
import resource, signal, sys
import pychunk
from pychunk.index import writer as contents
from pychunk.index.index import Index
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
made = pychunk.Segmenter("sentence", vectors="sentence")
index = Index.create(sys.argv[1])
index.add(made(["Old quagga.", "Okapi."], ids=["a", "b"]))
index.save()
ids = ["a"] + [f"n{i}" for i in range(1, 1000)]
chunks = made([f"New version {i} of the quagga document." for i in range(1000)], ids=ids)

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def refused(action, size=255_000):
    limit(size)
    try:
        action()
    except OSError as error:
        assert error.errno, error
    else:
        raise AssertionError("it went through")
    limit(resource.RLIM_INFINITY)

def found(index, text="quagga"):
    return {hit.document_id for hit in index.search(text, k=5)[0]}

"""


def run(code: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-c", FULL + code, str(folder)], check=True, timeout=120)


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    # The checksums are right: the writer made the error, not the disk.
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


@pytest.mark.slow
def test_a_small_disk_that_is_made_larger(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1500) as enlarge:
        index: Any = Index.create(tmp_path / "disk" / "x")
        made = pychunk.Segmenter("sentence", vectors="sentence")
        index.add(made(["Old quagga.", "Okapi."], ids=["a", "b"]))
        index.save()
        before = {"a": 1, "b": 1}

        def fill() -> None:
            for i in range(100):
                ids = ["a", *(f"n{i}.{j}" for j in range(200))]
                index.add(made([f"Quagga {i} of {name}." for name in ids], ids=ids))
                before.update(dict.fromkeys(ids, 1))
                index.save()

        with pytest.raises(OSError, match="No space left"):
            fill()
        Index.open(tmp_path / "disk" / "x", verify=True)
        enlarge()
        index.save()
        index.close()
        again = Index.open(tmp_path / "disk" / "x", verify=True)
        assert Counter(hit.document_id for hit in again.search("quagga", k=10_000, mode="dense")[0]) == before
