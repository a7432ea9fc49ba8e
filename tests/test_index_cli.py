"""`pychunk index` and `pychunk search`."""

import json
from pathlib import Path

import pytest

pytest.importorskip("faiss")

import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

import pychunk
from pychunk.cli import app

DOCUMENTS = {
    "cats": "Cats purr when they are content. Kittens are blind at birth.",
    "rivers": "The Rhine rises in Switzerland. It reaches the sea in the Netherlands.",
}


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


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
    done = CliRunner().invoke(app, ["index", str(documents), "-o", str(tmp_path / "it.idx"), "--stemmer", "english"])
    assert done.exit_code == 2
    assert "--stemmer" in done.output


def test_searching_nothing_says_how_to_make_an_index(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["search", str(tmp_path), "question"])
    assert done.exit_code == 2
    assert "Index.create" in done.output


def test_filters_and_neighbours(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "--id-column", "id", "--size", "6", "-o", tmp_path / "it.idx")
    hits = json.loads(run("search", tmp_path / "it.idx", "Rhine", "--where", "id=cats", "--expand", "1", "--json"))[
        "hits"
    ]
    assert {hit["id"] for hit in hits} == {"cats"}
    assert [passage["chunk"] for passage in hits[0]["around"]] == [0, 1]
