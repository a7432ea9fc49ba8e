"""The command `pychunk index` on an existing index: kept, replaced and newly cut documents."""

import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("faiss")

import pyarrow.parquet as pq
from command_line import invoke
from index_commands import DOCUMENTS, refused, run, written

import pychunk
from pychunk.io import document_batches as io_documents
from pychunk.io import files as io_files


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return written(tmp_path / "documents.parquet")


def test_adding_again_replaces_by_id(tmp_path: Path, documents: Path) -> None:
    for _ in range(2):
        run("index", documents, "--column", "text", "--id-column", "id", "-o", tmp_path / "it.idx")
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert len(index) == 2


def test_options_of_an_index_that_is_there_cannot_change(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    output = refused("index", documents, "-o", tmp_path / "it.idx", "--stemmer", "english", "--kind", "auto")
    assert "--stemmer is none, not english; leave out the option" in output
    assert "--kind" not in output
    output = refused("index", documents, "-o", tmp_path / "it.idx", "--fold-diacritics", "--no-cjk-bigrams")
    assert "--fold-diacritics is off, not on, --cjk-bigrams is on, not off" in output


def test_an_index_is_filled_again_with_the_options_it_was_made_with(tmp_path: Path, documents: Path) -> None:
    pytest.importorskip("Stemmer")
    options = {"stemmer": "english", "vectors": "chunk", "terms": "ngrams", "ngram": "5", "kind": "flat"}
    options["encoder"] = "static"
    for _ in range(2):
        run(
            *("index", documents, "--column", "text", "--id-column", "id", "-o", tmp_path / "it.idx"),
            *(word for name, value in options.items() for word in (f"--{name}", value)),
        )
    for _ in range(2):
        run("index", documents, "--column", "text", "-o", tmp_path / "none.idx", "--terms", "none")
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert len(index) == 2
        assert index.info["terms"]["ngram"] == 5
    for _ in range(2):
        plain = ("-o", tmp_path / "plain.idx", "--fold-diacritics", "--no-cjk-bigrams")
        run("index", documents, "--column", "text", *plain)
    with pychunk.Index.open(tmp_path / "plain.idx") as index:
        assert (index.info["terms"]["fold_diacritics"], index.info["terms"]["cjk_bigrams"]) == (True, False)
    assert "--ngram is 5, not 4" in refused("index", documents, "-o", tmp_path / "it.idx", "--ngram", "4")


@pytest.mark.parametrize("count", [1, 2])
def test_a_text_files_name_is_its_id_and_an_edited_one_replaces(tmp_path: Path, count: int) -> None:
    files = [tmp_path / f"{i}.md" for i in range(count)]
    for file, text in zip(files, DOCUMENTS.values()):
        file.write_text(text)
    run("index", *files, "-o", tmp_path / "it.idx")
    files[0].write_text("Owls hunt at night.")
    run("index", files[0], "-o", tmp_path / "it.idx")
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert {hit.document_id: hit.text for hit in index.search("x", k=9, mode="dense")[0]} == {
            str(file): text for file, text in zip(files, ["Owls hunt at night.", DOCUMENTS["rivers"]])
        }
    assert f"1. document {files[0]}, chunk 0" in run("search", tmp_path / "it.idx", "owls")


def test_columns_are_kept_again_unless_others_are_named(tmp_path: Path) -> None:
    def index(*inputs: str, keep: str = "") -> str:
        done = invoke(
            ["index", *(str(tmp_path / each) for each in inputs), "-o", str(tmp_path / "it.idx"), *keep.split()]
        )
        assert done.exit_code == 0, done.output
        return " ".join(done.stderr.split())

    def metadata() -> dict[str, Any]:
        with pychunk.Index.open(tmp_path / "it.idx") as made:
            return {Path(hit.document_id).name: hit.metadata for hit in made.search("animals", k=9, mode="dense")[0]}

    (tmp_path / "a.csv").write_text("id,text,year,lang\na,Cats purr.,1984,en\n")
    (tmp_path / "b.csv").write_text("id,text,lang\nb,Dogs bark.,en\n")
    (tmp_path / "c.txt").write_text("Owls hunt.")
    (tmp_path / "d.jsonl").write_text('{"id": "d", "text": "Fish swim.", "year": "2001"}\n')
    assert "kept, as in" not in index("a.csv", keep="--metadata-columns year --metadata-columns lang")
    again = index("a.csv")
    assert "kept, as in the index: year, lang (--metadata-columns names others)" in again
    assert "0 documents added, 1 kept, 0 replaced" in again
    (tmp_path / "a.csv").write_text("id,text,year,lang\na,Cats hiss.,1985,en\n")
    said = index("a.csv", "b.csv", "c.txt", "d.jsonl")
    assert f"{tmp_path / 'b.csv'} lacks the index's columns year; its documents get null there" in said
    assert "c.txt has no column" not in said
    assert metadata() == {
        "a": {"year": "1985", "lang": "en"},
        "b": {"year": None, "lang": "en"},
        "c.txt": {"year": None, "lang": None},
        "d": {"year": "2001", "lang": None},
    }
    said = index("a.csv", keep="--metadata-columns lang")
    assert "kept, as in" not in said
    assert "not kept in this run, although the index has them: year" in said
    assert metadata()["a"] == {"year": None, "lang": "en"}
    assert "not kept" not in index("a.csv", keep="--metadata-columns lang --metadata-columns year")


def test_ids_are_those_of_the_column_that_was_named_before(tmp_path: Path) -> None:
    def index(name: str, text: str, *options: str) -> tuple[str, list[str]]:
        (tmp_path / name).write_text(text)
        column = [] if name.endswith(".txt") else ["--column", "text"]
        done = invoke(["index", str(tmp_path / name), *column, "-o", str(tmp_path / "x.idx"), *options])
        assert done.exit_code == 0, done.output
        with pychunk.Index.open(tmp_path / "x.idx") as made:
            return " ".join(done.stderr.split()), sorted(made.ids())

    def rows(**texts: str) -> str:
        return "id,slug,text\n" + "".join(f"{i},{slug},{text}\n" for i, (slug, text) in enumerate(texts.items()))

    assert index("a.csv", rows(cats="Cats purr.", dogs="Dogs bark."), "--ids", "slug")[1] == ["cats", "dogs"]
    said, ids = index("a.csv", rows(cats="Cats purr.", dogs="Dogs sleep."))
    assert ids == ["cats", "dogs"]
    assert "ids come from column slug, as in the index (--ids names another)" in said
    assert "0 documents added, 1 kept, 1 replaced" in said
    said, ids = index("b.csv", "id,text\nowls,Owls hunt.\n")
    assert ids == ["cats", "dogs", "owls"]
    assert "ids come from" not in said
    said, ids = index("c.txt", "Fish swim.")
    assert ids == sorted(["cats", "dogs", "owls", str(tmp_path / "c.txt")])
    assert "ids come from" not in said
    said, ids = index("a.jsonl", json.dumps({"id": "7", "slug": "emus", "text": "Emus run."}) + "\n", "--ids", "id")
    assert "7" in ids
    assert "8" in index("a.jsonl", json.dumps({"id": "8", "slug": "emus", "text": "Emus run."}) + "\n")[1]


def test_a_wrong_value_is_named_for_an_index_that_is_there_too(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    for options, said in (("--terms letters", "words, ngrams, auto, none"), ("--stemmer klingon", "arabic, ")):
        output = refused("index", documents, "-o", tmp_path / "it.idx", *options.split())
        assert f"must be one of {said}" in output


@pytest.mark.slow
def test_again_only_what_changed_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "in.jsonl"

    def write(**texts: str) -> None:
        table.write_text("".join(json.dumps({"id": name, "text": text, "n": 1}) + "\n" for name, text in texts.items()))

    cut: list[list[str]] = []
    whole = pychunk.Segmenter.__call__

    def told(self: pychunk.Segmenter, batch: Any, **more: Any) -> Any:
        if len(batch):
            cut.append(batch.ids.to_pylist())
        return whole(self, batch, **more)

    monkeypatch.setattr(pychunk.Segmenter, "__call__", told)

    def again(*options: object) -> str:
        done = invoke([str(each) for each in ("index", table, "--column", "text", "-o", tmp_path / "it.idx", *options)])
        assert done.exit_code == 0, done.output
        return str(done.stderr)

    write(a="Cats purr.", b="Dogs bark.", c="Owls hunt.")
    assert "3 documents added, 0 kept, 0 replaced, 0 removed; 3 chunks made" in again()
    assert "0 documents added, 3 kept, 0 replaced, 0 removed; 0 chunks made" in again()
    write(c="Owls hunt.", b="Dogs sleep. They bark.", d="Fish swim.")
    assert "1 document added, 1 kept, 1 replaced, 0 removed" in again()
    assert "0 documents added, 3 kept, 0 replaced, 1 removed" in again("--prune")
    assert cut == [["a", "b", "c"], ["b", "d"]]
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert {hit.document_id: (hit.document_index, hit.text) for hit in index.search("x", k=9, mode="dense")[0]} == {
            "c": (2, "Owls hunt."),
            "b": (1, "Dogs sleep. They bark."),
            "d": (2, "Fish swim."),
        }
        index.remove(["d"])
    assert "1 document added, 2 kept, 0 replaced, 0 removed" in again()
    for options in (
        ["-m", "fixed:size=5"],
        ["--metadata-columns", "n"],
        ["--metadata-columns", "n", "--keep-together"],
    ):
        assert "0 documents added, 0 kept, 3 replaced, 0 removed" in again(*options)
        assert "0 documents added, 3 kept, 0 replaced, 0 removed" in again(*options, "--placement", "threads=1")
    write(c="", b="Dogs sleep. They bark.", d=" ")  # a document that is now blank is no longer found
    assert "0 documents added, 1 kept, 2 replaced, 0 removed; 0 chunks made" in again(
        "--metadata-columns", "n", "--keep-together"
    )
    assert "0 documents added, 3 kept, 0 replaced, 0 removed; 0 chunks made" in again(
        "--metadata-columns", "n", "--keep-together"
    )
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert index.ids() == ["b"]


def test_adding_reads_no_vectors_of_an_index_and_lists_a_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "notes" / f"{name}.txt").write_text(text)
    run("index", tmp_path / "notes", "-o", tmp_path / "x.idx")
    file = tmp_path / "x.idx" / "part-000001" / "sentence_vectors.bin"
    whole = file.read_bytes()
    file.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    (tmp_path / "notes" / "emus.txt").write_text("Emus run.")
    find, asked = io_files.find, []
    monkeypatch.setattr(io_files, "find", lambda path: asked.append(path) or find(path))
    run("index", tmp_path / "notes", "-o", tmp_path / "x.idx")
    assert len(pychunk.Index.open(tmp_path / "x.idx", verify=False)) == 3
    assert asked == [str(tmp_path / "notes")]
    assert f"{file} is damaged" in refused("index", "--verify", tmp_path / "x.idx")  # it keeps its old checksum


def test_few_changes_of_many_batches_are_cut_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(io_documents, "BATCH_ROWS", 2)
    folder, calls, whole = tmp_path / "in", [], pychunk.Segmenter.__call__
    folder.mkdir()
    texts = {str(folder / f"{i}.txt"): f"This is text {i}." for i in range(9)}

    def told(self: pychunk.Segmenter, batch: Any, **more: Any) -> Any:
        calls.append(len(batch))
        return whole(self, batch, **more)

    monkeypatch.setattr(pychunk.Segmenter, "__call__", told)
    for changed in (range(9), (1, 2, 7), (8,), ()):
        for i in changed:
            texts[str(folder / f"{i}.txt")] += " It changed."
            (folder / f"{i}.txt").write_text(texts[str(folder / f"{i}.txt")])
        calls.clear()
        run("index", folder, "-o", tmp_path / "it.idx")
        assert [count for count in calls if count] == ([len(changed)] if changed else [])
        with pychunk.Index.open(tmp_path / "it.idx") as index:
            found = {
                hit.document_id: (hit.document_index, hit.text) for hit in index.search("x", k=99, mode="dense")[0]
            }
            assert found == {name: (i, text) for i, (name, text) in enumerate(texts.items())}


def test_what_cannot_be_read_is_not_dropped(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / f"{name}.md").write_text(text)
    call = ["index", folder, "-o", tmp_path / "it.idx", "--on-error", "skip", "--prune"]
    run(*call)
    (folder / "cats.md").write_bytes(b"\xff")
    (folder / "lines.jsonl").write_text('{"id": "a", "text": "One."}\n{"id": "b", "text": "\\ud800"}\n')
    (folder / "rivers.md").unlink()
    done = invoke([str(each) for each in call])
    assert "nothing was removed, because 1 document could not be read and may be in the index" in done.stderr
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert len(index.ids()) == 3
    (folder / "lines.jsonl").unlink()
    done = invoke([str(each) for each in call])  # cats.md is one document, of that name
    assert "1 document could not be read: the index keeps the old version" in done.stderr
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert index.ids() == [str(folder / "cats.md")]
    assert "--prune cannot be combined with --limit" in refused(*call, "--limit", 1)
    (folder / "cats.md").unlink()
    assert "no such file, or a folder without files" in refused(*call)
    (folder / "owls.md").write_text("Owls hunt.")
    run(*call)
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert index.ids() == [str(folder / "owls.md")]


def test_a_file_name_that_is_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "cats.md").write_text("Cats purr.")
    with open(os.fsencode(folder) + b"/caf\xe9.md", "wb") as file:
        file.write(b"Coffee is hot.")
    call = ["index", str(folder), "-o", str(tmp_path / "it.idx"), "--prune"]
    done = invoke(call)
    assert done.exit_code == 2
    assert "caf\\xe9.md, whole file: the file's name is not UTF-8: rename it; fix it, or" in done.stderr
    for _ in range(2):
        done = invoke([*call, "--on-error", "skip"])
        assert done.exit_code == 0, done.output
        assert "caf\\xe9.md: the file's name is not UTF-8: rename it" in done.stderr
        with pychunk.Index.open(tmp_path / "it.idx") as index:
            assert index.ids() == [str(folder / "cats.md")]


def test_chunks_are_pruned_by_their_ids(tmp_path: Path, documents: Path) -> None:
    chunks = tmp_path / "chunks.parquet"
    run("segment", documents, "--column", "text", "-m", "sentence", "-o", chunks, "--overwrite")
    run("index", chunks, "-o", tmp_path / "it.idx")
    pq.write_table(pq.read_table(chunks).slice(0, 2), chunks)
    for _ in range(2):
        run("index", chunks, "-o", tmp_path / "it.idx", "--prune")
        with pychunk.Index.open(tmp_path / "it.idx") as index:
            assert index.ids() == ["cats"]
    pq.write_table(pq.read_table(chunks).drop_columns(["document_id"]), chunks)
    output = refused("index", chunks, "-o", tmp_path / "none.idx", "--prune")
    assert "--prune needs document ids, and these chunks have none; segment with --ids" in output
    run("index", chunks, "-o", tmp_path / "mixed.idx")
    (tmp_path / "note.md").write_text("A note.")
    for name in ("note.md", "other.md"):
        (tmp_path / "note.md").rename(tmp_path / name)
        done = invoke(["index", str(tmp_path / name), "-o", str(tmp_path / "mixed.idx"), "--prune"])
        (tmp_path / name).rename(tmp_path / "note.md")
        said = " ".join(done.stderr.split())
        assert "2 chunks of documents without ids stay, because --prune needs ids; remove them in Python with" in said
        assert f"1 document added, 0 kept, 0 replaced, {int(name == 'other.md')} removed" in said


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_table_that_breaks_off_leaves_the_index_as_it_was(tmp_path: Path, threads: str) -> None:
    path, index = tmp_path / "a.jsonl", tmp_path / "a.idx"
    lines = [json.dumps({"id": str(number), "text": f"Text {number} is of cats. " * 500}) for number in range(400)]
    path.write_text("\n".join(lines[:9]))
    command = ["index", str(path), "-o", str(index), "--placement", f"threads={threads}"]
    assert invoke(command).exit_code == 0
    path.write_text("\n".join([*lines, '{"id": "400", "text": 1', *lines[:3]]))
    before = threading.active_count()
    done = invoke(command)
    assert done.exit_code == 2
    assert "line 401" in done.output
    assert threading.active_count() == before
    with pychunk.Index.open(index) as made:
        assert len(made.ids()) == 9
    done = invoke([*command, "--on-error", "skip", "--limit", "30"])
    assert done.exit_code == 0, done.output
    assert "21 documents added, 9 kept" in " ".join(done.stderr.split())


def test_an_index_that_another_process_makes_just_now_is_added_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cats.md").write_text("Cats purr.")
    create = pychunk.Index.create
    call = ["index", str(tmp_path / "cats.md"), "-o", str(tmp_path / "it.idx")]

    def later(path: Path, **options: Any) -> pychunk.Index:
        other = create(path)
        if busy:
            other.add(pychunk.segment("Dogs bark.", ids=["dogs"], vectors="sentence"))
            others.append(other)
        else:
            other.close()
        return create(path, **options)

    monkeypatch.setattr(pychunk.Index, "create", later)
    busy, others = True, []
    assert f"another process writes to {tmp_path / 'it.idx'}: wait for it" in refused(*call)
    others[0].save()  # its folder is still there
    others[0].close()
    shutil.rmtree(tmp_path / "it.idx")
    busy = False
    run(*call)
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert index.ids() == [str(tmp_path / "cats.md")]
