"""A ChunkBatch indexed, sliced, listed, shown on a line, and written to a file."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import pychunk
from pychunk import Chunk, ChunkBatch
from pychunk._engine.arrow import python_values
from pychunk._engine.data.columns import COLUMNS
from pychunk._util.reprs import one_line, quoted
from pychunk.index.search.hits import DocumentHits, Hit, Passage

TEXTS = [
    "Cats purr when they are content. Dogs bark at night. The sun is a star. Stars burn hydrogen.",
    "",
    "A second document.\n\nIt has two paragraphs, and a text with an é and a 漢字. The end.",
]


@pytest.fixture(scope="module")
def chunks() -> ChunkBatch:
    return pychunk.segment(TEXTS, "sentence", ids=["a", "b", "c"], vectors="chunk")


def test_a_place_is_a_chunk(chunks: ChunkBatch) -> None:
    listed = list(chunks)
    assert [chunks[i] for i in range(len(chunks))] == listed
    assert [chunks[i - len(chunks)] for i in range(len(chunks))] == listed
    assert chunks[np.int64(2)] == listed[2]
    assert list(reversed(chunks)) == listed[::-1]
    assert listed[1] in chunks
    for i in (len(chunks), -len(chunks) - 1, 10**30):
        with pytest.raises(IndexError, match=rf"chunk {i} is out of range for a ChunkBatch of {len(chunks)}"):
            chunks[i]
    with pytest.raises(IndexError, match="chunk 0 is out of range for a ChunkBatch of 0"):
        pychunk.segment([])[0]
    for wrong in ("text", 1.0, None, [1]):
        with pytest.raises(TypeError, match=r"whole numbers and slices, got \w+; its columns are in \.table"):
            chunks[wrong]


@pytest.mark.parametrize(
    "cut",
    [
        slice(2, 5),
        slice(None),
        slice(-2, None),
        slice(4, 2),
        slice(None, None, 2),
        slice(None, None, -1),
        slice(90, 99),
    ],
)
def test_a_slice_is_a_batch_with_the_same_facts(chunks: ChunkBatch, cut: slice) -> None:
    part = chunks[cut]
    assert isinstance(part, ChunkBatch)
    assert list(part) == list(chunks)[cut]
    assert part.texts == chunks.texts[cut]
    assert np.array_equal(part.vectors, chunks.vectors[cut])
    assert part.to_list() == chunks.to_list()[cut]
    assert part.metadata == chunks.metadata != {}
    assert (part.documents, part.first_document, part.errors) == (
        chunks.documents,
        chunks.first_document,
        chunks.errors,
    )
    assert [[c for c in own if c in part] for own in chunks.by_document()] == [
        sorted(own, key=lambda c: c.chunk_index) for own in part.by_document()
    ]


def test_a_slice_of_a_slice_over_pieces_shares_memory(chunks: ChunkBatch) -> None:
    twice = ChunkBatch(pa.concat_tables([chunks.table, chunks.table]), documents=3)
    assert twice.table["text"].num_chunks == 2
    assert twice[3:9][1:4].texts == (chunks.texts * 2)[4:7]
    assert np.array_equal(twice[3:9].vectors, np.concatenate([chunks.vectors] * 2)[3:9])
    whole, part = chunks.vectors, chunks[2:4].vectors
    assert np.shares_memory(whole, part)
    assert np.shares_memory(whole, chunks.vectors)
    assert not part.flags.writeable


def test_texts_and_vectors(chunks: ChunkBatch) -> None:
    assert chunks.texts == [chunk.text for chunk in chunks] == chunks.table["text"].to_pylist()
    assert chunks.vectors.shape == (len(chunks), 256)
    assert chunks.vectors.dtype == np.float32
    assert chunks.vectors.tolist() == chunks.table["vector"].to_pylist() == [chunk.vector for chunk in chunks]
    none = pychunk.segment([], vectors="chunk")
    assert none.texts == none.to_list() == []
    assert none.vectors.shape == (0, 256)
    with pytest.raises(ValueError, match='no chunk vectors: segment with vectors="chunk"'):
        _ = pychunk.segment(TEXTS).vectors
    with pytest.raises(ValueError, match=r"sentences' in \.table\['sentences'\]: segment with vectors=\"chunk\""):
        _ = pychunk.segment(TEXTS, vectors="sentence").vectors


def test_lists_are_of_plain_values() -> None:
    chunks = pychunk.segment(TEXTS, columns={"page_starts": [[0, 30], [0], [0]]}, vectors="sentence", max_tokens=12)
    assert chunks.to_list() == chunks.table.to_pylist()
    assert json.loads(json.dumps(chunks.to_list())) == chunks.to_list()
    for row, chunk in zip(chunks.to_list(), chunks, strict=True):
        assert {name: getattr(chunk, name) for name in row} == row
        assert type(chunk) is Chunk
        assert type(chunk.tokens) is int
        assert type(chunk.page) is int
        assert chunk.vector is None
        assert chunk.document_id is None


def test_a_table_with_columns_of_other_hands(chunks: ChunkBatch) -> None:
    more = chunks.table.append_column("language", pa.array(["en"] * len(chunks)))
    assert list(ChunkBatch(more, documents=3)) == [replace(chunk, metadata={"language": "en"}) for chunk in chunks]
    with pytest.raises(ValueError, match="these chunks lack the column 'text': add it to their table"):
        list(ChunkBatch(more.drop_columns(["text"]), documents=3))


def test_chunks_stay_frozen_and_small(chunks: ChunkBatch) -> None:
    made = chunks[0]
    with pytest.raises(FrozenInstanceError):
        made.text = "other"
    assert not hasattr(made, "__dict__")
    assert made == Chunk(**asdict(made))
    assert pickle.loads(pickle.dumps(made)) == made
    assert hash(Chunk(**{**asdict(made), "vector": None}))
    assert [field.name for field in fields(made)] == [*(column.name for column in COLUMNS), "metadata"]
    assert str(made) == made.text
    assert len(made) == made.end - made.start


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, 2, None, 4]),
        pa.array([1.5, float("inf"), -0.0], pa.float32()),
        pa.array([0.5, None], pa.float32()),
        pa.array([True, False]),
        pa.array([True, None]),
        pa.array(["a", None, "é\0"]),
        pa.array(["a", "漢"], pa.large_string()),
        pa.array([b"a", None]),
        pa.array(["a", None, "b", "a"]).dictionary_encode(),
        pa.array([3, None, 3]).dictionary_encode(),
        pa.nulls(3, pa.int64()),
        pa.nulls(3),
        pa.array([2**64 - 1], pa.uint64()),
        pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float32(), 2)),
        pa.array([[1.0, 2.0], None], pa.list_(pa.float32(), 2)),
        pa.array([[], []], pa.list_(pa.float32(), 0)),
        pa.array([[1, 2], [], [3]]),
        pa.array([["a"], None, ["b", None]], pa.large_list(pa.string())),
        pa.array([{"x": 1, "y": [0.5]}, {"x": None, "y": []}]),
        pa.array([{"x": 1}, None]),
        pa.array([{}, {}], pa.struct([])),
        pa.array([0, 86_400_000], pa.timestamp("ms")),
        pa.array([], pa.large_list(pa.struct([("x", pa.int64())]))),
    ],
    ids=lambda array: str(array.type),
)  # fmt: skip
def test_python_values_are_those_of_arrow(array: pa.Array) -> None:
    for part in (array, array[1:], array[:-1], array[:0]):
        found = python_values(part)
        assert found == part.to_pylist()
        assert [type(a) for a in found] == [type(b) for b in part.to_pylist()]


@pytest.mark.slow
def test_iterating_takes_at_most_twice_the_time_of_lists() -> None:
    text = "The cat purrs when it is content. Dogs bark at night, and nobody knows why. " * 100
    chunks = pychunk.segment([text] * 100, "sentence")

    def seconds(call: Callable[[], object]) -> float:
        begun = time.process_time()
        call()
        return time.process_time() - begun

    rounds = [
        (
            seconds(lambda: sum(1 for _ in chunks)),
            seconds(lambda: [column.to_pylist() for column in chunks.table.columns]),
        )
        for _ in range(7)
    ]
    ours, lists = (sorted(times)[3] for times in zip(*rounds))
    assert ours < 2 * lists, (ours, lists)


def test_writes_what_the_command_line_writes(chunks: ChunkBatch, tmp_path: Path) -> None:
    chunks.write(tmp_path / "chunks.parquet")
    chunks.write(str(tmp_path / "chunks.jsonl"))
    chunks.write(tmp_path / "chunks.arrow")
    table = pq.read_table(tmp_path / "chunks.parquet")
    assert table.equals(chunks.table)
    assert table.schema.metadata[b"pychunk"]
    assert pa.feather.read_table(tmp_path / "chunks.arrow").equals(chunks.table)
    lines = (tmp_path / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == chunks.to_list()
    chunks[:2].write(tmp_path / "chunks.jsonl")  # replaced
    assert len((tmp_path / "chunks.jsonl").read_text().splitlines()) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chunks.arrow", "chunks.jsonl", "chunks.parquet"]


def test_a_file_is_written_whole_or_not_at_all(
    chunks: ChunkBatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        ValueError, match=r"chunks\.pdf: unknown kind of output; pychunk writes \.parquet, \.jsonl, \.arrow"
    ):
        chunks.write(tmp_path / "chunks.pdf")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        chunks.write(tmp_path / "none" / "chunks.parquet")
    target = tmp_path / "chunks.jsonl"
    target.write_text("before")
    broken = ChunkBatch(pa.table({"text": ["a", "b"], "id": pa.array([b"\xff", b"a"])}), documents=1)
    monkeypatch.setattr(ChunkBatch, "table", Broken(broken.table))
    with pytest.raises(OSError, match="gone"):
        broken.write(target)
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["chunks.jsonl"]


class Broken:
    """A table whose second piece cannot be read."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def to_batches(self, max_chunksize: int) -> object:
        yield from self.table.to_batches(max_chunksize=1)[:1]
        raise OSError("the memory map is gone")


LONG = 'It\'s a "text" of\nmany lines, \0 and \U0001f600 and 漢字. ' * 200


def chunk_of(text: str, **others: Any) -> Chunk:
    span = {"start": 0, "end": len(text), "start_byte": 0, "end_byte": len(text.encode())}
    return Chunk(**{"document_index": 0, "chunk_index": 0, "chunk_id": "0" * 32, **span, "text": text, **others})


@pytest.mark.parametrize("text", ["", "Short.", LONG, "\0" * 500, "\U000e0001" * 500, "'" * 500, "漢" * 500])
def test_reprs_fit_a_line(text: str) -> None:
    hit = Hit(3, 1, "x" * 300, 2, "0" * 32, 0, 99_999, text, 0.123456789, {"dense": 0.1}, metadata={"a": text})
    shown = [
        chunk_of(text, document_index=10**6, chunk_index=10**4, start=10**8, end=10**8 + 1, document_id="x" * 300,
                 vector=[0.5] * 256, sentences=[{"start": 0, "end": 1, "vector": [0.5] * 256}], metadata={"a": text}),
        chunk_of(text),
        hit,
        Passage(0, 0, len(text), text),
        DocumentHits("x" * 300, 1, 0.123456789, (hit, hit)),
    ]  # fmt: skip
    for each in map(repr, shown):
        assert len(each) <= 150
        assert "\n" not in each
        assert "0.5, 0.5" not in each
        assert "x" * 40 not in each
    assert all(len(repr(each)) <= 120 for each in shown[1:2])
    assert f"score={0.1235}" in repr(hit)


def test_a_repr_shows_the_beginning_of_the_text(chunks: ChunkBatch) -> None:
    assert (
        repr(chunk_of("It's.", chunk_index=3, start=5, end=11))
        == 'Chunk(document_index=0, chunk_index=3, start=5, end=11, text="It\'s.")'
    )
    assert repr(chunks[0]) == (
        "Chunk(document_index=0, document_id='a', chunk_index=0, start=0, end=32, "
        "text='Cats purr when they are content.')"
    )
    assert one_line("X", {}, "abc") == "X(text='abc')"
    assert quoted("a" * 50, 20) == "'" + "a" * 15 + "...'"
    assert quoted(list(range(99)), 12) == "[0, 1, 2,..."


def test_the_repr_of_a_batch_says_counts_and_method(chunks: ChunkBatch) -> None:
    assert repr(chunks) == "<ChunkBatch: 7 chunks of 3 documents by sentence, with chunk vectors>"
    one = pychunk.segment(["One.", None], "fixed", on_error="skip")
    assert repr(one) == "<ChunkBatch: 1 chunk of 2 documents by fixed, 1 row left out>"
    assert repr(ChunkBatch(chunks.table.replace_schema_metadata(None), documents=1200)) == (
        "<ChunkBatch: 7 chunks of 1,200 documents, with chunk vectors>"
    )


@pytest.mark.slow
def test_writing_is_loaded_when_it_is_asked_for() -> None:
    code = "import sys, pychunk; pychunk.segment('A b. C d.').to_list(); print('pychunk.io' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_threads_may_read_the_table_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = pychunk.segment("Cats purr. Dogs bark.", "sentence")
    others: list[pa.Table] = []

    def another_thread_reads(value: Any, kind: Any) -> bool:
        found = isinstance(value, kind)
        if kind is pa.Table and not others:
            others.append(pa.table({}))
            others.append(chunks.table)  # between the question whether there is a table, and its answer
        return found

    monkeypatch.setattr("pychunk.chunks.batch.isinstance", another_thread_reads, raising=False)
    assert chunks.table.equals(others[1])


def test_what_was_left_out_is_read_with_its_text() -> None:
    texts = ["Home | News\nCats purr when they are content.", "", "Ändert. Old. Now."]
    removed = [[(0, 11, "navigation", 0.5)], [], [(8, 12, "note", None)]]
    chunks = pychunk.segment(texts, "sentence", columns={"removed": removed})
    expected = ["Home | News", "Old."]
    assert chunks.removed_with_text()["text"].to_pylist() == expected
    assert chunks.removed_with_text().drop_columns("text") == chunks.removed
    read_back = pickle.loads(pickle.dumps(chunks))
    assert read_back.removed_with_text(texts)["text"].to_pylist() == expected
    with pytest.raises(ValueError, match="do not hold their documents"):
        read_back.removed_with_text()
    with pytest.raises(ValueError, match="texts must be the documents of these chunks, 3 in number; got 1"):
        read_back.removed_with_text(texts[:1])
    with pytest.raises(ValueError, match=r"segment with columns=\{'removed': ...\}"):
        pychunk.segment("Cats purr.", "sentence").removed_with_text()
