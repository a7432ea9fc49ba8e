"""An index's folder: damage is noticed and named, one writer at a time, readers see whole states."""

import errno
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pychunk.index import Bm25

pytest.importorskip("faiss")

import pyarrow as pa
from index_reference import PETS, answers, chunks_of

import pychunk
from pychunk._util.folder_lock import FolderLock
from pychunk.index.index import Index
from pychunk.index.store import index_folder as store_module
from pychunk.index.store.index_folder import SCHEMA, Store, _digest, checksum, headers

pytestmark = pytest.mark.usefixtures("one_faiss_thread")
both_kinds = pytest.mark.parametrize("saved_index", ["hnsw", "pq"], indirect=True)
APPROXIMATE = {".faiss", ".codes"}


def test_a_newer_version_a_missing_index_and_a_second_create_are_refused(saved_index: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds an index already: Index\.open"):
        Index.create(saved_index)
    with pytest.raises(ValueError, match=r"nowhere is no folder: make an index with .*Index\.create"):
        Index.open(tmp_path / "nowhere")
    manifest = json.loads((saved_index / "manifest.json").read_text())
    (saved_index / "manifest.json").write_text(json.dumps({**manifest, "schema": 99, "pychunk": "9.9"}))
    with pytest.raises(ValueError, match=r"written by pychunk 9\.9.*index version 99.*pip install -U pychunk-native"):
        Index.open(saved_index)


def test_an_index_of_bytes_is_smaller(tmp_path: Path) -> None:
    texts, sizes = [f"Cats purr {i} times." for i in range(50)], []
    for dtype in ("float16", "int8"):
        manifest = tmp_path / dtype / "manifest.json"
        with Index.create(tmp_path / dtype, dtype=dtype, vectors="both", bm25=None) as index:
            assert json.loads(manifest.read_text())["schema"] == SCHEMA
            index.add(chunks_of(texts, "both"))
        assert json.loads(manifest.read_text())["schema"] == SCHEMA
        sizes.append([path.stat().st_size for path in sorted((tmp_path / dtype).glob("*/*_vectors.bin"))])
        again = Index.open(tmp_path / dtype)
        assert again.info["dtype"] == dtype
        assert again.search("Cats purr 7 times.", k=1, mode="dense")[0][0].text == "Cats purr 7 times."
    assert sizes == [[50 * 512] * 2, [50 * 260] * 2]
    with pytest.raises(ValueError, match="dtype is 'float16', not 'int8'"):
        Index.create(tmp_path / "float16", vectors="both", bm25=None, exist_ok=True)


def test_create_opens_an_index_that_was_created_alike(tmp_path: Path) -> None:
    path = tmp_path / "own.idx"
    for _ in range(2):
        with Index.create(path, bm25=Bm25(stemmer="english", stop_words=["The"]), exist_ok=True) as index:
            index.add(chunks_of(["Cats purr.", "Dogs bark."]))
        assert len(index.open(path)) == 2
    same = Bm25(stemmer="english", stop_words=["the"])
    for options, message in (
        ({"bm25": Bm25(stop_words=["the"])}, "stemmer is 'english', not None"),
        ({"bm25": replace(same, k1=1.2)}, "k1 is 0.9, not 1.2"),
        ({"bm25": None}, "terms is 'auto', not None"),
        ({"bm25": replace(same, cjk_bigrams=False)}, "cjk_bigrams is True, not False"),
        ({"bm25": replace(same, fold_diacritics=True)}, "fold_diacritics is False, not True"),
        ({"bm25": same, "encoder": None, "dim": 256}, "encoder is '.*', not 'given'"),
    ):
        with pytest.raises(ValueError, match=f"was created with other options, which cannot change: {message}"):
            Index.create(path, **options, exist_ok=True)
    assert len(Index.open(path)) == 2


def test_open_creates_where_there_is_none(tmp_path: Path, tiny_encoder: Path) -> None:
    for number in range(2):
        with Index.open(tmp_path / "x", create=True) as index:
            assert len(index) == number
            index.add(chunks_of(["Cats purr."], ids=["a"]))
    assert Index.open(tmp_path / "x").info["encoder"]["name"] == "static"
    with Index.open(tmp_path / "y", encoder=tiny_encoder, create=True) as index:
        assert index.info["encoder"]["name"] == str(tiny_encoder)
    with pytest.raises(ValueError, match="holds vectors of encoder 'static'"):
        Index.open(tmp_path / "x", encoder=tiny_encoder, create=True)


def test_a_folder_of_other_files_is_refused_and_what_a_killed_process_left_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    (folder / "part-000001").mkdir(parents=True)
    for name in ("lock", "manifest.json.123.part", "removed-000001.npy"):
        (folder / name).write_bytes(b"")
    Index.create(folder).close()
    assert sorted(path.name for path in folder.iterdir()) == ["lock", "manifest.json"]
    other = tmp_path / "other"
    other.mkdir()
    for count, shown in ((1, "(a0)"), (4, "(a0, a1, a2 and 1 more)")):
        for number in range(count):
            (other / f"a{number}").write_bytes(b"")
        for make in (Index.create, lambda path: Index.open(path, create=True)):
            with pytest.raises(ValueError, match=f"other files and no index {re.escape(shown)}: name a folder of the"):
                make(other)
        assert len(list(other.iterdir())) == count


@both_kinds
def test_any_file_that_is_missing_short_or_changed_is_named(saved_index: Path) -> None:
    files = [
        path for path in sorted(saved_index.rglob("*")) if path.is_file() and path.name not in ("lock", "manifest.json")
    ]
    assert {path.suffix for path in files} - APPROXIMATE == {".arrow", ".bin", ".npy"}
    assert len({path.suffix for path in files} & APPROXIMATE) == 1
    assert len(files) == len(Store.files(json.loads((saved_index / "manifest.json").read_text()))) > 9
    for path in files:
        whole = path.read_bytes()
        place = len(whole) // 2
        for damaged, word in (
            (whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :], "damaged"),
            (whole[:-1], "damaged"),
            (None, "missing"),
        ):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            with pytest.raises(
                ValueError, match=f"{path} is {word}.*: restore it from a copy, or build the index again"
            ):
                Index.open(saved_index)
        path.write_bytes(whole)
    assert len(Index.open(saved_index)) == 4


def test_headers_are_all_that_says_how_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "chunks.arrow"
    table = pa.table({"text": [letter * 9000 for letter in "abcdef"], "n": range(6)})
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    whole, said = file.read_bytes(), headers(file)
    with pa.memory_map(str(file)) as source:
        source.seek(8)
        parts = [message.metadata.to_pybytes() for message in pa.ipc.MessageReader.open_stream(source)]
    assert len(parts) == 4
    places = {0, 4095, len(whole) - 1, len(whole) - 4096}
    places |= {whole.index(part) + at for part in parts for at in range(0, len(part), 7)}
    for place in places:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        try:
            assert headers(file) != said
        except (OSError, pa.ArrowException):
            continue
    file.write_bytes(whole.replace(b"c" * 9000, b"x" * 9000))
    assert headers(file) == said


@both_kinds
def test_a_damaged_header_is_found_without_reading_all(saved_index: Path) -> None:
    assert len(Index.open(saved_index, verify="headers")) == 4
    with pytest.raises(ValueError, match="verify must be True, False or 'headers'; got 'all'"):
        Index.open(saved_index, verify="all")  # type: ignore[arg-type]  # the point of it
    files = [path for path in saved_index.rglob("*") if path.suffix in {".arrow", ".bin", ".npy"} | APPROXIMATE]
    for path in files:
        whole = path.read_bytes()
        for damaged in (bytes([whole[0] ^ 1]) + whole[1:], whole[:-1] + bytes([whole[-1] ^ 1]), whole[:-1]):
            path.write_bytes(damaged)
            with pytest.raises(
                ValueError, match=f"{path} is damaged.*: restore it from a copy, or build the index again"
            ):
                Index.open(saved_index, verify="headers")
        path.write_bytes(whole)
    manifest = json.loads((saved_index / "manifest.json").read_text())
    assert manifest["headers"].keys() == Store.files(manifest).keys()


def test_an_index_that_tells_nothing_of_headers_is_read_whole(saved_index: Path) -> None:
    store = Store(saved_index)
    manifest = store.read(verify=False)
    manifest.pop("headers")
    manifest["checksum"] = _digest(manifest)
    (saved_index / "manifest.json").write_text(json.dumps(manifest))
    with Index.open(saved_index, verify="headers") as index:  # a save gives unread files no checksum
        index.add(chunks_of(["Owls hunt."], ids=["owl"]))
        index.save()
    manifest = json.loads((saved_index / "manifest.json").read_text())
    assert manifest["headers"].keys() < Store.files(manifest).keys()
    file = saved_index / "part-000001" / "chunks.arrow"
    whole = file.read_bytes()
    for place in (0, len(whole) // 2):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ValueError, match="arrow is damaged"):
            Index.open(saved_index, verify="headers")


def test_whole_files_are_compared_by_the_hashes_of_their_blocks(
    saved_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(store_module, "checksum", lambda path: (read.append(path.name), checksum(path))[1])
    Store(saved_index).read()
    assert read == []
    store = Store(saved_index)
    manifest = store.read(verify=False)
    listed = manifest["blocks"]["part-000001/lengths.npy"]
    listed[0] ^= 1  # These are the hashes of a file with another CRC-32, so they say nothing about this one.
    manifest["checksum"] = _digest(manifest)
    (saved_index / "manifest.json").write_text(json.dumps(manifest))
    Store(saved_index).read()
    assert read == ["lengths.npy"]
    listed[:] = [listed[0] ^ 1, ("1" if listed[1][0] == "0" else "0") + listed[1][1:]]
    manifest["checksum"] = _digest(manifest)
    (saved_index / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"lengths\.npy is damaged \(a checksum of its blocks 0 to 0"):
        Store(saved_index).read()


@pytest.mark.parametrize("name", ["part-000001/sentence_vectors.bin", "part-000001/chunks.arrow"])
def test_damage_that_nobody_looked_for_gets_no_right_checksum(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "x"
    with Index.create(folder) as index:
        index.add(chunks_of(["Cats purr.", "Dogs bark.", "Owls hunt."], ids=["a", "b", "c"]))
    for save in ("compacts", "merges"):
        whole = (folder / name).read_bytes()
        place = len(whole) // 2
        index = Index.open(folder, verify=False)
        if save == "compacts":
            index.remove(["a", "b"])
        else:
            for i in range(9):
                index.add(chunks_of([f"Text {i}."], ids=["d"]))
        (folder / name).write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        for _ in range(2):
            with pytest.raises(ValueError, match=f"{name} is damaged.*: restore it from a copy"):
                index.save()
        with pytest.raises(ValueError, match=f"{name} is damaged"):
            Index.open(folder)
        (folder / name).write_bytes(whole)
        assert len(Index.open(folder)) == 3
        index.close(discard=True)


@both_kinds
def test_an_approximate_index_does_not_grow_from_a_damaged_file(saved_index: Path) -> None:
    [file] = saved_index.glob("sentences-000001.*")
    whole = file.read_bytes()
    with Index.open(saved_index, verify=False) as index:
        index.add(chunks_of(["Owls hunt."], ids=["d"]))
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(ValueError, match=f"{file} is damaged"):
            index.save()
        file.write_bytes(whole)
        index.save()
    assert len(Index.open(saved_index)) == 5


@pytest.mark.slow
@pytest.mark.parametrize("saved_index", ["pq"], indirect=True)
def test_a_search_names_codes_that_are_damaged_or_finds_all_without_them(saved_index: Path) -> None:
    # Nobody checked the checksums. Codes decide which rows are scored, here all, so that a wrong one changes no hit.
    [file] = saved_index.glob("*.codes")
    expected = answers(Index.open(saved_index), ["Do cats purr?", "dogs"])
    whole = file.read_bytes()
    said: list[str] = []
    for place in [*range(0, 512, 3), *range(512, len(whole), 499)]:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        try:
            assert answers(Index.open(saved_index, verify=False), ["Do cats purr?", "dogs"]) == expected
        except ValueError as error:
            said.append(str(error))
    assert len(said) > 40
    remedy = ": restore it from a copy, or build the index again"
    assert [each for each in said if not (each.startswith(f"{file} is damaged") and each.endswith(remedy))] == []


@both_kinds
def test_an_approximate_index_of_other_rows_is_named(saved_index: Path, tmp_path: Path) -> None:
    # The checksums are right: a writer took the files for this index's own.
    [file] = saved_index.glob("sentences-000001.*")
    kind = "pq" if file.suffix == ".codes" else "hnsw"
    for number, (dim, rows) in enumerate([(256, 4), (256, 6), (16, 5)]):
        with Index.create(tmp_path / f"{kind}{number}", kind=kind, encoder=None, dim=dim, bm25=None) as other:
            vectors = list(np.eye(rows, dim, dtype=np.float32)[:, None])
            texts = [f"Text {row}." for row in range(rows)]
            other.add(pychunk.segment(texts, "sentence", vectors="sentence", columns={"sentence_vectors": vectors}))
            other.save()
            file.write_bytes((other.path / file.name).read_bytes())
        manifest = json.loads((saved_index / "manifest.json").read_text())
        manifest["files"][file.name] = checksum(file)
        manifest["headers"].pop(file.name, None)
        manifest["checksum"] = _digest(manifest)
        (saved_index / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(ValueError, match=f"{file} is damaged.*: restore it from a copy, or build the index again"):
            Index.open(saved_index).search("cats", mode="dense")


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("kind", ["flat", "pq"])
def test_vectors_that_are_not_finite_are_refused(kind: str, dtype: str, tmp_path: Path) -> None:
    table = chunks_of(PETS, "both", ids=["a", "b", "c"]).combine_chunks()
    with Index.create(tmp_path / "x", kind=kind, dtype=dtype, vectors="both") as index:
        index.add(table)
        for value, row in ((np.nan, 2), (np.inf, 0), (-np.inf, 1)):
            vectors = np.array(table["vector"].chunk(0).flatten()).reshape(-1, 256)
            vectors[row, 7] = value
            column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 256)
            wrong = table.set_column(table.column_names.index("vector"), "vector", column)
            with pytest.raises(ValueError, match=f"the chunk vectors of chunks must be finite; row {row} has NaN"):
                index.add(wrong)
        assert len(index.search("cats", k=9)[0]) == len(index) == 5


def test_any_changed_byte_of_the_manifest_is_noticed(saved_index: Path) -> None:
    path = saved_index / "manifest.json"
    whole = path.read_bytes()
    for place in range(0, len(whole) - 1, 5):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ValueError, match=r"manifest\.json is damaged.*: restore it|upgrade with pip"):
            Store(saved_index).read(verify=False)
    for damaged in (b"", b"{}", b"[]", whole[:100]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"manifest\.json is damaged"):
            Index.open(saved_index)


@pytest.mark.parametrize("place", ["parts", "stored", "files"])
def test_a_manifest_that_names_anything_outside_the_folder_is_refused(place: str, saved_index: Path) -> None:
    store = Store(saved_index)
    manifest = store.read()
    shutil.copytree(saved_index, saved_index.parent / "other")
    outside = "../other/part-000001"
    if place == "parts":
        manifest["parts"][0].update(name=outside, files={})
    elif place == "stored":
        manifest["stored"]["sentences"]["file"] = outside + "/../sentences-000001.faiss"
    else:
        manifest["files"][outside + "/chunks.arrow"] = [1, 1]
    manifest["checksum"] = store_module._digest(manifest)
    (saved_index / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"manifest\.json is damaged.*it names '\.\./other/"):
        Index.open(saved_index)


def test_a_manifest_of_nested_brackets_is_damaged(saved_index: Path) -> None:
    (saved_index / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"manifest\.json is damaged.*: restore it"):
        Index.open(saved_index)


# Readers concurrent with a writer


def test_a_folder_that_takes_no_writer_is_read_and_named(saved_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(lock: FolderLock) -> bool:
        raise OSError(errno.EROFS, "Read-only file system", str(lock.path))

    monkeypatch.setattr(FolderLock, "take", refuse)  # root can write to a read-only folder like to any other
    message = r"saved can be read and searched, but not written to \(Read-only file system\): copy the folder to where"
    with Index.open(saved_index) as index:
        for change in (
            lambda: index.remove(["x"]),
            lambda: index.add(chunks_of(["A."], "sentence", ["a"])),
            index.save,
        ):
            with pytest.raises(ValueError, match=message):
                change()
        assert index.search("cats", k=1)[0]


def test_a_second_writer_waits_and_readers_do_not(saved_index: Path) -> None:
    with Index.open(saved_index) as first, Index.open(saved_index) as second:
        first.remove(["a"])
        with pytest.raises(ValueError, match=r"another process writes to .*wait for it, or open for reading"):
            second.add(chunks_of(["x"], ids=["x"]))
        assert len(second) == 4
        first.save()
        first.close()
        second.add(chunks_of(["x"], ids=["x"]))  # continues from the first one's save
        assert len(second) == 3


READER = """
import sys
from pychunk.index.index import Index
index = Index.open(sys.argv[1])
print("open", flush=True)
for line in sys.stdin:
    if line.strip() == "refresh":
        print(index.refresh(), index.refresh(), flush=True)
    else:
        print([hit.text for hit in index.search("Which animals are there?", k=9)[0]], flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_a_reader_answers_as_when_it_opened_until_it_refreshes(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "x"
    writer = Index.create(folder, kind=kind)
    writer.add(chunks_of(["Cats.", "Dogs."], ids=["a", "b"]))
    writer.save()
    before = str([hit.text for hit in writer.search("Which animals are there?", k=9)[0]])
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", READER, str(folder)], cwd=tmp_path, **pipes) as reader:

        def ask(line: str) -> str:
            print(line, file=reader.stdin, flush=True)
            return str(reader.stdout.readline()).strip()

        assert reader.stdout.readline() == "open\n"  # and has read only the manifest and names
        writer.remove(["a", "b"])
        writer.add(chunks_of(["Birds.", "Fish."], ids=["c", "d"]))
        writer.save()  # removes the files that the reader has open
        writer.remove(["c"])
        writer.save()
        assert not (folder / "part-000001").exists()
        assert ask("search") == before
        assert ask("refresh") == "True False"
        assert ask("search") == "['Fish.']"
        reader.stdin.close()
        assert reader.wait(20) == 0


WRITER = """
import sys
import pychunk
from pychunk.index.index import Index
with Index.open(sys.argv[1]) as index:
    for number in range(1, 16):
        text = " ".join(f"State {number} sentence {i}." for i in range(3))
        index.add(pychunk.segment([text], "sentence", vectors="sentence", ids=[str(number)]))
        index.remove([str(number - 3)])
        index.save()
        if number in (5, 10):  # whoever looks on has seen this state, too, however busy the machine is
            sys.stdin.readline()
"""


@pytest.mark.slow
def test_whoever_opens_while_another_saves_sees_a_whole_state(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    Index.create(folder, kind="hnsw").close()
    seen_states = set()
    command = [sys.executable, "-c", WRITER, str(folder)]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, bufsize=0) as writer:
        assert writer.stdin is not None
        running = True
        follower = Index.open(folder)
        while running:
            running = writer.poll() is None
            opened = Index.open(folder)
            follower.refresh()
            for index in (opened, follower):
                found = Counter(hit.document_id for hit in index.search("state", k=99, mode="dense")[0])
                last = max(map(int, found), default=0)
                assert found == {str(number): 3 for number in range(max(1, last - 2), last + 1)}
                assert len(index) == sum(found.values())
                if last in (5, 10) and last not in seen_states:
                    writer.stdin.write(b"\n")
                seen_states.add(last)
        assert writer.returncode == 0
    assert max(seen_states) == 15
    assert {5, 10} < seen_states
