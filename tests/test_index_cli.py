"""`pychunk index` and `pychunk search`."""

import io
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("faiss")

import pyarrow as pa
import pyarrow.parquet as pq
from command_line import invoke
from rich.console import Console

import pychunk
from pychunk.cli import index as index_command
from pychunk.documents import scripts
from pychunk.io import documents as io_documents
from pychunk.io import files as io_files
from pychunk.io import source

DOCUMENTS = {
    "cats": "Cats purr when they are content. Kittens are blind at birth.",
    "rivers": "The Rhine rises in Switzerland. It reaches the sea in the Netherlands.",
}


def run(*arguments: object) -> str:
    done = invoke([str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: object) -> str:
    done = invoke([str(each) for each in arguments])
    assert done.exit_code == 2, done.output
    return done.output


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents.parquet"
    pq.write_table(pa.table({"id": list(DOCUMENTS), "text": list(DOCUMENTS.values())}), path)
    return path


def test_documents_in_hits_out(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "--id-column", "id", "--size", "8", "-o", tmp_path / "it.idx")
    shown = run("search", tmp_path / "it.idx", "Where does the Rhine rise?", "-k", "1")
    assert "document rivers, chunk 0" in shown
    assert "The Rhine rises in Switzerland." in shown
    found = [json.loads(line) for line in run("search", tmp_path / "it.idx", "Rhine", "kittens", "--json").splitlines()]
    assert [each["query"] for each in found] == ["Rhine", "kittens"]
    best = found[1]["hits"][0]
    assert DOCUMENTS[best["id"]][best["start"] : best["end"]] == best["text"]
    assert set(best["scores"]) == {"dense", "sparse"}


def test_adding_again_replaces_by_id(tmp_path: Path, documents: Path) -> None:
    for _ in range(2):
        run("index", documents, "--column", "text", "--id-column", "id", "-o", tmp_path / "it.idx")
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert len(index) == 2


@pytest.mark.parametrize("vectors", [None, "sentence"])
def test_a_file_of_chunks_is_taken_with_or_without_vectors(
    tmp_path: Path, documents: Path, vectors: str | None
) -> None:
    options = [] if vectors is None else ["--vectors", vectors]
    chunks = tmp_path / "chunks.parquet"
    run("segment", documents, "--column", "text", "--id-column", "id", "-m", "sentence", "-o", chunks, *options)
    run("index", chunks, "-o", tmp_path / "it.idx")
    hit = json.loads(run("search", tmp_path / "it.idx", "blind kittens", "-k", "1", "--json"))["hits"][0]
    assert hit["text"] == "Kittens are blind at birth."
    assert (hit["start"], hit["end"]) == tuple(hit["sentence"])


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
        assert {hit.id: hit.text for hit in index.search("x", k=9, mode="dense")[0]} == {
            str(file): text for file, text in zip(files, ["Owls hunt at night.", DOCUMENTS["rivers"]])
        }
    assert f"1. document {files[0]}, chunk 0" in run("search", tmp_path / "it.idx", "owls")


def test_two_documents_of_one_id_are_both_named_whatever_the_batch(tmp_path: Path, documents: Path) -> None:
    twice = tmp_path / "twice.jsonl"
    rows = [{"id": name, "text": "Some text."} for name in ("a", "b", "a")]
    twice.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call = ["index", twice, "--column", "text", "--id-column", "id", "-o", tmp_path / "it.idx"]
    assert "documents 0 and 2 have the same id 'a': give each" in refused(*call)
    again = tmp_path / "again.jsonl"
    again.write_text(json.dumps({"id": "rivers", "text": "Other."}))
    output = refused("index", documents, again, "--column", "text", "-o", tmp_path / "it.idx")
    assert "documents 1 and 2 have the same id 'rivers'" in output
    note = tmp_path / "note.md"
    note.write_text("A note.")
    assert not (tmp_path / "it.idx").exists()
    run("index", note, "-o", tmp_path / "it.idx")  # one run may replace what another added
    run("index", note, documents, "--column", "text", "--id-column", "id", "-o", tmp_path / "it.idx")


def test_a_file_that_is_named_twice_is_said_to_be(
    tmp_path: Path, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    Path("notes/a.md").write_text("A note.")
    said = "is named twice, by"
    output = refused("index", "notes/a.md", documents, "notes/a.md", "--column", "text", "-o", "it.idx")
    assert "notes/a.md is named twice: name it once" in output
    for first, second in (("./notes/a.md", "notes/a.md"), ("notes", "notes/a.md"), ("notes", tmp_path / "notes")):
        output = refused("index", first, documents, second, "--column", "text", "-o", "it.idx")
        assert f"a.md {said} {first} and by {second}: name it once" in output
    run("segment", documents, "--column", "text", "-o", "chunks.parquet")
    output = refused("index", "chunks.parquet", "./chunks.parquet", "-o", "it.idx")
    assert f"chunks.parquet {said} chunks.parquet and by ./chunks.parquet: name it once" in output
    assert not Path("it.idx").exists()


def test_a_file_has_one_id_with_or_without_a_dot_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.md", "b.md", ".hidden/c.md"):
        (tmp_path / "notes" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "notes" / name).write_text(f"A note called {name}.")
    for inputs in (["notes"], ["./notes"], ["notes/"], ["notes//a.md", "notes/./b.md"], ["./notes/a.md"]):
        run("index", *inputs, "-o", "it.idx")
        with pychunk.Index.open("it.idx") as index:
            assert index.ids() == ["notes/a.md", "notes/b.md"]
    monkeypatch.chdir("notes")
    for inputs in (["."], ["./"], ["a.md", "b.md"], ["./a.md"]):
        run("index", *inputs, "-o", "../other.idx")
        with pychunk.Index.open("../other.idx") as index:
            assert index.ids() == ["a.md", "b.md"]
    monkeypatch.chdir(tmp_path)
    shown = " ".join(invoke(["index", str(tmp_path / "notes"), "-o", "it.idx"]).stderr.split())
    assert f"{tmp_path}/notes/a.md is in the index as notes/a.md, too, and 1 document more: if that is" in shown
    assert "is in the index as" not in invoke(["index", str(tmp_path / "notes"), "-o", "it.idx"]).stderr


def test_an_index_is_not_written_among_documents(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("A note.")
    output = refused("index", tmp_path / "notes" / "a.md", "-o", tmp_path / "notes")
    assert f"{tmp_path / 'notes'} holds other files and no index (a.md): name a folder of the index's own" in output
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["a.md"]
    (tmp_path / "empty").mkdir()
    run("index", tmp_path / "notes" / "a.md", "-o", tmp_path / "empty")


def test_a_folder_and_the_shards_of_an_ingest_go_into_an_index(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "in" / f"{name}.md").write_text(text)
    (tmp_path / "in" / "broken.md").write_bytes(b"\xff")
    assert "its files would be read as documents" in refused("index", tmp_path / "in", "-o", tmp_path / "in" / "it.idx")
    assert "broken.md, whole file: invalid UTF-8" in refused("index", tmp_path / "in", "-o", tmp_path / "one.idx")
    run("ingest", tmp_path / "in", "-o", tmp_path / "shards", "-m", "sentence")
    assert (tmp_path / "shards" / "_dead_letters.jsonl").stat().st_size  # which are no documents
    (tmp_path / "in" / "broken.md").unlink()
    run("index", tmp_path / "in", "-o", tmp_path / "one.idx")
    run("index", tmp_path / "shards", "-o", tmp_path / "two.idx")
    for name in ("one.idx", "two.idx"):
        with pychunk.Index.open(tmp_path / name) as index:
            assert {hit.id for hit in index.search("Rhine", k=9)[0]} == {
                str(tmp_path / "in" / f"{name}.md") for name in DOCUMENTS
            }


def test_a_size_is_refused_where_the_method_has_none(tmp_path: Path, documents: Path) -> None:
    call = ["index", documents, "--column", "text", "-o", tmp_path / "it.idx", "--size", "5", "-m"]
    assert "method 'pic' has no option 'size'" in refused(*call, "pic")
    run(*call, "fixed")


def test_a_pipe_gets_names_and_texts_on_whole_lines(tmp_path: Path) -> None:
    text = "Owls hunt at night, " + "and then they sleep, " * 20 + "as owls do."
    file = tmp_path / ("a_long_name_" * 10 + ".md")
    file.write_text(text)
    run("index", file, "--size", "200", "-o", tmp_path / "it.idx")
    lines = run("search", tmp_path / "it.idx", "owls").splitlines()
    assert lines[0].startswith(f"1. document {file}, chunk 0  0:{len(text)}")
    assert lines[1] == text


def test_searching_nothing_says_how_to_make_an_index(tmp_path: Path) -> None:
    shown = refused("search", tmp_path, "question")
    assert "holds no index (manifest.json is missing): make an index by pychunk index" in shown
    assert "--depth says how many hits --rerank orders anew" in refused("search", tmp_path, "question", "--depth", "9")


def test_a_search_that_finds_nothing_says_so(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    for more, message in (
        (["Rhine", "--words", "2"], "nothing found of at most 2 words (--words)\n"),
        (["zebra", "--mode", "sparse"], "nothing found\n"),
    ):
        done = invoke(["search", str(tmp_path / "it.idx"), *more])
        assert (done.exit_code, done.stdout, done.stderr) == (0, "", message)


def test_a_search_does_without_pandas(tmp_path: Path, documents: Path) -> None:
    """Arrow imports it at the first array that is made of a list, which takes 0.2 s."""
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    code = "import sys, pychunk; index = pychunk.Index.open(sys.argv[1]); index.search('Rhine')[0][0].text; "
    code += "print('pandas' in sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path / "it.idx")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_command_loads_only_what_one_search_takes(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    code = "import atexit, runpy, sys; sys.argv = ['pychunk', 'search', *sys.argv[1:]]; "
    code += "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    code += "runpy.run_module('pychunk.__main__', {}, '__main__')"
    command = [sys.executable, "-c", code, str(tmp_path / "it.idx"), "Rhine"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "The Rhine rises in Switzerland." in done.stdout
    loaded = set(done.stderr.split())
    assert "pychunk.retrieval.searcher" in loaded
    assert not {"pandas", "faiss", "pyarrow.compute", "numpy.ma", "pychunk.io"} & loaded


def test_titles_are_columns_here_too(tmp_path: Path, documents: Path) -> None:
    call = [
        "index",
        documents,
        "--column",
        "text",
        "--id-column",
        "id",
        "-m",
        "pic",
        "--summary",
        "title",
        "--titles",
        "id",
    ]
    run(*call, "-o", tmp_path / "it.idx")
    assert json.loads(run("search", tmp_path / "it.idx", "Rhine", "-k", "1", "--json"))["hits"][0]["id"] == "rivers"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--terms none --stemmer english", "--stemmer changes nothing with --terms none"),
        ("--terms none --ngram 3", "--ngram changes nothing with --terms none"),
        ("--terms words --ngram 3", "--ngram changes nothing with --terms words"),
        ("--ngram 3", "--ngram changes nothing where BM25 counts words"),
        ("--terms letters", "--terms must be one of words, ngrams, auto, none; got 'letters'"),
        ("--stemmer klingon", "stemmer must be one of arabic, "),
    ],
)
def test_what_means_nothing_is_named_before_anything_is_done(options: str, said: str, tmp_path: Path) -> None:
    pytest.importorskip("Stemmer")
    output = refused("index", tmp_path / "absent.txt", "-o", tmp_path / "new.idx", *options.split())
    assert said in output
    assert not (tmp_path / "new.idx").exists()
    with pytest.raises(ValueError, match="stemmer='english' changes nothing with terms=None: leave out one of them"):
        pychunk.Index.create(tmp_path / "new.idx", terms=None, stemmer="english")


def test_options_for_other_kinds_of_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Cats purr.")
    for options in ("--ids id", "--column text"):
        said = f"{options.split()[0]} changes nothing for text: leave it out, or pass --source-kind jsonl, csv, tsv, "
        assert said in refused("index", tmp_path / "a.txt", "-o", tmp_path / "it.idx", *options.split())
        assert said.replace("source-", "") in refused("segment", tmp_path / "a.txt", *options.split())
    vectors = refused("segment", tmp_path / "a.txt", "--vector-encoder", "static")
    assert "--vector-encoder changes nothing without --vectors" in vectors
    for options in ("--redirects", "--namespace 4"):
        assert "changes nothing for text" in refused("segment", tmp_path / "a.txt", *options.split())
    (tmp_path / "b.csv").write_text("id,text\nb,Dogs bark.\n")
    assert "Dogs bark." in run("segment", tmp_path, "--ids", "id", "--column", "text")


def test_columns_are_kept_again_unless_others_are_named(tmp_path: Path) -> None:
    def index(*inputs: str, keep: str = "") -> str:
        done = invoke(
            ["index", *(str(tmp_path / each) for each in inputs), "-o", str(tmp_path / "it.idx"), *keep.split()]
        )
        assert done.exit_code == 0, done.output
        return " ".join(done.stderr.split())

    def metadata() -> dict[str, Any]:
        with pychunk.Index.open(tmp_path / "it.idx") as made:
            return {Path(hit.id).name: hit.metadata for hit in made.search("animals", k=9, mode="dense")[0]}

    (tmp_path / "a.csv").write_text("id,text,year,lang\na,Cats purr.,1984,en\n")
    (tmp_path / "b.csv").write_text("id,text,lang\nb,Dogs bark.,en\n")
    (tmp_path / "c.txt").write_text("Owls hunt.")
    (tmp_path / "d.jsonl").write_text('{"id": "d", "text": "Fish swim.", "year": "2001"}\n')
    assert "kept, as in" not in index("a.csv", keep="--keep year --keep lang")
    again = index("a.csv")
    assert "kept, as in the index: year, lang (--keep names others)" in again
    assert "0 documents added, 1 kept, 0 replaced" in again
    (tmp_path / "a.csv").write_text("id,text,year,lang\na,Cats hiss.,1985,en\n")
    said = index("a.csv", "b.csv", "c.txt", "d.jsonl")
    assert f"{tmp_path / 'b.csv'} has no column year, as the index has: null for its documents" in said
    assert "c.txt has no column" not in said
    assert metadata() == {
        "a": {"year": "1985", "lang": "en"},
        "b": {"year": None, "lang": "en"},
        "c.txt": {"year": None, "lang": None},
        "d": {"year": "2001", "lang": None},
    }
    said = index("a.csv", keep="--keep lang")
    assert "kept, as in" not in said
    assert "not kept of what is cut now: year, which the index has" in said
    assert metadata()["a"] == {"year": None, "lang": "en"}
    assert "not kept" not in index("a.csv", keep="--keep lang --keep year")


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
    assert "ids are those of column slug, as in the index (--ids names another)" in said
    assert "0 documents added, 1 kept, 1 replaced" in said
    said, ids = index("b.csv", "id,text\nowls,Owls hunt.\n")
    assert ids == ["cats", "dogs", "owls"]
    assert "ids are those" not in said
    said, ids = index("c.txt", "Fish swim.")
    assert ids == sorted(["cats", "dogs", "owls", str(tmp_path / "c.txt")])
    assert "ids are those" not in said
    said, ids = index("a.jsonl", json.dumps({"id": "7", "slug": "emus", "text": "Emus run."}) + "\n", "--ids", "id")
    assert "7" in ids
    assert "8" in index("a.jsonl", json.dumps({"id": "8", "slug": "emus", "text": "Emus run."}) + "\n")[1]


def test_a_column_is_kept_of_the_inputs_that_have_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text,lang\na,Cats purr.,en\n")
    (tmp_path / "b.md").write_text("# Dogs\n\nThey bark.")
    for order in (["a.csv", "b.md"], ["b.md", "a.csv"]):
        inputs = [tmp_path / name for name in order]
        run("index", *inputs, "--column", "text", "--keep", "lang", "-o", tmp_path / f"{order[0]}.idx")
        with pychunk.Index.open(tmp_path / f"{order[0]}.idx") as made:
            kept = {Path(hit.id).name: hit.metadata["lang"] for hit in made.search("x", k=9, mode="dense")[0]}
        assert kept == {"a": "en", "b.md": None}
    output = refused("index", tmp_path / "b.md", "--keep", "lang", "-o", tmp_path / "x.idx")
    assert "markdown has no column 'lang'" in output
    (tmp_path / "c.txt").write_text("Owls hunt.")
    output = refused("index", tmp_path / "b.md", tmp_path / "c.txt", "--keep", "lang", "-o", tmp_path / "x.idx")
    assert "--keep: none of the inputs has a column 'lang'" in output


def test_a_warning_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"key": "a", "text": "Cats purr."}\n')
    done = invoke(["index", str(tmp_path / "a.jsonl"), "--ids", "kye", "-o", str(tmp_path / "it.idx")])
    said = "none of 1 rows has the key 'kye' (did you mean 'key'?); the keys are key, text"
    assert f"warning: {tmp_path / 'a.jsonl'}, from line 1: {said}" in " ".join(done.stderr.split())
    assert "UserWarning" not in done.stderr


def test_verify_takes_no_options_of_adding(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    for option in ("--terms words", "--prune", "--keep title", "--size 5", "--ids id", "--limit 3"):
        said = f"--verify adds nothing, and {option.split()[0]} changes nothing beside it: leave out one of them"
        assert said in refused("index", "--verify", tmp_path / "it.idx", *option.split())


def test_a_wrong_value_is_named_for_an_index_that_is_there_too(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    for options, said in (("--terms letters", "words, ngrams, auto, none"), ("--stemmer klingon", "arabic, ")):
        output = refused("index", documents, "-o", tmp_path / "it.idx", *options.split())
        assert f"must be one of {said}" in output


def test_a_first_run_that_fails_leaves_no_index(tmp_path: Path, documents: Path) -> None:
    index = tmp_path / "it.idx"
    refused("index", documents, "--column", "txt", "-o", index)
    assert not index.exists()
    run("index", documents, "--column", "text", "-o", index, "--stemmer", "english")
    refused("index", documents, "--column", "txt", "-o", index)
    assert run("search", index, "Rhine", "-k", "1")
    assert "is a file: name a folder" in refused("index", documents, "--column", "text", "-o", documents)


def test_an_empty_question_is_refused(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    assert "a question is empty" in refused("search", tmp_path / "it.idx", "Rhine", " ")


def test_every_damaged_index_is_told(tmp_path: Path, documents: Path) -> None:
    paths = [tmp_path / name for name in ("a.idx", "b.idx", "c.idx")]
    for path in paths:
        run("index", documents, "--column", "text", "-o", path)
    for path in paths[::2]:
        file = next(path.glob("part-*/sentence_vectors.bin"))
        file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
    done = invoke(["index", "--verify", *map(str, paths)])
    assert done.exit_code == 2
    assert done.output.count("is damaged") == 2
    assert f"{paths[1]} is whole" in done.output


def test_filters_and_neighbours(tmp_path: Path, documents: Path) -> None:
    call = ["index", documents, "--column", "text", "--id-column", "id", "-m", "recursive:size=6"]
    run(*call, "-o", tmp_path / "it.idx")
    hits = json.loads(run("search", tmp_path / "it.idx", "Rhine", "--where", "id=cats", "--expand", "1", "--json"))[
        "hits"
    ]
    assert {hit["id"] for hit in hits} == {"cats"}
    for options, ids in (
        (["--where", "id = 'cats' and chunk >= 1"], {"cats"}),
        (["--where", "id=cats", "--where", "id=rivers"], {"cats", "rivers"}),
        (["--where", "id=cats", "--where", "id=rivers", "--where", "chunk > 0 or id = 'rivers'"], {"cats", "rivers"}),
        (["--where", "id=cats", "--where", "id='rivers'", "--where", "not id=cats"], {"rivers"}),
        (["--min-score", "9"], set()),
    ):
        found = json.loads(run("search", tmp_path / "it.idx", "Rhine", "--mode", "dense", "--json", *options))["hits"]
        assert {hit["id"] for hit in found} == ids
    assert "expected a value at the end of 'id ='" in refused("search", tmp_path / "it.idx", "x", "--where", "id =")
    assert [passage["chunk"] for passage in hits[0]["around"]] == [0, 1]


def test_what_is_broken_is_left_out_where_asked(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text('{"id": "a", "text": "Cats purr."}\n{"id": "b"\n{"id": "c", "text": "Stars burn."}\n')
    call = ["index", file, "--column", "text", "-o", tmp_path / "it.idx"]
    assert "line 2: " in refused(*call)
    assert "left out" in invoke([str(each) for each in [*call, "--on-error", "skip"]]).stderr
    found = json.loads(run("search", tmp_path / "it.idx", "What do cats do?", "--json"))["hits"]
    assert {hit["id"] for hit in found} == {"a", "c"}


def test_advice_is_in_the_commands_words(tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"\1\2\3")
    assert "pass --source-kind, one of" in refused("index", tmp_path / "data.bin", "-o", tmp_path / "it.idx")


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
        assert {hit.id: (hit.document, hit.text) for hit in index.search("x", k=9, mode="dense")[0]} == {
            "c": (2, "Owls hunt."),
            "b": (1, "Dogs sleep. They bark."),
            "d": (2, "Fish swim."),
        }
        index.remove(["d"])
    assert "1 document added, 2 kept, 0 replaced, 0 removed" in again()
    for options in (["--size", "5", "-m", "fixed"], ["--keep", "n"], ["--keep", "n", "--atoms"]):
        assert "0 documents added, 0 kept, 3 replaced, 0 removed" in again(*options)
        assert "0 documents added, 3 kept, 0 replaced, 0 removed" in again(*options, "--threads", "1")
    write(c="", b="Dogs sleep. They bark.", d=" ")  # what has become blank is not found any more
    assert "0 documents added, 1 kept, 2 replaced, 0 removed; 0 chunks made" in again("--keep", "n", "--atoms")
    assert "0 documents added, 3 kept, 0 replaced, 0 removed; 0 chunks made" in again("--keep", "n", "--atoms")
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


def test_a_folder_with_documents_beside_chunks_holds_documents(tmp_path: Path) -> None:
    chunks = pychunk.segment(list(DOCUMENTS.values()), "sentence", ids=list(DOCUMENTS)).table
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    pq.write_table(chunks, tmp_path / "notes" / "chunks.parquet")
    assert not source.has_documents(str(tmp_path / "notes"))
    assert index_command._holds_chunks(str(tmp_path / "notes"))
    (tmp_path / "notes" / "deep" / ".emus.txt").write_text("Hidden.")
    assert index_command._holds_chunks(str(tmp_path / "notes"))
    (tmp_path / "notes" / "deep" / "emus.txt").write_text("Emus run.")
    assert source.has_documents(str(tmp_path / "notes"))
    assert not index_command._holds_chunks(str(tmp_path / "notes"))


def test_verify_names_the_file_that_is_damaged(tmp_path: Path, documents: Path) -> None:
    for name in ("a.idx", "b.idx"):
        run("index", documents, "--column", "text", "-o", tmp_path / name)
    shown = run("index", "--verify", tmp_path / "a.idx", tmp_path / "b.idx").splitlines()
    assert [line.split(": ")[0] for line in shown] == [f"{tmp_path / name} is whole" for name in ("a.idx", "b.idx")]
    assert "2 chunks in " in shown[0]
    files = sorted(path for path in (tmp_path / "b.idx").rglob("*") if path.is_file() and path.name != "lock")
    assert len(files) > 5
    for file in files:
        whole = file.read_bytes()
        for place in {0, len(whole) // 2, len(whole) - 2}:
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            output = refused("index", "--verify", tmp_path / "a.idx", tmp_path / "b.idx")
            assert f"{file} is damaged" in output or "upgrade with pip" in output
            assert "a.idx is whole" in output
        file.write_bytes(whole)
    assert "--verify adds nothing" in refused("index", "--verify", tmp_path / "a.idx", "-o", tmp_path / "b.idx")
    assert "name the index's folder, new or not: -o INDEX" in refused("index", documents)


def test_while_an_index_is_saved_the_bar_does_not_stand_at_its_end(
    tmp_path: Path, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen, seen = io.StringIO(), []
    bar = index_command.progress_bar("index", Console(file=screen, force_terminal=True, width=120))
    save = pychunk.Index.save

    def saved(self: pychunk.Index) -> None:
        seen.append([(task.total, task.fields["rate"]) for task in bar.tasks])
        bar.refresh()
        save(self)

    monkeypatch.setattr(index_command, "progress_bar", lambda *_: bar)
    monkeypatch.setattr(pychunk.Index, "save", saved)
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    assert seen == [[(None, "saving 2 chunks")]]
    assert "saving 2 chunks" in screen.getvalue()
    assert not [line for line in screen.getvalue().splitlines() if "saving" in line and "%" in line]


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
            found = {hit.id: (hit.document, hit.text) for hit in index.search("x", k=99, mode="dense")[0]}
            assert found == {name: (i, text) for i, (name, text) in enumerate(texts.items())}


def test_what_cannot_be_read_is_not_dropped(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / f"{name}.md").write_text(text)
    call = ["index", folder, "-o", tmp_path / "it.idx", "--on-error", "skip", "--prune"]
    run(*call)
    (folder / "cats.md").write_bytes(b"\xff")
    (folder / "rivers.md").unlink()
    done = invoke([str(each) for each in call])
    assert "nothing was dropped: 1 document could not be read, and may be in the index" in done.stderr
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert len(index.ids()) == 2
    assert "--prune drops what is in none of the inputs, of which --limit reads a part" in refused(*call, "--limit", 1)
    (folder / "cats.md").unlink()
    assert "no such file, or a folder without files" in refused(*call)
    (folder / "owls.md").write_text("Owls hunt.")
    run(*call)
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert index.ids() == [str(folder / "owls.md")]


def test_chunks_are_pruned_by_their_ids(tmp_path: Path, documents: Path) -> None:
    chunks = tmp_path / "chunks.parquet"
    run("segment", documents, "--column", "text", "-m", "sentence", "-o", chunks, "--overwrite")
    run("index", chunks, "-o", tmp_path / "it.idx")
    pq.write_table(pq.read_table(chunks).slice(0, 2), chunks)
    for _ in range(2):
        run("index", chunks, "-o", tmp_path / "it.idx", "--prune")
        with pychunk.Index.open(tmp_path / "it.idx") as index:
            assert index.ids() == ["cats"]
    pq.write_table(pq.read_table(chunks).drop_columns(["id"]), chunks)
    output = refused("index", chunks, "-o", tmp_path / "none.idx", "--prune")
    assert "--prune tells documents by their ids, and these chunks have none: segment with --ids" in output
    run("index", chunks, "-o", tmp_path / "mixed.idx")
    (tmp_path / "note.md").write_text("A note.")
    for name in ("note.md", "other.md"):
        (tmp_path / "note.md").rename(tmp_path / name)
        done = invoke(["index", str(tmp_path / name), "-o", str(tmp_path / "mixed.idx"), "--prune"])
        (tmp_path / name).rename(tmp_path / "note.md")
        said = " ".join(done.stderr.split())
        assert (
            "2 chunks of documents without ids stay: --prune tells documents by their ids. In Python index.rem" in said
        )
        assert f"1 document added, 0 kept, 0 replaced, {int(name == 'other.md')} removed" in said


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_table_that_breaks_off_leaves_the_index_as_it_was(tmp_path: Path, threads: str) -> None:
    path, index = tmp_path / "a.jsonl", tmp_path / "a.idx"
    lines = [json.dumps({"id": str(number), "text": f"Text {number} is of cats. " * 500}) for number in range(400)]
    path.write_text("\n".join(lines[:9]))
    command = ["index", str(path), "-o", str(index), "--threads", threads]
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


def test_contexts_are_refused_where_no_words_are_searched(tmp_path: Path, documents: Path) -> None:
    new = ("index", documents, "--column", "text", "-o", tmp_path / "it.idx", "--terms", "none")
    said = "an index with --terms none has no words: leave out one of them"
    assert f"--augment finds chunks by the words of a context, and {said}" in refused(*new, "--augment", "head")
    assert not (tmp_path / "it.idx").exists()
    run(*new)
    assert said in refused(*new[:-2], "--augment", "head")
    assert f"--method proposition finds chunks by the words of a context, and {said}" in refused(
        *new, "-m", "proposition", "--llm-url", "http://127.0.0.1:9/v1", "--llm-model", "test"
    )


def test_rewriting_by_options_says_where_it_is_taken(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    told = refused("search", tmp_path / "it.idx", "cats", "--rewrite", "options")
    assert "--rewrite must be feedback, hyde, multi; got 'options', which Index.search takes in Python" in told
    assert refused("search", tmp_path / "it.idx", "cats", "--rewrite", "x").endswith("got 'x'\n")


def test_a_warning_speaks_of_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_warned", set())
    path = tmp_path / "cats.txt"
    path.write_text("Кішки муркочуть, коли задоволені. Сонце є зорею. " * 20)
    assert invoke(["segment", str(path), "-m", "page"]).stderr == ""
    told = invoke(["index", str(path), "-m", "page", "-o", str(tmp_path / "it.idx")]).stderr
    assert "warning: " in told
    assert "Pass --encoder a model of this language, or search by words alone (--mode sparse)" in told
    assert "cut by" not in told
