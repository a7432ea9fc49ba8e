"""The command `pychunk search`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("faiss")

from command_line import invoke
from index_commands import refused, run, written


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return written(tmp_path / "documents.parquet")


def test_a_pipe_gets_names_and_texts_on_whole_lines(tmp_path: Path) -> None:
    text = "Owls hunt at night, " + "and then they sleep, " * 20 + "as owls do."
    file = tmp_path / ("a_long_name_" * 10 + ".md")
    file.write_text(text)
    run("index", file, "-m", "topic:size=200", "-o", tmp_path / "it.idx")
    lines = run("search", tmp_path / "it.idx", "owls").splitlines()
    assert lines[0].startswith(f"1. document {file}, chunk 0  0:{len(text)}")
    assert lines[1] == text


def test_searching_nothing_says_how_to_make_an_index(tmp_path: Path) -> None:
    shown = refused("search", tmp_path, "question")
    assert "holds no index (manifest.json is missing): make an index with pychunk index" in shown
    assert "--depth changes nothing without --rerank" in refused("search", tmp_path, "question", "--depth", "9")


def test_a_search_that_finds_nothing_says_so(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    for more, message in (
        (["Rhine", "--words", "2"], "nothing found of at most 2 words (--words)\n"),
        (["zebra", "--mode", "sparse"], "nothing found\n"),
    ):
        done = invoke(["search", str(tmp_path / "it.idx"), *more])
        assert (done.exit_code, done.stdout, done.stderr) == (0, "", message)


@pytest.mark.slow
def test_a_search_does_without_pandas(tmp_path: Path, documents: Path) -> None:
    """Arrow imports it at the first array from a list, which takes 0.2 s."""
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    code = "import sys, pychunk; index = pychunk.Index.open(sys.argv[1]); index.search('Rhine')[0][0].text; "
    code += "print('pandas' in sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path / "it.idx")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.slow
def test_the_command_loads_only_what_one_search_takes(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    code = "import atexit, runpy, sys; sys.argv = ['pychunk', 'search', *sys.argv[1:]]; "
    code += "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    code += "runpy.run_module('pychunk.__main__', {}, '__main__')"
    command = [sys.executable, "-c", code, str(tmp_path / "it.idx"), "Rhine"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "The Rhine rises in Switzerland." in done.stdout
    loaded = set(done.stderr.split())
    assert "pychunk.index.search.searcher" in loaded
    assert not {"pandas", "faiss", "pyarrow.compute", "numpy.ma", "pychunk.io"} & loaded


def test_an_empty_question_is_refused(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    assert "query 2 of 2 is empty" in refused("search", tmp_path / "it.idx", "Rhine", " ")


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
    hits = json.loads(
        run("search", tmp_path / "it.idx", "Rhine", "--where", "document_id=cats", "--expand", "1", "--json")
    )["hits"]
    assert {hit["document_id"] for hit in hits} == {"cats"}
    for options, ids in (
        (["--where", "document_id = 'cats' and chunk_index >= 1"], {"cats"}),
        (["--where", "document_id=cats", "--where", "document_id=rivers"], {"cats", "rivers"}),
        (
            [
                "--where",
                "document_id=cats",
                "--where",
                "document_id=rivers",
                "--where",
                "chunk_index > 0 or document_id = 'rivers'",
            ],
            {"cats", "rivers"},
        ),
        (
            ["--where", "document_id=cats", "--where", "document_id='rivers'", "--where", "not document_id=cats"],
            {"rivers"},
        ),
        (["--min-score", "9"], set()),
    ):
        found = json.loads(run("search", tmp_path / "it.idx", "Rhine", "--mode", "dense", "--json", *options))["hits"]
        assert {hit["document_id"] for hit in found} == ids
    assert "expected a value at the end of 'document_id ='" in refused(
        "search", tmp_path / "it.idx", "x", "--where", "document_id ="
    )
    assert [passage["chunk_index"] for passage in hits[0]["around"]] == [0, 1]


def test_rewriting_by_options_says_where_it_is_taken(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    told = refused("search", tmp_path / "it.idx", "cats", "--rewrite", "options")
    assert "--rewrite must be feedback, hyde, multi; got 'options', which only Index.search takes, in Python" in told
    assert refused("search", tmp_path / "it.idx", "cats", "--rewrite", "x").endswith("got 'x'\n")
