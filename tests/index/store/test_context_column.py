"""Text that is indexed with a chunk: its words find the chunk, and no output shows it as the document's."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("faiss")

from index_reference import answers, chunks_of, written_wide

from pychunk.index import writer
from pychunk.index.index import Index
from pychunk.index.store import context_column
from pychunk.index.store.index_folder import SCHEMA, Store

pytestmark = pytest.mark.usefixtures("one_faiss_thread")

TEXTS = ["Take it with food. Never twice a day.", "Keep it dry. Not in the sea."]
OF = ["Aspirin leaflet", "Compass manual"]


def with_context(chunks: Any, contexts: list[str] | None = None) -> pa.Table:
    """Return chunks with a context each; by default one for each document."""
    table = chunks if isinstance(chunks, pa.Table) else chunks.table
    own = contexts or [OF[document] for document in table["document_index"].to_pylist()]
    return table.append_column("context", pa.array(own, pa.string()))


def schema(folder: Path) -> int:
    return int(json.loads((folder / "manifest.json").read_text())["schema"])


def test_words_of_the_context_find_a_chunk_which_shows_its_document_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_wide(monkeypatch)
    with Index.create(tmp_path / "x") as index:
        index.add(with_context(chunks_of(TEXTS)))
        for _ in range(2):
            hits = index.search("aspirin food", mode="sparse")[0]
            assert [hit.text for hit in hits] == ["Take it with food.", "Never twice a day."]
            assert [TEXTS[hit.document_index][hit.start : hit.end] for hit in hits] == [hit.text for hit in hits]
            assert [hit.context for hit in hits] == [OF[0]] * 2
            assert hits[0].metadata == {}
            index.save()
    assert schema(tmp_path / "x") == SCHEMA
    assert [hit.text for hit in Index.open(tmp_path / "x").search("compass", mode="sparse")[0]] == [
        "Keep it dry.",
        "Not in the sea.",
    ]


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.tuples(st.text("ab ", max_size=5), st.text("abcü。 ", min_size=1, max_size=9)), min_size=1, max_size=5)
)
def test_bm25_is_that_of_context_and_text_as_one(tmp_path_factory: pytest.TempPathFactory, rows: Any) -> None:
    rows = [(context, text) for context, text in rows if text.strip()] or [("a", "b")]
    folder = tmp_path_factory.mktemp("one")
    plain = chunks_of([text for _, text in rows], ids=range(len(rows)), method="fixed", size=100)
    joined = chunks_of([f"{a}\n{b}" for a, b in rows], ids=range(len(rows)), method="fixed", size=100)
    scores = []
    for name, chunks in (("beside", with_context(plain, [a for a, _ in rows])), ("joined", joined)):
        with Index.create(folder / name) as index:
            index.add(chunks)
            scores.append(index.rank(["a b", "c ab ü"], k=9, mode="sparse"))
    assert np.array_equal(scores[0][0], scores[1][0])
    assert np.array_equal(scores[0][1], scores[1][1], equal_nan=True)


def test_parts_with_and_without_context_are_kept_apart_and_written_anew_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "PART_CHUNKS", 3)
    index = Index.create(tmp_path / "x")
    for i in range(9):
        chunks = chunks_of(TEXTS, ids=[f"a{i}", f"b{i}"])
        index.add(with_context(chunks) if i % 2 else chunks)
    found = answers(index, ["aspirin food", "compass"], 50)
    assert {hit.context for hit in index.search("food", 50, "sparse")[0]} == {None, OF[0]}
    index.save()
    assert answers(index, ["aspirin food", "compass"], 50) == found
    index.remove([f"{letter}{i}" for letter in "ab" for i in range(7)])
    found = answers(index, ["aspirin food", "compass"], 50)
    index.save()
    assert index.info["removed"] == 0
    index.close()
    again = Index.open(tmp_path / "x")
    assert [[seen[:4] for seen in hits] for each in answers(again, ["aspirin food"], 50) for hits in each] == [
        [seen[:4] for seen in hits] for each in found for hits in each[:1]
    ]
    assert {hit.document_id for hit in again.search("compass", 50, "sparse")[0]} == {"b7"}


def test_an_index_of_before_opens_and_answers_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written_wide(monkeypatch)
    with monkeypatch.context() as before, Index.create(tmp_path / "x") as index:
        before.setattr(context_column, "marked", lambda table: table)  # a column of that name was metadata
        index.add(with_context(chunks_of(TEXTS, ids=["a", "b"])))
        found = answers(index, ["aspirin food", "dry"])
    store = Store(tmp_path / "x")
    store.commit({**store.read(), "schema": 4})
    with Index.open(tmp_path / "x") as index:
        assert answers(index, ["aspirin food", "dry"]) == found
        assert index.search("aspirin", mode="sparse") == [[]]
        hit = index.search("food", mode="sparse")[0][0]
        assert (hit.context, hit.metadata) == (None, {"context": OF[0]})
        index.add(with_context(chunks_of(["Take care."], ids=["c"])))
        assert [hit.document_id for hit in index.search("aspirin", mode="sparse")[0]] == ["c"]
        index.save()
        index.remove(["b"])
        index.add(with_context(chunks_of(["Take care."], ids=["c"])))
        index.remove(["a"])
    assert schema(tmp_path / "x") == SCHEMA
    assert [hit.document_id for hit in Index.open(tmp_path / "x").search("aspirin", mode="sparse")[0]] == ["c"]


def test_contexts_that_are_no_text_are_refused(tmp_path: Path) -> None:
    table = chunks_of(TEXTS).table
    with Index.create(tmp_path / "x") as index:
        with pytest.raises(ValueError, match=r"'context' .* must not be null; got 1 null in all, first in row 2"):
            index.add(table.append_column("context", pa.array(["a", "b", None, "d"])))
        with pytest.raises(ValueError, match=r"'context' .* of type int64: cast it, or give the column another name"):
            index.add(table.append_column("context", pa.array([1, 2, 3, 4])))
        assert index.add(table.append_column("context", pa.array(list("abab")).dictionary_encode())) == 4
        assert len(index.search("a", mode="sparse")[0]) == 3  # two contexts, and one text
