"""Parquet and Arrow files that are cut, damaged or made by somebody hostile: letters, no crash and no silent loss."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from pychunk.cli import app
from pychunk.io.documents import DeadLetter
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
    """Writes a stream; where each batch begins, and the end mark."""
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


def views(at: int, view: tuple[int, int, int, int], nulls: bool = False) -> pa.Array:
    """Views of strings of which one is (length, first bytes, buffer, offset)."""
    texts = pa.array([f"{i} is a text that is too long for its view" for i in range(4)], pa.string_view())
    valid, own, *data = texts.buffers()
    changed = np.frombuffer(own, np.int32).reshape(-1, 4).copy()
    changed[at] = view
    if nulls:
        valid = pa.py_buffer(bytes([0b1111 ^ 1 << at]))
    return pa.Array.from_buffers(pa.string_view(), 4, [valid, pa.py_buffer(changed), *data])


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


#: Offsets of four texts of ten bytes, and what a hostile file has in their place.
OFFSETS = {
    "offset too large": [0, 10, 2**30, 2**30 + 5, 40],
    "last offset too large": [0, 10, 20, 30, 2**30],
    "offsets fall": [0, 30, 5, 30, 40],
    "negative offset": [-(2**30), 10, 20, 30, 40],
}
READ = """
import sys
from pychunk.io import open_source, readers
for path in sys.argv[1:]:
    letters = []
    source = open_source(path, column="text", dead_letters=letters.append)
    rows = [row for batch in source for row in batch.table.to_pylist()]
    assert len(rows) + len(letters), path
    for letter in letters:
        print(letter.position, letter.reason)
    again = []
    for part in readers.read(path, dead_letters=again.append):
        part.table.to_pylist()
    assert again == letters, path
    print(path, len(letters))
"""


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
    done = CliRunner().invoke(app, ["segment", str(tmp_path / "in.arrow")])
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


def test_values_that_python_cannot_hold_are_letters(tmp_path: Path) -> None:
    days = pa.array([0, 2**60, 5], pa.timestamp("us"))
    made = pa.table({"text": ["a", "b", "c"], "day": days})
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, pa.ipc.new_file(file, made.schema) as sink:
        sink.write_table(made)
    for options in ({"metadata": ("day",)}, {"id_column": "day"}):
        found, letters = read(tmp_path / "in.arrow", column="text", **options)
        assert [row["text"] for row in found] == ["a", "c"]
        assert [letter.position for letter in letters] == ["row 2"]


def footer(path: Path, rows: int, said: int) -> None:
    """Writes a Parquet file of two groups whose footer says other numbers of rows."""
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


def test_a_parquet_column_that_is_no_utf8_is_a_letter(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        pq.write_table(pa.table({"colname": ["x"], "text": [name]}), tmp_path / f"{name}.parquet")
    data = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(data.replace(b"colname", b"col\xffame"))
    found, letters = read(tmp_path, column="text")
    assert [row["text"] for row in found] in (["a", "c"], ["a", "b", "c"])
    assert len(found) + len(letters) == 3
    assert all(Path(letter.source).name == "b.parquet" for letter in letters)


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary", "stream"])
def test_damaged_arrow_files_do_not_end_the_process(tmp_path: Path, kind: str) -> None:
    """Each damaged file in one process: a crash is this test's failure."""
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
