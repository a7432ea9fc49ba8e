"""Unchanged files are not read again, and the index equals the one that reading them would give."""

import os
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("faiss")

from command_line import invoke
from test_index_again import all_hits

import pychunk
from pychunk.cli import file_cache
from pychunk.cli.file_cache import FileCache, mark
from pychunk.index.store import document_digests
from pychunk.io.files import find
from pychunk.io.formats import text_files

pytestmark = pytest.mark.usefixtures("one_faiss_thread")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that are read from here on; files count as old at once."""
    names: list[str] = []
    whole = text_files.document

    def told(blocks: Any, file: str, tell: Any) -> Any:
        names.append(Path(file).name)
        return whole(blocks, file, tell)

    monkeypatch.setattr(text_files, "document", told)
    monkeypatch.setattr(file_cache, "_TICK", 0)
    return names


def index(*arguments: object) -> str:
    done = invoke(["index", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for i in range(4):
        (tmp_path / "in" / f"{i}.txt").write_text(f"This is text {i}.")
    return tmp_path / "in"


def test_a_file_is_read_again_when_anything_says_that_it_changed(tmp_path: Path, folder: Path, read: list[str]) -> None:
    call = (folder, "-o", tmp_path / "x.idx")
    index(*call)
    assert read == ["0.txt", "1.txt", "2.txt", "3.txt"]

    def again(*options: object) -> list[str]:
        read.clear()
        said = index(*call, *options)
        assert "0 documents added, 4 kept, 0 replaced" in said or "0 documents added, 3 kept, 1 replaced" in said
        return [*read]

    assert again() == []
    before = os.stat(folder / "1.txt")
    (folder / "1.txt").write_text("This is text 9.")  # of the same length, and with the same time
    os.utime(folder / "1.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert again() == ["1.txt"]
    shutil.copy2(folder / "2.txt", folder / "new")
    os.replace(folder / "new", folder / "2.txt")
    assert again() == ["2.txt"]
    assert again() == []
    assert again("--rehash") == ["0.txt", "1.txt", "2.txt", "3.txt"]
    assert again("--source-kind", "text") == []
    for options in (["--limit", "4"], ["--reader", "encoding=latin-1"]):
        assert len(again(*options)) == 4
    with pychunk.Index.open(tmp_path / "x.idx") as made:
        assert {hit.document_id: hit.text for hit in made.search("text", k=9)[0]} == {
            str(folder / f"{i}.txt"): f"This is text {9 if i == 1 else i}." for i in range(4)
        }


def test_what_the_index_lost_or_cuts_otherwise_is_read(tmp_path: Path, folder: Path, read: list[str]) -> None:
    call = (folder, "-o", tmp_path / "x.idx")
    index(*call)
    with pychunk.Index.open(tmp_path / "x.idx") as made:
        made.remove([str(folder / "3.txt")])
    read.clear()
    assert "1 document added, 3 kept, 0 replaced" in index(*call)
    assert read == ["3.txt"]
    assert "0 documents added, 0 kept, 4 replaced" in index(*call, "-m", "sentence")
    (folder / "0.txt").unlink()
    read.clear()
    assert "0 documents added, 3 kept, 0 replaced, 1 removed" in index(*call, "-m", "sentence", "--prune")
    assert read == []


def test_a_file_that_changed_just_now_is_read_again(
    tmp_path: Path, folder: Path, read: list[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(file_cache, "_TICK", 3600 * 10**9)
    for _ in range(2):
        read.clear()
        index(folder, "-o", tmp_path / "x.idx")
        assert len(read) == 4


def test_damage_to_what_is_known_of_files_is_harmless_and_found(tmp_path: Path, folder: Path, read: list[str]) -> None:
    call = (folder, "-o", tmp_path / "x.idx")
    index(*call)
    index("--verify", tmp_path / "x.idx")
    file = tmp_path / "x.idx" / "seen.bin"
    whole = file.read_bytes()
    for damaged in (*(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in (0, 17, 30)), whole[:-1], b""):
        file.write_bytes(damaged)
        done = invoke(["index", "--verify", str(tmp_path / "x.idx")])
        assert done.exit_code == 2
        assert "seen.bin is damaged" in done.output
        read.clear()
        assert "0 documents added, 4 kept, 0 replaced" in index(*call)
        assert len(read) == 4
        assert file.read_bytes() == whole
    file.unlink()
    index(*call)
    assert file.read_bytes() == whole


def test_what_is_known_of_a_file_is_of_that_file_alone(tmp_path: Path, folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(file_cache, "_TICK", 0)
    files = find(str(folder))
    how = np.array([mark(0), mark(0), mark(1), mark(1)], np.uint64)
    values = np.concatenate(
        [document_digests.keys(file_cache._paths(files))[None], np.arange(8, dtype=np.uint64).reshape(2, 4) + 1]
    )
    known = FileCache(tmp_path)
    known.note(files, how, document_digests.Digests(file_cache._paths(files), values))
    known.save(lambda own: own.values[0] == values[0, 3])
    same, found = FileCache(tmp_path).known(files[::-1], how[::-1].copy())
    assert same.tolist() == [False, True, True, True]
    assert found.ids.to_pylist() == [file.path for file in files[2::-1]]
    assert (found.values == values[:, 2::-1]).all()
    others = [files[0]._replace(size=1), files[1]._replace(stamp=None), files[2]._replace(stamp=(1, 2, -3)), files[0]]
    assert not FileCache(tmp_path).known(others, how[[0, 1, 2, 2]])[0].any()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 3))])
def test_any_changes_make_the_index_that_reading_all_makes(tmp_path: Path, read: list[str], seed: int) -> None:
    rng, words = random.Random(seed), ["cats", "purr", "dogs", "bark", "Rhine", "sea", "stars", "burn"]
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)

    def text() -> str:
        return " ".join(rng.choices(words, k=rng.randrange(12))) + rng.choice([".", "", "\n\n# Fish\n\nSwim."])

    names = [folder / each for each in ("a.txt", "b.md", "deep/c.txt", "deep/d.md", "e.csv", "f.txt", "g.html", "h.md")]
    for number in range(4):
        for file in rng.sample(names, 8 if number == 0 else 3):
            if file.exists() and rng.random() < 0.3:
                file.unlink()
            elif file.suffix == ".csv":
                file.write_text("id,text\n" + "".join(f"{i},{rng.choice(words)}\n" for i in range(rng.randrange(1, 4))))
            else:
                file.write_text(text())
        skip = ("--on-error", "skip")  # pages without text
        calls = [
            (folder, "-o", tmp_path / "x.idx", "--prune", *skip),
            (folder, "-o", tmp_path / "y.idx", "--prune", "--rehash", *skip),
            (folder, "-o", tmp_path / f"new{number}.idx", *skip),
        ]
        said = [index(*call).partition(";")[0] for call in calls]
        assert said[0] == said[1]
        opened = [pychunk.Index.open(call[2]) for call in calls]
        queries = ["cats purr", "Rhine"]
        assert all_hits(opened[0], queries) == all_hits(opened[2], queries)
        for mode in ("dense", "sparse"):  # numbers of documents among them
            assert opened[0].search(queries, k=99, mode=mode) == opened[1].search(queries, k=99, mode=mode)
        for each in opened:
            each.close()
    read.clear()
    index(*calls[0])
    assert read == []
