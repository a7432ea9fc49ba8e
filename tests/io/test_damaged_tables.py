"""Parquet and Arrow files that are cut, damaged or hostile: dead letters, no crash and no silent loss."""

from __future__ import annotations

import ctypes
import io
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import invoke

from pychunk.io.document_batches import DeadLetter
from pychunk.io.formats import arrow_messages, parquet_files, parquet_footer
from pychunk.io.source import open_source

N = 40


def read(path: Path, **options: object) -> tuple[list[dict], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    source = open_source(path, dead_letters=letters.append, **options)
    return [row for batch in source for row in batch.table.to_pylist()], letters


def table(kind: pa.DataType | None = None) -> pa.Table:
    texts = pa.array([f"Document {i}, " + "long enough to be no inline view. " * (i % 3) for i in range(N)])
    return pa.table({"id": [str(i) for i in range(N)], "text": texts if kind is None else texts.cast(kind)})


def stream(path: Path, made: pa.Table, rows: int = 10) -> list[int]:
    """Write a stream, and return the start of each batch and of the end mark."""
    places = []
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, made.schema) as sink:
        for batch in made.to_batches(rows):
            places.append(file.tell())
            sink.write_batch(batch)
        places.append(file.tell())
    return places


def test_a_stream_cut_between_its_batches_says_so(tmp_path: Path) -> None:
    path = tmp_path / "in.arrows"
    places = stream(path, table())
    data = path.read_bytes()
    assert read(path, column="text")[1] == []
    for number, place in list(enumerate(places))[1:]:
        path.write_bytes(data[:place])
        found, letters = read(path, column="text")
        assert len(found) == 10 * number
        (letter,) = letters
        assert letter.position == f"after row {10 * number}"
        assert letter.reason.startswith("the stream has no mark of its end")
    for place in (places[2] + 4, places[2] + 100, len(data) - 1, len(data) - 4):
        path.write_bytes(data[:place])
        found, letters = read(path, column="text")
        assert (len(found), len(letters)) == (20 if place < places[3] else 40, 1)


def test_a_stream_of_the_old_format_has_an_end_mark_too(tmp_path: Path) -> None:
    path = tmp_path / "in.arrow"
    old = pa.ipc.IpcWriteOptions(use_legacy_format=True)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table().schema, options=old) as sink:
        sink.write_table(table())
    found, letters = read(path, column="text")
    assert (len(found), letters) == (N, [])


def test_what_follows_the_end_of_a_stream_is_told(tmp_path: Path) -> None:
    path = tmp_path / "in.arrows"
    places = stream(path, table())
    data = path.read_bytes()
    path.write_bytes(data * 2)
    found, (letter,) = read(path, column="text")
    assert (len(found), letter.position) == (N, f"after row {N}")
    assert letter.reason.startswith("bytes after the stream's end are not read")
    damaged = bytearray(data)  # the third batch claims to be the end
    damaged[places[2] + 4 : places[2] + 8] = bytes(4)
    path.write_bytes(damaged)
    found, (letter,) = read(path, column="text")
    assert (len(found), letter.position) == (20, "after row 20")


@pytest.mark.parametrize("hidden", [0, 1, 3])
def test_a_batch_that_the_footer_of_a_file_leaves_out_is_told(tmp_path: Path, hidden: int) -> None:
    path = tmp_path / "in.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table().schema) as sink:
        for batch in table().to_batches(10):
            sink.write_batch(batch)
    assert read(path, column="text")[1] == []
    data = path.read_bytes()
    begin = len(data) - 10 - int.from_bytes(data[-10:-6], "little")
    with path.open("rb") as file:
        blocks = arrow_messages.blocks(pa.PythonFile(file))[1]
    listed = data.index(blocks[0].begin.to_bytes(8, "little"), begin)  # 24 bytes for each batch
    footer = bytearray(data[begin:])
    at = listed - begin + 24 * hidden
    footer[at : at + 24] = footer[(other := listed - begin + 24 * (1 if hidden == 0 else 0)) : other + 24]
    path.write_bytes(data[:begin] + footer)
    letters = read(path, column="text")[1]
    assert [letter.reason for letter in letters] == [
        "the file holds record batches that its footer does not list: it is damaged"
    ]


def views(at: int, view: tuple[int, int, int, int], nulls: bool = False) -> pa.Array:
    """Return views of strings, one of which is (length, first bytes, buffer, offset)."""
    texts = [f"{i} is a text that is too long for its view" for i in range(4)]
    made = pa.array([None if nulls and i == at else text for i, text in enumerate(texts)], pa.string_view())
    # The buffer is changed in place: PyArrow 18 makes no views from buffers.
    ctypes.memmove(made.buffers()[1].address + 16 * at, np.array(view, np.int32).tobytes(), 16)
    return made


def dictionary(indices: list[int], kind: pa.DataType) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind), pa.array(["a text", "b"]), safe=False)


EVIL = {
    "view length": lambda: views(1, (2**30, 0, 0, 0)),
    "view offset": lambda: views(1, (30, 0, 0, 2**30)),
    "view buffer": lambda: views(1, (30, 0, 77, 0)),
    "negative view length": lambda: views(2, (-5, 0, 0, 0)),
    "negative view offset": lambda: views(2, (30, 0, 0, -(2**30))),
    "negative view buffer": lambda: views(2, (30, 0, -1, 0)),
    "index too large": lambda: dictionary([0, 1, 2**20], pa.int32()),
    "negative index": lambda: dictionary([0, -(2**20), 1], pa.int32()),
}


#: The offsets of four texts of ten bytes, and replacements that a hostile file may have.
OFFSETS = {
    "offset too large": [0, 10, 2**30, 2**30 + 5, 40],
    "last offset too large": [0, 10, 20, 30, 2**30],
    "offsets fall": [0, 30, 5, 30, 40],
    "negative offset": [-(2**30), 10, 20, 30, 40],
}
READ = """
import sys
from dataclasses import replace
from pychunk.io import open_source
for path in sys.argv[1:]:
    letters = []
    source = open_source(path, column="text", dead_letters=letters.append)
    rows = [row for batch in source for row in batch.table.to_pylist()]
    assert len(rows) + len(letters), path
    for letter in letters:
        print(letter.position, letter.reason)
    again = []
    for table in replace(source, dead_letters=again.append).tables():
        table.to_pylist()
    assert again == letters, path
    print(path, len(letters))
"""


@pytest.mark.slow
def test_memory_that_is_not_the_files_own_is_not_read(tmp_path: Path) -> None:
    paths = []
    for stream_ in (False, True):
        for name, make in EVIL.items():
            paths.append(tmp_path / f"{name}{stream_}.arrow")
            made = pa.table({"text": make()})
            with pa.OSFile(str(paths[-1]), "wb") as file:
                sink = (pa.ipc.new_stream if stream_ else pa.ipc.new_file)(file, made.schema)
                try:
                    sink.write_table(made)
                except (pa.ArrowException, OSError):
                    paths.pop()
                else:
                    sink.close()
        for name, bad in OFFSETS.items():
            for kind, width in ((pa.string(), np.int32), (pa.large_string(), np.int64)):
                path = tmp_path / f"{name}{kind}{stream_}.arrow"
                paths.append(path)
                made = pa.table({"text": pa.array(["0123456789"] * 4, kind)})
                new = pa.ipc.new_stream if stream_ else pa.ipc.new_file
                with pa.OSFile(str(path), "wb") as file, new(file, made.schema) as sink:
                    sink.write_table(made)
                data, own = path.read_bytes(), np.arange(0, 50, 10).astype(width).tobytes()
                assert data.count(own) == 1
                path.write_bytes(data.replace(own, np.array(bad, width).tobytes()))
    assert len(paths) > 24
    done = subprocess.run([sys.executable, "-c", READ, *map(str, paths)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
    assert done.stdout.count("row 1, in record batch 0 4 rows cannot be read: column 'text': ") > 20


def test_an_index_out_of_range_is_one_line(tmp_path: Path) -> None:
    made = pa.table({"text": dictionary([0, 1, 2**20], pa.int32())})
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, pa.ipc.new_file(file, made.schema) as sink:
        sink.write_table(made)
    done = invoke(["segment", str(tmp_path / "in.arrow")])
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
    assert f"{tmp_path / 'in.arrow'}, row 1, in record batch 0: 3 rows cannot be read: column 'text': " in done.output


def test_one_bad_batch_of_a_file_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "in.arrow"
    good = pa.record_batch({"text": dictionary([0, 1, 1], pa.int32())})
    bad = pa.record_batch({"text": dictionary([0, 1, 99], pa.int32())})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, good.schema) as sink:
        for batch in (good, bad, good):
            sink.write_batch(batch)
    found, letters = read(path, column="text")
    assert [row["id"].rpartition("#")[2] for row in found] == ["1", "2", "3", "7", "8", "9"]
    assert [letter.position for letter in letters] == ["row 4, in record batch 1"]
    assert letters[0].reason.startswith("3 rows cannot be read: column 'text': ")


def test_rows_of_bytes_that_are_no_text_stay_single_letters(tmp_path: Path) -> None:
    raw = pa.array([b"fine", b"no\xff", b"fine"] * 3, pa.binary())
    for kind in (pa.string(), pa.large_string()):
        values = pa.Array.from_buffers(kind, 9, raw.cast("binary" if kind == pa.string() else "large_binary").buffers())
        made = pa.table({"text": values})
        with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, pa.ipc.new_file(file, made.schema) as sink:
            sink.write_table(made)
        found, letters = read(tmp_path / "in.arrow", column="text")
        assert (len(found), [letter.position for letter in letters]) == (6, ["row 2", "row 5", "row 8"])


def test_a_column_that_is_not_asked_for_takes_no_row_along(tmp_path: Path) -> None:
    made = pa.table({"text": ["a", "b", "c"], "other": dictionary([0, 1, 99], pa.int32())})
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, pa.ipc.new_file(file, made.schema) as sink:
        sink.write_table(made)
    found, letters = read(tmp_path / "in.arrow", column="text")
    assert (len(found), letters) == (3, [])


@pytest.mark.parametrize("ending", ["parquet", "arrows"])
@pytest.mark.parametrize(
    ("twice", "options", "told"),
    [
        ("text", {"column": "text"}, "text"),
        ("text", {}, "text"),
        ("id", {"column": "text"}, "id"),
        ("day", {"column": "text", "metadata_columns": ["day"]}, "day"),
        ("day", {"column": "text"}, None),
        ("id", {"column": "text", "ids": "day"}, None),
    ],
)
def test_a_column_that_is_there_twice_is_named(
    tmp_path: Path, twice: str, options: dict[str, object], told: str | None, ending: str
) -> None:
    made = pa.table([["1", "2"], ["a", "b"], ["x", "y"], [3, 4]], names=["id", "text", twice, "day"])
    path = tmp_path / f"in.{ending}"
    if ending == "parquet":
        pq.write_table(made, path)
    else:
        stream(path, made)
    found, letters = read(path, **options)
    if told is None:  # nobody asked for it
        assert ([row["text"] for row in found], letters) == (["a", "b"], [])
    else:
        assert found == []
        assert [f"column '{told}' occurs 2 times: rename all but one" in letter.reason for letter in letters] == [True]


def test_values_that_python_cannot_hold_are_letters(tmp_path: Path) -> None:
    days = pa.array([0, 2**60, 5], pa.timestamp("us"))
    made = pa.table({"text": ["a", "b", "c"], "day": days})
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, pa.ipc.new_file(file, made.schema) as sink:
        sink.write_table(made)
    found, letters = read(tmp_path / "in.arrow", column="text", ids="day")
    assert [row["text"] for row in found] == ["a", "c"]
    assert [letter.position for letter in letters] == ["row 2"]
    (batch,) = open_source(tmp_path / "in.arrow", column="text", metadata_columns=["day"])
    assert batch.table["day"].combine_chunks().equals(days)  # what is only kept need not be an object of Python


def footer(path: Path, rows: int, said: int) -> None:
    """Write a Parquet file of two groups whose footer has other numbers of rows."""
    pq.write_table(table().slice(0, rows), path, row_group_size=rows // 2, compression="none")
    data = bytearray(path.read_bytes())
    length = int.from_bytes(data[-8:-4], "little")
    begin = len(data) - 8 - length
    # A number in Thrift's compact form is its zigzag; the file's own is the first of its field.
    one = bytes([2 * rows & 127 | 128, 2 * rows >> 7]) if rows >= 64 else bytes([2 * rows])
    other = bytes([2 * said & 127 | 128, 2 * said >> 7]) if said >= 64 else bytes([2 * said])
    at = data.find(b"\x16" + one + b"\x19", begin)
    assert at > 0
    assert len(one) == len(other)
    data[at + 1 : at + 1 + len(one)] = other
    path.write_bytes(data)


@pytest.mark.parametrize("said", [30, 39])
def test_a_parquet_file_says_what_is_missing(tmp_path: Path, said: int) -> None:
    footer(tmp_path / "in.parquet", N, said)
    found, letters = read(tmp_path / "in.parquet", column="text")
    assert len(found) == N
    assert [letter.position for letter in letters] == [f"after row {N}"]
    assert letters[0].reason == f"the file should have {said} rows, and its row groups have {N}"


CRASHING = """
import sys
from pychunk.io.source import open_source
letters = []
for _ in open_source(sys.argv[1], column="text", dead_letters=letters.append): pass
print(letters[0].reason)
"""


@pytest.mark.slow
def test_levels_that_do_not_go_with_the_schema_do_not_end_the_process(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(table(), path)
    data = path.read_bytes()
    optional = b"\x25\x02\x18\x04text"  # a column's repetition, then its name
    assert data.count(optional) == 1
    path.write_bytes(data.replace(optional, b"\x25\x00\x18\x04text"))
    done = subprocess.run([sys.executable, "-c", CRASHING, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert "cannot be read as .parquet: " in done.stdout


@pytest.mark.parametrize(
    "options", [{}, {"use_dictionary": False}, {"data_page_version": "2.0", "compression": "zstd"}]
)
def test_places_of_columns_are_arrows(tmp_path: Path, options: dict[str, object]) -> None:
    path = tmp_path / "in.parquet"
    made = table().append_column("tags", pa.array([["a", "b"]] * N)).append_column("n", pa.array(range(N)))
    pq.write_table(made, path, row_group_size=7, **options)
    metadata = pq.read_metadata(path)
    with path.open("rb") as file:
        groups = parquet_footer.columns(file)
        assert len(groups) == metadata.num_row_groups
        for number, group in enumerate(groups):
            for column, found in enumerate(group):
                expected = metadata.row_group(number).column(column)
                begins = [expected.data_page_offset, expected.dictionary_page_offset]
                assert found.begin == min(begin for begin in begins if begin is not None)
                assert found.is_bytes == (expected.physical_type == "BYTE_ARRAY")
                assert found.name == expected.path_in_schema
                assert (found.plain, found.stored) == (expected.total_uncompressed_size, expected.total_compressed_size)
                pages = list(parquet_footer.pages(file, found))
                assert pages[0].is_dictionary == expected.has_dictionary_page
                assert all(page.plain > 0 and page.stored > 0 for page in pages)
                heads = found.stored - sum(page.stored for page in pages)
                assert 0 < heads < 300 * len(pages)
                assert sum(page.plain for page in pages) + heads == found.plain


def zigzag(value: int) -> bytes:
    """Return a number in Thrift's compact encoding."""
    value, out = value << 1 ^ value >> 63, b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


@pytest.mark.parametrize(("plain", "stored"), [(None, 1_716_231_820), (500_000_000, None), (2_000_000_000, None)])
def test_a_page_that_announces_more_than_there_is_is_refused(
    tmp_path: Path, plain: int | None, stored: int | None
) -> None:
    """Arrow allocates the size in a page's head before it reads the page, here the last of three."""
    path = tmp_path / "in.parquet"
    words = pa.table({"text": [f"word {number}" for number in range(3000)]})
    pq.write_table(words, path, use_dictionary=False, compression="gzip", data_page_size=8000, write_batch_size=500)
    with path.open("rb") as file:
        column = parquet_footer.columns(file)[0][0]
        *before, last = parquet_footer.pages(file, column)
    assert len(before) > 1
    data, at = path.read_bytes(), before[-1].end
    old = b"\x15" + zigzag(0) + b"\x15" + zigzag(last.plain) + b"\x15" + zigzag(last.stored)
    assert data[at:].startswith(old)
    new = b"\x15" + zigzag(0) + b"\x15" + zigzag(plain or last.plain) + b"\x15" + zigzag(stored or last.stored)
    path.write_bytes(data[:at] + new + data[at + len(old) :])
    letters: list[DeadLetter] = []
    with path.open("rb") as file:
        assert list(parquet_files.parts(file, "in.parquet", len(data), letters.append)) == []
    expected = (
        "the file ends earlier" if stored else "write smaller pages" if plain == 2_000_000_000 else "its column only"
    )
    assert expected in letters[0].reason
    assert "column 'text'" in letters[0].reason


def test_the_first_page_is_looked_at_if_the_footer_gives_its_column_no_length() -> None:
    head = b"\x15\x00\x15" + zigzag(2_000_000_000) + b"\x15" + zigzag(10) + b"\x00"
    column = parquet_footer.Column(("text",), True, 0, 0, 0)
    (page,) = parquet_footer.pages(io.BytesIO(head + bytes(10)), column)
    assert (page.plain, page.stored, page.end) == (2_000_000_000, 10, len(head) + 10)


@pytest.mark.slow
def test_a_damaged_footer_is_a_value_error(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(table(), path, row_group_size=7)
    data, drawn = path.read_bytes(), random.Random(1)
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    refused = 0
    for _ in range(2000):
        damaged = bytearray(data)
        for _ in range(drawn.choice([1, 1, 3])):
            damaged[drawn.randrange(begin, len(data) - 8)] = drawn.choice(
                [0, 0x19, 0x1C, 0x7F, 0xFF, drawn.randrange(256)]
            )
        file = io.BytesIO(damaged)
        try:
            for column in (column for group in parquet_footer.columns(file) for column in group):
                for page in parquet_footer.pages(file, column):
                    assert page.plain < 1 << 63
        except ValueError:
            refused += 1
    assert 200 < refused < 1900


def test_a_list_in_a_footer_is_no_longer_than_the_footer() -> None:
    many = b"\xff" * 8 + b"\x0f"  # a number of 60 bits
    for item in b"\x03\x07\x0d":  # bytes, doubles, UUIDs
        footer = b"\x59" + bytes([0xF0 | item]) + many + bytes(20)
        file = io.BytesIO(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
        with pytest.raises(ValueError, match="ends too early"):
            parquet_footer.columns(file)


def test_a_parquet_column_that_is_no_utf8_is_a_letter(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        pq.write_table(pa.table({"colname": ["x"], "text": [name]}), tmp_path / f"{name}.parquet")
    data = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(data.replace(b"colname", b"col\xffame"))
    found, letters = read(tmp_path, column="text")
    assert [row["text"] for row in found] in (["a", "c"], ["a", "b", "c"])
    assert len(found) + len(letters) == 3
    assert all(Path(letter.source).name == "b.parquet" for letter in letters)


@pytest.mark.parametrize("write", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow_reads_a_local_file_without_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[..., Any]
) -> None:
    """Arrow's threads release a Python file after the call; a process that ends just then aborts."""
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, write(file, table().schema) as sink:
        sink.write_table(table())
    monkeypatch.setattr(pa, "PythonFile", None)
    found, letters = read(tmp_path / "in.arrow", column="text")
    assert (len(found), letters) == (N, [])


@pytest.mark.parametrize(
    "kind",
    [
        "dictionary",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("string", "large_string", "string_view", "stream")),
    ],
)
def test_damaged_arrow_files_do_not_end_the_process(tmp_path: Path, kind: str) -> None:
    """One process reads each damaged file: a crash fails this test."""
    code = """
import random, sys
from pathlib import Path
from pychunk.io.source import open_source
path = Path(sys.argv[1]); data = path.read_bytes(); damaged = path.with_name("damaged.arrow")
for seed in range(150):
    rng = random.Random(seed); out = bytearray(data)
    for _ in range(rng.choice([1, 1, 3])):
        at = rng.randrange(len(out)); how = rng.randrange(4)
        if how == 0: out[at] ^= 1 << rng.randrange(8)
        elif how == 1: out[at] = rng.choice([0, 1, 127, 128, 255])
        elif how == 2: out[at : at + 4] = bytes(rng.choice([[255] * 4, [0] * 4, [255, 255, 255, 127], [0, 0, 0, 128]]))
        else: del out[at : at + rng.randrange(1, 40)]
    damaged.write_bytes(out)
    letters = []
    try:
        for batch in open_source(damaged, column="text", dead_letters=letters.append):
            batch.table.to_pylist()
    except ValueError as error:
        assert "is not there" in str(error), repr(error)
"""
    made = table(
        {"dictionary": pa.dictionary(pa.int32(), pa.string()), "stream": pa.string()}.get(kind) or getattr(pa, kind)()
    )
    if kind == "stream":
        stream(tmp_path / "in.arrow", made)
    else:
        with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, pa.ipc.new_file(file, made.schema) as sink:
            sink.write_table(made, 10)
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "in.arrow")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
