"""The chunk table is the one that Arrow makes of each column's values, and Arrow can release it anywhere."""

import gc
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine import native
from pychunk._engine.data.columns import COLUMNS
from pychunk._engine.engine import engine
from pychunk.chunks.chunk_table import chunk_table

TEXT = (
    "# Cats\n\nCats purr. They sleep in the sun.\n\n## Food\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nDogs bark: löud 🐕."
)


def slow_table(columns: dict[str, Any], metadata: dict[bytes, bytes] | None) -> pa.Table:
    """Return the table that Arrow makes of Python's values, column by column."""
    rows = len(columns["document_index"])
    found: dict[str, pa.Array] = {}
    for column in COLUMNS:
        name = column.name
        if name in ("path", "sections", "header"):  # tested with headings
            continue
        if name not in columns:
            if column.nullable:
                found[name] = pa.array([None] * rows, pa.int64())
            continue
        values = columns[name]
        if name in ("chunk_id", "text_id"):
            text = values.tobytes().decode()
            found[name] = pa.array([text[32 * i : 32 * i + 32] for i in range(rows)], pa.large_string())
        elif name == "text":
            text, offsets = values.tobytes(), columns["text_offsets"]
            parts = [text[offsets[i] : offsets[i + 1]].decode() for i in range(rows)]
            found[name] = pa.array(parts, pa.large_string())
        elif column.labels:
            labels = [None if place < 0 else place for place in values.tolist()]
            found[name] = pa.DictionaryArray.from_arrays(
                pa.array(labels, pa.int8()), pa.array(column.labels, pa.string())
            )
        elif name == "score":
            found[name] = pa.array([None if np.isnan(value) else value for value in values.tolist()], pa.float32())
        elif name == "parent":
            found[name] = pa.array([None if value < 0 else value for value in values.tolist()], pa.int64())
        elif name == "vector":
            found[name] = pa.array(values.tolist(), pa.list_(pa.float32(), values.shape[1]))
        else:
            found[name] = pa.array(values.tolist(), pa.int64())
    return pa.table(found, metadata=metadata)


def check(columns: dict[str, Any]) -> None:
    metadata = {b"pychunk": b'{"method": "pic"}'}
    found = chunk_table(columns, None, 0, metadata)
    found.validate(full=True)
    expected = slow_table(columns, metadata)
    made = [name for name in found.column_names if name in expected.column_names]
    assert found.select(made).equals(expected, check_metadata=True)
    assert found.schema.metadata == metadata
    # Of the other columns, whose tests are those of blocks and vectors, only the order is checked here.
    order = [column.name for column in COLUMNS]
    assert found.column_names == sorted(found.column_names, key=order.index)


def columns_of(rows: int, draw: Any) -> dict[str, Any]:
    whole = st.integers(-(2**63), 2**63 - 1)
    texts = draw(st.lists(st.text(max_size=5), min_size=rows, max_size=rows))
    encoded = [text.encode("utf-8", "replace") for text in texts]
    made: dict[str, Any] = {
        "text": np.frombuffer(b"".join(encoded), np.uint8),
        "text_offsets": np.cumsum([0, *map(len, encoded)]).astype(np.int64),
        "score": np.array(draw(st.lists(st.floats(width=32), min_size=rows, max_size=rows)), np.float32),
    }
    for name in ("chunk_id", "text_id"):
        made[name] = np.frombuffer(b"0123456789abcdef" * (2 * rows), "S1")
    for column in COLUMNS:
        if column.labels:
            place = st.integers(-1, len(column.labels) - 1)
            made[column.name] = np.array(draw(st.lists(place, min_size=rows, max_size=rows)), np.int8)
    for name in ("document_index", "chunk_index", "start", "end", "start_byte", "end_byte", "line", "end_line"):
        made[name] = np.array(draw(st.lists(whole, min_size=rows, max_size=rows)), np.int64)
    for name in ("overlap", "tokens", "page", "page_end", "parent", "depth", "part"):
        if draw(st.booleans()):
            made[name] = np.array(draw(st.lists(st.integers(-2, 5), min_size=rows, max_size=rows)), np.int64)
    if draw(st.booleans()):
        made["vector"] = np.arange(3 * rows, dtype=np.float32).reshape(rows, 3)
    return made


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_columns_are_those_of_arrow(data: Any) -> None:
    check(columns_of(data.draw(st.integers(0, 20)), data.draw))


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("method", ["pic", "structure", "fixed", "sentence"])
def test_the_engines_columns_are_those_of_arrow(backend: str, method: str) -> None:
    segmenter = pychunk.Segmenter(method, vectors="chunk", placement=pychunk.Placement(threads=1))
    for texts in ([], [""], [TEXT], [TEXT, "", TEXT[::-1]]):
        cutter, inputs = segmenter.read(texts)
        requests = [request for request, _ in cutter.requests(inputs)] or [cutter.no_request(inputs)]
        for request in requests:
            check(engine(backend).segment(request))


def test_the_table_shares_the_engines_memory_and_keeps_it() -> None:
    cutter, inputs = pychunk.Segmenter("sentence", vectors="chunk").read([TEXT] * 50)
    (request, _), *_ = cutter.requests(inputs)
    columns = native.segment(request)
    table, expected = chunk_table(columns, None, 0), slow_table(columns, None)
    for name in ("start", "text", "vector"):
        buffers = [each.address for each in table.column(name).chunk(0).buffers() if each is not None]
        assert columns[name].ctypes.data in buffers
    del columns
    gc.collect()
    native.segment(request)
    assert table.equals(expected)


def test_a_batch_that_no_one_imports_is_released() -> None:
    cutter, inputs = pychunk.Segmenter("sentence").read(TEXT)
    columns = native.segment(next(cutter.requests(inputs))[0])
    for _ in range(3):
        native.ChunkColumns([("document_index", "integer", [])]).batch(columns)


def test_columns_outlive_their_table_and_end_in_another_thread() -> None:
    held = [pychunk.segment([TEXT] * 20, "sentence").table.column("text").chunk(0)]
    gc.collect()
    expected = held[0].to_pylist()
    assert all(text in TEXT for text in expected)
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert not held


def test_wrong_arrays_are_refused() -> None:
    columns = native.ChunkColumns([("document_index", "integer", []), ("score", "number", [])])
    with pytest.raises(ValueError, match="the column score must have 2 rows, got 3"):
        columns.batch({"document_index": np.zeros(2, np.int64), "score": np.zeros(3, np.float32)})
    with pytest.raises(TypeError, match="the column score must be an array of float32"):
        columns.batch({"document_index": np.zeros(1, np.int64), "score": np.array(["a"])})
    with pytest.raises(ValueError, match="unknown kind of column 'letter'"):
        native.ChunkColumns([("score", "letter", [])])


@pytest.mark.slow
def test_tables_may_be_released_while_python_ends() -> None:
    program = """
import atexit, sys, pychunk
tables = [pychunk.segment("Cats purr. Dogs bark.", "sentence").table for _ in range(4)]
class Cycle:
    def __init__(self, table):
        self.table, self.itself = table, self
Cycle(tables.pop())
sys.table = tables.pop()
atexit.register(tables.pop)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_document_without_page_starts_has_no_pages(tmp_path: Path) -> None:
    texts = ["One. Two.", "Three. Four.", ""]
    chunks = pychunk.segment(
        texts, "sentence", ids=list("abc"), vectors="sentence", columns={"page_starts": [[0, 5], [], []]}
    )
    found = [(row["text"], row["page"], row["page_end"]) for row in chunks.table.to_pylist()]
    assert found == [("One.", 1, 1), ("Two.", 2, 2), ("Three.", None, None), ("Four.", None, None)]
    assert [chunk.page for chunk in chunks] == [1, 2, None, None]
    with pychunk.Index.create(tmp_path / "a.idx") as index:
        index.add(chunks)
        index.save()
        assert [index.search(word, k=1, mode="sparse")[0][0].page for word in ("two", "four")] == [2, None]
    with pychunk.Index.open(tmp_path / "a.idx") as index:
        assert [index.search(word, k=1, mode="sparse")[0][0].page for word in ("two", "four")] == [2, None]
