"""CSV and TSV: every field as it is written, every row a document or a letter, in bounded memory."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest
from command_line import invoke
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.io import DeadLetter, csv_files, open_source
from pychunk.io.bzip2 import Block


def read(path: Path, **options: object) -> tuple[list[dict], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    source = open_source(path, dead_letters=letters.append, **options)
    return [row for batch in source for row in batch.table.to_pylist()], letters


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_fields_are_what_is_written(tmp_path: Path) -> None:
    path = write(
        tmp_path / "in.csv",
        '\ufeffid,text,n\r\n007,"Cats, ""and"" dogs.",1.50\r\n\r\n'
        '1,"Two\r\nlines.",\r\n2020-01-01,true,""\r\n,null,NaN',
    )
    found, letters = read(path, column="text", keep=("n",))
    assert letters == []
    assert [(row["id"], row["text"], row["n"]) for row in found] == [
        ("007", 'Cats, "and" dogs.', "1.50"), ("1", "Two\r\nlines.", None), ("2020-01-01", "true", ""),
        (f"{path}#7", "null", "NaN"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "separator"), [("in.tsv", "\t"), ("in.csv", ";"), ("in.csv", "\t"), ("in.csv.gz", ",")]
)
def test_what_stands_between_fields(tmp_path: Path, name: str, separator: str) -> None:
    data = f'key{separator}text\n1{separator}"A{separator}, b; c."\n'.encode()
    path = write(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
    found, letters = read(path, column="text", ids="key")
    assert ([(row["id"], row["text"]) for row in found], letters) == ([("1", f"A{separator}, b; c.")], [])


def test_a_broken_row_is_a_letter_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", b'id,text\n1,"a\n\na"\nalone\n2,b\n3,c,d\n\n4,\xff\n5,e\n6,"open\n7,f\n')
    found, letters = read(path)
    assert [(row["id"], row["text"]) for row in found] == [("1", "a\n\na"), ("2", "b"), ("5", "e")]
    assert [(letter.position, letter.reason) for letter in letters] == [
        ("line 5", "the row has 1 fields, the first row 2"),
        ("line 7", "the row has 3 fields, the first row 2"),
        ("line 9", "invalid UTF-8 at byte 0"),
        ("line 11", "a quote is not closed: the row and what follows it, 2 lines, are not read"),
    ]


def test_columns_that_are_not_there_or_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", "id,text,text,n,n\n1,a,b,2,3\n")
    with pytest.raises(ValueError, match="column 'body' is not there; the columns are id, text, n"):
        read(path, column="body")
    assert "column 'text' is there 2 times: rename all but one" in read(path, column="text")[1][0].reason
    path = write(tmp_path / "in.csv", "id,text,n,n\n1,a,2,3\n")
    assert [row["text"] for row in read(path, column="text")[0]] == ["a"]
    path = write(tmp_path / "in.csv", "id,text\n1,\n2,b\n")
    assert [row["text"] for row in read(path)[0]] == ["", "b"]
    for empty in ("", "\n", "id,text", "id,text\n\n"):
        assert read(write(tmp_path / "in.csv", empty), column="text") == ([], [])


def blocks_of(data: bytes, size: int) -> list[Block]:
    return [Block(data[i : i + size], i) for i in range(0, len(data), size)]


FIELDS = st.lists(st.sampled_from(["a", "é", '"', ",", "\n", "\r", " ", "x" * 40]), max_size=6).map("".join)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(FIELDS, FIELDS), max_size=12), st.integers(1, 60), st.integers(1, 200), st.booleans())
def test_what_python_writes_is_read_wherever_blocks_end(
    written: list[tuple[str, str]], block: int, part: int, quoted: bool
) -> None:
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(out, quoting=quoting).writerows([("id", "text"), *written])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "TABLE_BYTES", part)
        letters: list[DeadLetter] = []
        parts = list(csv_files.parts(blocks_of(out.getvalue().encode(), block), "f", letters.append))
    found = [(row["id"] or "", row["text"] or "") for each in parts for row in each.table.to_pylist()]
    assert (found, letters) == (written, [])
    lines = [number for each in parts for number in each.numbers]
    assert lines == sorted(set(lines))


def test_a_row_that_is_too_long_takes_no_other_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "MAX_ROW_BYTES", 3000)
    monkeypatch.setattr(csv_files, "TABLE_BYTES", 1000)
    good = [f"g{i},Some text." for i in range(60)]
    data = "\n".join(["id,text", *good[:30], "huge," + "word " * 1000, *good[30:]]).encode()
    letters: list[DeadLetter] = []
    found = [
        row["id"]
        for part in csv_files.parts(blocks_of(data, 100), "f", letters.append)
        for row in part.table.to_pylist()
    ]
    assert found == [f"g{i}" for i in range(60)]
    assert [letter[:3] for letter in letters] == [
        ("f", "line 32", "the row is longer than 3,000 bytes, or a quote is not closed")
    ]


@pytest.mark.parametrize("end", ['"\n', '" \n', '""more"\n', ""])
def test_a_quoted_field_that_is_too_long_is_left_out_to_its_end(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setattr(csv_files, "MAX_ROW_BYTES", 300)
    monkeypatch.setattr(csv_files, "TABLE_BYTES", 100)
    rest = "".join(f"g{i},Some text.\n" for i in range(5)) if end else ""
    data = ('id,text\n0,a\n1,"' + 'One line, "" and\n' * 100 + end + rest).encode()
    for size in range(1, 60):
        letters: list[DeadLetter] = []
        found = [
            each
            for part in csv_files.parts(blocks_of(data, size), "f", letters.append)
            for each in zip(part.table["id"].to_pylist(), part.numbers)
        ]
        assert found == [("0", 2)] + ([(f"g{i}", 104 + i) for i in range(5)] if end else [])
        assert [letter.position for letter in letters] == ["line 3"]


def test_what_is_lost_between_two_blocks_is_told() -> None:
    blocks = [Block(b"id,text\n1,a\n2,b", 1), Block(b"", 2, gap=True), Block(b"c\n3,d\n", 3)]
    letters: list[DeadLetter] = []
    (first, second) = csv_files.parts(blocks, "f", letters.append)
    assert first.table["id"].to_pylist() + second.table["id"].to_pylist() == ["1", "3"]
    assert [(letter.position, letter.reason[:18]) for letter in letters] == [("line 3", "the row is cut off")]


def test_every_command_reads_csv_and_segment_writes_it(tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", "id,text\n007,Cats purr. Dogs bark.\n")
    for arguments in (
        ["segment", str(path), "-o", str(tmp_path / "out.csv")],
        ["ingest", str(path), "-o", str(tmp_path / "out")],
    ):
        done = invoke([*arguments, "--column", "text", "-m", "sentence"])
        assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert [(row["id"], row["text"]) for row in rows] == [("007", "Cats purr."), ("007", "Dogs bark.")]
    chunks = pychunk.segment("Cats purr.", vectors="chunk")
    with pytest.raises(ValueError, match="a CSV file cannot hold the column 'vector', which has lists in it: write"):
        chunks.write(tmp_path / "vectors.csv")
    assert not (tmp_path / "vectors.csv").exists()
    chunks.write(tmp_path / "vectors.feather")
    with pa.memory_map(str(tmp_path / "vectors.feather")) as source:
        assert pa.ipc.open_file(source).read_all().equals(chunks.table)


def test_chunks_in_csv_go_into_an_index(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    path = write(tmp_path / "in.csv", "id,text\n007,Cats purr. Dogs bark.\n")
    assert (
        invoke(["segment", str(path), "--column", "text", "-m", "sentence", "-o", str(tmp_path / "c.csv")]).exit_code
        == 0
    )
    done = invoke(["index", str(tmp_path / "c.csv"), "-o", str(tmp_path / "it.idx")])
    assert done.exit_code == 0, done.output
    with pychunk.Index.open(tmp_path / "it.idx") as index:
        assert {(hit.id, hit.text) for hit in index.search("cats", k=5)[0]} == {
            ("007", "Cats purr."),
            ("007", "Dogs bark."),
        }
