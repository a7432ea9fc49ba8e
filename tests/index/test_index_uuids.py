"""UUIDs as ids are kept as their text, and returned as UUIDs."""

import json
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("faiss")

from command_line import invoke
from index_reference import chunks_of

import pychunk
from pychunk.index import chunk_tables
from pychunk.index.index import Index
from pychunk.index.store import document_digests

pytestmark = pytest.mark.usefixtures("one_faiss_thread")
NAMES = [uuid.UUID(int=7), uuid.UUID(int=2**127 + 0xABC)]
TEXTS = ["Cats purr.", "Dogs bark."]


def run(*arguments: object) -> str:
    done = invoke([str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def objects(names: list[uuid.UUID]) -> Any:
    return np.array(names, object)


def arrow(names: list[uuid.UUID]) -> Any:
    return pa.array([name.bytes for name in names], pa.uuid())


@pytest.mark.slow
@pytest.mark.parametrize("given", [list, iter, objects, arrow])
def test_uuids_come_back(given: Any, tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(TEXTS, ids=given(NAMES)))
        assert index.search("cats", k=1)[0][0].document_id == NAMES[0]
    for _ in range(2):
        with Index.open(tmp_path / "x") as index:
            assert index.ids() == NAMES
            assert [hits[0].document_id for hits in index.search(TEXTS, k=1)] == NAMES
            assert [hits[0].document_id for hits in index.search_documents(TEXTS, k=1)] == NAMES
            for each, text in zip(NAMES, TEXTS, strict=True):
                for name in (each, str(each)):
                    assert [hit.document_id for hit in index.search("cats", ids=[name])[0]] == [each]
                    assert (
                        index.count({"document_id": name})
                        == index.count({"document_id": [name, uuid.UUID(int=9)]})
                        == 1
                    )
                    assert name in index
                    assert index.get(name)["text"].to_pylist() == [text]
                assert index.count(ids=arrow([each])) == 1
            assert index.add(chunks_of(TEXTS[1:], ids=given(NAMES[1:]))).replaced == 1
    with Index.open(tmp_path / "x") as index:
        assert index.remove(NAMES[:1]) == 1
        assert index.ids() == NAMES[1:]


def test_an_index_of_uuids_takes_no_others_and_names_the_row(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(TEXTS, ids=NAMES))
        for wrong in (["x", "y"], [str(NAMES[0]), str(NAMES[1]).upper()], [str(NAMES[0]), "x"]):
            row = int(wrong[0] == str(NAMES[0]))
            with pytest.raises(ValueError, match=rf"ids are UUIDs, and row {row} .*\(document {row}\) has the id '"):
                index.add(chunks_of(TEXTS, ids=wrong))
        with pytest.raises(ValueError, match="ids are UUIDs, and the chunks have none"):
            index.add(chunks_of(TEXTS))
        assert index.add(chunks_of(TEXTS[:1], ids=[str(NAMES[0])])).replaced == 1
        assert index.ids() == NAMES[::-1]


def test_ids_of_several_types_are_an_error_that_names_both() -> None:
    with pytest.raises(TypeError, match=r"one type; got str \(document 0\) and UUID \(document 1\)"):
        chunks_of(TEXTS, ids=["x", NAMES[0]])
    with pytest.raises(TypeError, match=r"one type; got UUID \(document 0\) and int \(document 1\)"):
        chunks_of(TEXTS, ids=[NAMES[0], 7])


def test_an_index_that_began_with_text_goes_on_with_text(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(TEXTS, ids=list(map(str, NAMES))))
        index.add(chunks_of(TEXTS, ids=NAMES))
        assert index.ids() == list(map(str, NAMES))
    assert Index.open(tmp_path / "x").search("cats", k=1)[0][0].document_id == str(NAMES[0])


def test_what_was_not_saved_decides_nothing(tmp_path: Path) -> None:
    Index.create(tmp_path / "x").close()
    index = Index.open(tmp_path / "x")
    index.add(chunks_of(TEXTS, ids=NAMES))
    index.close(discard=True)
    with Index.open(tmp_path / "x") as index:
        index.add(chunks_of(TEXTS, ids=["x", "y"]))
        assert index.ids() == ["x", "y"]


def test_uuids_by_way_of_files_and_the_command_line(tmp_path: Path) -> None:
    pq.write_table(pychunk.segment(TEXTS, "sentence", ids=NAMES).table, tmp_path / "chunks.parquet")
    pq.write_table(pa.table({"text": TEXTS, "key": arrow(NAMES)}), tmp_path / "texts.parquet")
    run("index", tmp_path / "chunks.parquet", "-o", tmp_path / "x")
    run("index", tmp_path / "texts.parquet", "--ids", "key", "-o", tmp_path / "y")
    again = chunk_tables.encode_chunks(pq.read_table(tmp_path / "chunks.parquet"))
    assert chunk_tables.of_uuids(again)
    for path in (tmp_path / "x", tmp_path / "y"):
        found = json.loads(run("search", path, "cats", "-k", "1", "--json"))
        assert found["hits"][0]["document_id"] == str(NAMES[0])
    assert Index.open(tmp_path / "x").ids() == NAMES
    run("index", tmp_path / "texts.parquet", "--ids", "key", "-o", tmp_path / "y", "--prune")
    assert set(map(str, Index.open(tmp_path / "y").ids())) == set(map(str, NAMES))


def test_a_page_shows_the_hits_of_documents_of_uuids(tmp_path: Path) -> None:
    chunks = chunks_of(TEXTS, ids=NAMES)
    with Index.create(tmp_path / "x") as index:
        index.add(chunks)
        hits = index.search("cats", k=1)[0]
    for queries in (["cats"], {"cats": hits}):
        assert "Cats purr." in chunks.view(queries=queries, k=1).html


def test_digests_and_tables_of_uuids_of_arrow(tmp_path: Path) -> None:
    table = pa.table({"id": arrow(NAMES), "text": TEXTS})
    seg = pychunk.Segmenter("sentence", vectors="sentence")
    documents = document_digests.of(table, ["text"], seg.options)
    assert documents.ids.to_pylist() == list(map(str, NAMES))
    with Index.create(tmp_path / "x") as index:
        assert index.diff(documents).all()
        index.add(seg(table, columns={"text": "text"}, ids="id"), documents=documents)
        assert not index.diff(documents).any()
        chunks = seg(TEXTS, ids=list(map(str, NAMES))).table
        foreign = chunks.set_column(chunks.column_names.index("document_id"), "document_id", arrow(NAMES))
        assert index.add(foreign).replaced == 2
    with Index.create(tmp_path / "y") as index:
        index.add(foreign, on_duplicate="merge")
        assert index.ids() == NAMES
    some = pa.table({"id": pa.array([None, NAMES[0].bytes], pa.uuid()), "text": TEXTS})
    with pytest.raises(ValueError, match="must have an id; got 1 without one"):
        document_digests.of(some, ["text"], None)
