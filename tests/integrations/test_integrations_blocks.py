"""Blocks of a distributed frame give the same chunks as segment(), for any blocks."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sentence_splitter import TEXTS

import pychunk
from pychunk._engine import native
from pychunk.integrations.data_frame_chunks import BlockSegmenter

PROSE = st.lists(st.sampled_from(["Cats", "purr.", "The", "sun", "burns.", "\n", "é", "中"]), max_size=30).map(" ".join)
DOCUMENTS = st.lists(st.one_of(TEXTS, PROSE, st.none()), max_size=8)
CUTS = st.lists(st.integers(0, 8), max_size=4)


def blocks_of(table: pa.Table, cuts: list[int]) -> list[pa.Table]:
    """Return a table in pieces, some of them empty."""
    ends = sorted(min(cut, table.num_rows) for cut in cuts)
    return [table.slice(begin, end - begin) for begin, end in zip([0, *ends], [*ends, table.num_rows])]


def run(blocks: list[pa.Table], method: str, columns: dict[str, Any] | None = None, **options: Any) -> pa.Table:
    """Return the chunks as a distributed frame makes them, with a pickled segmenter and a schema known in advance."""
    columns = {"text": "text", **(columns or {})}
    made = BlockSegmenter.of(method, columns=columns, **{"ids": None, "metadata_columns": [], **options})
    schema = made.schema(blocks[0].schema)
    tables = [table for block in blocks for table in pickle.loads(pickle.dumps(made))(block)]
    assert all(table.schema.equals(schema) for table in tables)
    return pa.concat_tables([schema.empty_table(), *tables])


def number(text: str) -> int:
    return int(native.hash128(text.encode())[:16], 16) // 2


def expected(table: pa.Table, method: str, ids: str | None, **options: Any) -> list[dict[str, Any]]:
    rows = pychunk.segment(table, method, columns={"text": "text"}, ids=ids, **options).table.to_pylist()
    keys = table.column(ids or "text").to_pylist()
    numbers = [row["document_index"] for row in rows]
    return [{**row, "document_index": number(str(keys[n])), "n": n} for row, n in zip(rows, numbers)]


@pytest.mark.slow
@given(DOCUMENTS, CUTS, st.integers(1, 60), st.booleans(), st.sampled_from(["pic", "sentence", "recursive"]))
@settings(deadline=None)
def test_any_blocks_give_the_rows_of_segment(
    texts: list[str | None], cuts: list[int], batch_bytes: int, with_ids: bool, method: str
) -> None:
    table = pa.table(
        {
            "text": pa.array(texts, pa.string()),
            "key": pa.array([f"d{row}" for row in range(len(texts))], pa.string()),
            "n": pa.array(range(len(texts)), pa.int64()),
        }
    )
    ids = "key" if with_ids else None
    out = run(
        blocks_of(table, cuts),
        method,
        ids=ids,
        metadata_columns=["n"],
        on_error="skip",
        batch_bytes=batch_bytes,
        vectors="chunk",
    )
    assert out.to_pylist() == expected(table, method, ids, on_error="skip", vectors="chunk")


@pytest.mark.slow
@given(DOCUMENTS, CUTS)
@settings(deadline=None)
def test_rows_that_are_not_text_can_be_rows(texts: list[str | None], cuts: list[int]) -> None:
    ids = pa.array(range(len(texts)), pa.int64())
    table = pa.table({"text": pa.array(texts, pa.string()), "key": ids, "n": ids})
    out = run(blocks_of(table, cuts), "sentence", ids="key", metadata_columns=["n"], on_error="row").to_pylist()
    good = [{name: row[name] for name in row if name != "error"} for row in out if row["error"] is None]
    assert good == expected(table, "sentence", "key", on_error="skip")
    bad = [row for row in out if row["error"] is not None]
    empty = [n for n, text in enumerate(texts) if text is None]
    assert [row["n"] for row in bad] == [row["document_id"] for row in bad] == empty
    for row in bad:
        assert row["error"] == "the text is null"
        assert row["document_index"] == number(str(row["document_id"]))
        assert row["text"] is row["chunk_index"] is row["start"] is row["chunk_id"] is None


def test_the_metadata_stays_with_the_blocks_so_that_an_index_takes_them() -> None:
    table = pa.table({"text": ["One sentence. Two."], "key": ["a"]})
    out = run([table], "sentence", ids="key", vectors="sentence")
    assert (
        out.schema.metadata
        == pychunk.segment("One sentence. Two.", "sentence", vectors="sentence").table.schema.metadata
    )


def test_an_index_takes_the_blocks(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    texts = ["Cats purr. Dogs bark at night.", "The sun is a star. Stars burn hydrogen.", "Bread is baked from flour."]
    table = pa.table({"text": texts, "key": ["pets", "stars", "bread"], "topic": ["animals", "sky", "food"]})
    with pychunk.Index.create(tmp_path / "index") as index:
        for block in blocks_of(table, [1, 2]):
            index.add(run([block], "sentence", ids="key", metadata_columns=["topic"], vectors="sentence"))
        hit = index.search(["What do stars burn?"], k=1)[0][0]
        assert (hit.document_id, hit.text) == ("stars", "Stars burn hydrogen.")
        hits = index.search(["What do stars burn?"], k=9, where={"topic": "animals"})[0]
        assert {found.document_id for found in hits} == {"pets"}


def test_what_a_document_brings_along_is_the_name_of_a_column() -> None:
    texts = ["Cats purr. The sun burns. Dogs bark.", "", "One. Two."]
    spans = [[(0, 10), (11, 25), (26, 36)], [], [(0, 4), (5, 9)]]
    vectors = [np.eye(3, 4).tolist(), [], np.eye(2, 4).tolist()]
    pages = [[0, 11], [0], [0, 5]]
    table = pa.table(
        {
            "text": texts,
            "title": ["cats", "nothing", "numbers"],
            "spans": pa.array(spans, pa.list_(pa.list_(pa.int64(), 2))),
            "vectors": pa.array(vectors, pa.list_(pa.list_(pa.float32()))),
            "fixed": pa.array(vectors, pa.list_(pa.list_(pa.float32(), 4))),
            "pages": pages,
        }
    )
    blocks = blocks_of(table, [1, 1])
    own: dict[str, Any] = {"keep_together": False, "min_tokens": 0}
    for name in ("vectors", "fixed"):
        given_vectors = [np.array(rows, np.float32).reshape(-1, 4) for rows in vectors]
        made = run(
            blocks,
            "semantic",
            {"sentence_spans": "spans", "sentence_vectors": name, "page_starts": "pages"},
            threshold=0.5,
            **own,
        )
        same = pychunk.segment(
            texts,
            "semantic",
            columns={"sentence_vectors": given_vectors, "sentence_spans": spans, "page_starts": pages},
            threshold=0.5,
            **own,
        ).table
        assert made.drop_columns(["document_index"]).to_pylist() == same.drop_columns(["document_index"]).to_pylist()
        assert made["page_end"].to_pylist() == [1, 2, 2, 1, 2]
        if name == "fixed":  # the width is known before a block is seen
            given_both = {"sentence_vectors": name, "sentence_spans": "spans"}
            schema = run(blocks, "sentence", given_both, vectors="chunk").schema
            assert schema.field("vector").type == pa.list_(pa.float32(), 4)
    titled = run(blocks, "pic", {"titles": "title"}, summary="title").drop_columns(["document_index"])
    assert titled.equals(
        pychunk.segment(table, columns={"text": "text", "titles": "title"}, summary="title").table.drop_columns(
            ["document_index"]
        )
    )


def test_vectors_of_several_widths_are_refused() -> None:
    table = pa.table({"text": ["One. Two."], "vectors": [[[1.0], [1.0, 0.0]]]})
    with pytest.raises(ValueError, match="one width; got 1, 2"):
        run([table], "semantic", {"sentence_vectors": "vectors"}, threshold=0.5)


def test_a_block_of_blank_texts_has_no_width_and_no_rows() -> None:
    table = pa.table({"text": ["One. Two.", " "], "vectors": pa.array([[[1.0, 0.0], [0.0, 1.0]], []])})
    made = BlockSegmenter.of(
        "sentence",
        columns={"text": "text", "sentence_vectors": "vectors"},
        ids=None,
        metadata_columns=[],
        vectors="chunk",
        batch_bytes=1,
    )
    out = pa.concat_tables(list(made(table)))
    assert out["vector"].to_pylist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "'raise', 'skip' or 'row'; got 'ignore'"),
        ({"batch_bytes": 0}, "batch_bytes must be a whole number above 0; got 0"),
        ({"metadata_columns": "title"}, r"write metadata_columns=\['title'\]"),
        ({"ids": ["a"]}, "ids must be the name of a column; got list"),
        ({"columns": {"titles": ["a"]}, "summary": "title"}, "titles must be the name of a column; got list"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"summaries_out": True}, "a distributed frame holds only chunks"),
        ({"size": 3}, "'pic' has no option 'size'"),
        (
            {"metadata_columns": ["nothing"]},
            "metadata_columns='nothing' is not a column; the columns are text, key, start",
        ),
        ({"metadata_columns": ["start"]}, "must not name a column of pychunk's own chunk table; got 'start'"),
        ({"metadata_columns": ["key", "key"]}, "each column once"),
        ({"columns": {"text": "nothing"}}, "column 'nothing' is not there"),
        ({"ids": "nothing"}, "ids='nothing' is not a column; the columns are text, key, start"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(options: dict[str, Any], message: str) -> None:
    table = pa.table({"text": ["a"], "key": ["a"], "start": [1]})
    with pytest.raises((ValueError, TypeError), match=message):
        run([table], "pic", **options)


def test_a_row_that_is_not_text_is_named_by_its_id() -> None:
    table = pa.table({"text": ["a", None, None], "key": ["x", "y", "z"]})
    with pytest.raises(ValueError, match=r"id 'y': the text is null \(1 more row cannot.*on_error='skip' or 'row'"):
        run([table], "pic", ids="key")
    with pytest.raises(ValueError, match="row 1 of a block: the text is null"):
        run([table], "pic", batch_bytes=1)


def test_rows_left_out_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    table = pa.table({"text": ["a", None], "key": [7, 8]})
    assert run([table], "pic", ids="key", on_error="skip")["document_id"].to_pylist() == [7]
    assert "left out: id 8: the text is null" in caplog.text


def test_a_batch_without_documents_has_the_columns_of_others() -> None:
    options: dict[str, Any] = {"method": "semantic", "threshold": 0.5, "vectors": "chunk"}
    none = pychunk.segment([], ids=[], columns={"sentence_vectors": np.empty((0, 4)), "page_starts": []}, **options)
    one = pychunk.segment(
        ["a"], ids=["a"], columns={"sentence_vectors": np.ones((1, 4)), "page_starts": [[0]]}, **options
    )
    assert none.table.column_names == one.table.column_names
    assert none.table.schema.field("vector") == one.table.schema.field("vector")


@pytest.mark.slow
@pytest.mark.parametrize(("module", "package"), [("ray", "ray"), ("spark", "pyspark")])
def test_a_missing_package_is_named_with_the_command(module: str, package: str, tmp_path: Path) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None; from pychunk.integrations import {module} as a; a.segment(None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr.strip().endswith(f'pip install "pychunk-native[{module}]"'), done.stderr
