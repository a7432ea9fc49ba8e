"""Rows of one id as one document: as chunks of an index, and read by the command."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("faiss")

from command_line import invoke
from index_reference import answers, chunks_of

import pychunk
from pychunk.cli.shared.merge_rows import joined
from pychunk.index.index import Index
from pychunk.index.merge import merged
from pychunk.io.document_batches import Batch

pytestmark = pytest.mark.usefixtures("one_faiss_thread")


def rows_of(pieces: list[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    text = st.lists(st.sampled_from(pieces)).map("".join)
    return st.lists(st.tuples(st.sampled_from("abc"), text), max_size=8)


ROWS = rows_of(["Cats purr.", "Größe zählt.", "猫。", "One\ntwo.", " ", "\n", "\f", "x" * 40])
#: Each row ends with a sentence, so that the sentences of the joined text are those of its rows.
SENTENCES = rows_of(["Cats purr. ", "Größe zählt. ", "They sleep.\n\n", "\n\n", "  "])


def whole(rows: list[tuple[str, str]]) -> dict[str, str]:
    """Return the text of each document, by the letter of its topic."""
    texts: dict[str, list[str]] = {}
    for name, text in rows:
        if text.strip():
            texts.setdefault(name, []).append(text.rstrip())
    return {name: "\n\n".join(own) for name, own in texts.items()}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(SENTENCES, st.sampled_from(["sentence", "chunk"]))
def test_merged_chunks_are_those_of_the_joined_text(rows: list[tuple[str, str]], vectors: str) -> None:
    seg = pychunk.Segmenter("sentence", vectors=vectors)
    found = merged(seg([text for _, text in rows], ids=[name for name, _ in rows]).table)
    texts = whole(rows)
    expected = seg(list(texts.values()), ids=list(texts)).table
    for name in set(expected.column_names) - {
        "document_index",
        "end_reason",
    }:  # the reason that a row's last chunk ends
        assert found[name].to_pylist() == expected[name].to_pylist(), name


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(ROWS, st.sampled_from(["paragraph", "sentence"]))
def test_merged_chunks_lie_in_the_joined_text(rows: list[tuple[str, str]], method: str) -> None:
    found = merged(pychunk.segment([text for _, text in rows], method, ids=[name for name, _ in rows]).table)
    texts = whole(rows)
    names = [name if text.strip() else "" for name, text in rows]
    assert found["document_index"].to_pylist() == [names.index(each) for each in found["document_id"].to_pylist()]
    for each in found.to_pylist():
        assert texts[each["document_id"]][each["start"] : each["end"]] == each["text"]
        assert texts[each["document_id"]].encode()[each["start_byte"] : each["end_byte"]] == each["text"].encode()
        assert each["line"] == texts[each["document_id"]].count("\n", 0, each["start"]) + 1
    assert len(set(found["chunk_id"].to_pylist())) == found.num_rows


@settings(max_examples=100, deadline=None)
@given(ROWS, st.lists(st.integers(0, 8), max_size=3))
def test_rows_that_follow_each_other_are_joined_whatever_the_batches(
    rows: list[tuple[str, str]], cuts: list[int]
) -> None:
    table = pa.table({"id": [name for name, _ in rows], "text": [text for _, text in rows], "n": range(len(rows))})
    borders = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    batches = [Batch(table.slice(a, b - a), i, "x", i) for i, (a, b) in enumerate(zip(borders, borders[1:]))]
    found = [each for batch in joined(batches) for each in batch.table.to_pylist()]
    expected: list[dict[str, Any]] = []
    groups: list[list[str]] = []
    for number, (name, text) in enumerate(rows):
        if not expected or expected[-1]["id"] != name:
            expected.append({"id": name, "n": number})
            groups.append([])
        groups[-1].append(text)
    assert [(each["id"], each["n"]) for each in found] == [(each["id"], each["n"]) for each in expected]
    for each, group in zip(found, groups):
        own = whole([("x", text) for text in group]).get("x", "")
        assert each["text"] == (group[0] if len(group) == 1 else own)


def test_an_index_of_paragraphs_answers_as_one_of_articles(tmp_path: Path) -> None:
    rows = ["Cats purr. They sleep.", "Dogs bark.", "Cats hunt at night."]
    with Index.create(tmp_path / "rows") as index, Index.create(tmp_path / "whole") as other:
        with pytest.raises(ValueError, match=r"have the same id 'cats'.*pass on_duplicate='merge'"):
            index.add(chunks_of(rows, ids=["cats", "dogs", "cats"]))
        with pytest.raises(ValueError, match="on_duplicate must be 'raise' or 'merge'; got 'join'"):
            index.add(chunks_of(rows), on_duplicate="join")
        with pytest.raises(ValueError, match=r"these have no ids: segment with ids="):
            index.add(chunks_of(rows), on_duplicate="merge")
        for _ in range(2):  # an existing document is replaced, not extended
            added = index.add(
                chunks_of(rows, ids=["cats", "dogs", "cats"]), metadata={"n": [1, 2, 3]}, on_duplicate="merge"
            )
        assert (added, added.replaced) == (4, 2)
        other.add(chunks_of(["Cats purr. They sleep.\n\nCats hunt at night.", "Dogs bark."], ids=["cats", "dogs"]))
        assert index.ids() == other.ids() == ["cats", "dogs"]
        for one, two in zip(
            answers(index, ["cats purr", "dogs", "night"]), answers(other, ["cats purr", "dogs", "night"])
        ):
            for a, b in zip(one, two):
                assert [(hit[0], *hit[2:]) for hit in a] == [(hit[0], *hit[2:]) for hit in b]
        hit = index.search("night", k=1, expansion=1)[0][0]
        assert (hit.chunk_index, hit.start, hit.end, hit.sentence, hit.line) == (2, 24, 43, (24, 43), 3)
        assert hit.metadata["n"] == 3
        assert [each.text for each in hit.around] == ["They sleep.", "Cats hunt at night."]


def test_what_cannot_be_merged_is_refused() -> None:
    table = chunks_of(["Cats purr."], ids=["a"]).table
    other = pychunk.Segmenter("sentence", vectors="sentence")(["Dogs bark."], ids=["a"], first_document=1).table
    with pytest.raises(
        ValueError, match=r"rows 0 and 2 of the chunks are both chunk 0 of document 0, 'a': call a Segmenter"
    ):
        merged(pa.concat_tables([table, other, table]))
    boxed = pa.concat_tables([table, other]).append_column("boxes", pa.array([[{"page": 1}], None]))
    with pytest.raises(ValueError, match="have boxes on pages"):
        merged(boxed)


def test_trees_and_pages_go_on_from_row_to_row() -> None:
    guides = ["# Cats\n\nThey purr.\n\n## Food\n\nThey eat fish.", "# Dogs\n\nThey bark.\n\n## Food\n\nMeat."]
    kinds = [
        [("heading", 1, 0, 6), ("paragraph", 0, 8, 18), ("heading", 2, 20, 27), ("paragraph", 0, 29, 43)],
        [("heading", 1, 0, 6), ("paragraph", 0, 8, 18), ("heading", 2, 20, 27), ("paragraph", 0, 29, 34)],
    ]
    options: dict[str, Any] = {"size": 7, "columns": {"blocks": kinds}}
    table = pychunk.segment(guides, ids=["g", "g"], **options).table
    found = merged(table)
    apart = pychunk.segment(guides, ids=["g", "h"], **options).table
    count = apart["document_id"].to_pylist().count("g")
    assert found["chunk_index"].to_pylist() == list(range(found.num_rows))
    expected = [
        None if parent is None else parent + count * (row >= count)
        for row, parent in enumerate(apart["parent"].to_pylist())
    ]
    assert found["parent"].to_pylist() == expected
    assert found["subtree"].equals(apart["subtree"])
    paged = merged(pychunk.segment(["One.\fTwo.", "Still two.\fThree."], "page", ids=["p", "p"]).table)
    assert (paged["page"].to_pylist(), paged["page_end"].to_pylist()) == ([1, 2, 2, 3], [1, 2, 2, 3])


def run(*arguments: object, status: int = 0) -> str:
    done = invoke([str(each) for each in arguments])
    assert done.exit_code == status, done.output
    return done.output


def test_the_command_reads_tables_of_paragraphs(tmp_path: Path) -> None:
    names = ["cats"] * 3 + ["dogs", "owls", "owls"]
    texts = ["Cats purr.", " ", "They sleep by day.", "Dogs bark.", "Owls hunt.", "At night."]
    table = pa.table({"name": names, "text": texts, "n": range(6)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=2)
    call = ("index", tmp_path / "rows.parquet", "--ids", "name", "--metadata-columns", "n", "-o", tmp_path / "x")
    assert "'cats': give each" in run(*call, status=2)
    assert "pass --on-duplicate merge" in run(*call, status=2)
    assert "--on-duplicate must be raise or merge" in run(*call, "--on-duplicate", "join", status=2)
    for added in ("3 documents added, 0 kept", "0 documents added, 3 kept"):
        assert added in run(*call, "--on-duplicate", "merge")
    index = Index.open(tmp_path / "x")
    assert index.ids() == ["cats", "dogs", "owls"]
    assert index.get("cats")["text"].to_pylist() == ["Cats purr.\n\nThey sleep by day."]
    assert index.get("owls")["n"].to_pylist() == [4]
    index.close()
    changed = table.set_column(1, "text", pa.array([*texts[:5], "At night, too."]))
    pq.write_table(changed, tmp_path / "rows.parquet")
    assert "0 documents added, 2 kept, 1 replaced" in run(*call, "--on-duplicate", "merge", "--prune")
    pq.write_table(table.take(pa.array([0, 3, 1])), tmp_path / "rows.parquet")
    assert "documents 0 and 2 have the same id 'cats', with others between them" in run(
        *call, "--on-duplicate", "merge", status=2
    )


def test_the_command_merges_files_of_chunks(tmp_path: Path) -> None:
    rows = ["Cats purr. They sleep.", "Cats hunt at night.", "Dogs bark."]
    chunks = chunks_of(rows, ids=["cats", "cats", "dogs"]).table
    pq.write_table(chunks, tmp_path / "chunks.parquet", row_group_size=1)
    call = ("index", tmp_path / "chunks.parquet", "-o", tmp_path / "x")
    assert "same id 'cats'" in run(*call, status=2)
    assert "2 documents added" in run(*call, "--on-duplicate", "merge")
    with Index.open(tmp_path / "x") as index:
        assert np.array_equal(index.get("cats")["start"], [0, 11, 24])


def test_columns_that_count_characters_are_not_merged(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", "a"], "text": ["One.\fTwo.", "Three."], "pages": [[0, 5], None]})
    with pytest.raises(ValueError, match=r"id 'a', because their column 'pages' holds positions"):
        list(joined([Batch(table, 0, "x", 1)], ["pages"]))


def test_nodes_of_levels_are_none_of_rows(tmp_path: Path) -> None:
    levels, texts = ["sentence", "document"], ["Cats purr.", "Dogs bark."]
    rows = pychunk.segment_levels(texts, levels, vectors="chunk", ids=["a", "a"])
    with Index.create(tmp_path / "x", vectors="chunk") as index:
        with pytest.raises(ValueError, match=r"nodes of levels.*nodes of its own.*before segment_levels\(\)"):
            index.add(rows.chunks(), on_duplicate="merge")
        one = pychunk.segment_levels(texts[:1], levels, vectors="chunk", ids=["a"])
        assert index.add(one.chunks(), on_duplicate="merge").added == 1
