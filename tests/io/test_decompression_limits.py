"""Small files that are huge when read stay below the memory that ``pychunk.io.decompression.streams`` documents."""

import bz2
import ctypes
import gzip
import io
import itertools
import json
import lzma
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pychunk.io import open_source
from pychunk.io.decompression import streams

if sys.platform != "linux":
    pytest.skip("limits on address space and peaks of memory are those of Linux", allow_module_level=True)

PLAIN = 1_000_000_000
PIECE = 10_000_000
PAGE = b"<mediawiki><page><title>A</title><ns>0</ns><id>1</id><revision><text>"
PAGE_END = b"</text></revision></page></mediawiki>"

SCRIPT = """
import json, resource, sys
kind, limit, *paths = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
from pychunk.io import open_source
column = "text" if kind in ("jsonl", "csv", "parquet", "arrow") else None
for path in paths:
    letters, rows, size = [], 0, 0
    for batch in open_source(path, kind=kind, column=column, threads=2, dead_letters=letters.append):
        rows, size = rows + len(batch), max(size, batch.table.nbytes)
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
    told = [letter.reason for letter in letters]
    print(json.dumps({"rows": rows, "batch": size, "letters": told[:3], "told": len(told), "mb": peak / 1024}))
"""


def parts(head: bytes, unit: bytes, tail: bytes = b"") -> Iterator[bytes]:
    """Yield ``PLAIN`` bytes of a unit."""
    yield head
    piece = unit * (PIECE // len(unit))
    for _ in range(PLAIN // PIECE):
        yield piece
    yield tail


def packed(path: Path, data: Iterator[bytes]) -> None:
    if path.suffix == ".bz2":
        with bz2.open(path, "wb") as file:
            for each in data:
                file.write(each)
    elif path.suffix == ".xz":
        with lzma.open(path, "wb", preset=0) as file:
            for each in data:
                file.write(each)
    elif path.suffix == ".gz":
        with gzip.open(path, "wb", compresslevel=1) as file:
            for each in data:
                file.write(each)
    else:
        with pa.CompressedOutputStream(str(path), "zstd") as out:
            for each in data:
                out.write(each)


def runs(paths: list[Path], kind: str) -> list[dict]:
    """Return files of one kind, which one process reads one after the other."""
    limit = 5 << 30
    command = [sys.executable, "-c", SCRIPT, kind, str(limit), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, cwd=paths[0].parent)
    assert done.stderr == ""
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(paths)
    assert max(each["mb"] for each in found) < documented()[paths[0].suffix or kind]
    return found


def run(path: Path, kind: str) -> dict:
    return runs([path], kind)[0]


def documented() -> dict[str, int]:
    """Return the megabytes by row of the table."""
    rows = re.findall(r"^(\S+) +(\d+) MB", str(streams.__doc__), re.MULTILINE)
    assert rows
    return {name: int(number) for name, number in rows}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.xml.bz2", "a.xml.gz", "a.xml.zst", "a.xml.xz"])
def test_compressed_runs(tmp_path: Path, name: str) -> None:
    packed(tmp_path / name, parts(b"", b"a"))
    found = run(tmp_path / name, "mediawiki")
    assert (found["rows"], found["letters"]) == (0, ["bytes outside pages"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "head", "megabytes", "tail", "unit"),
    [
        ("jsonl", b'{"text": "', 250, b'"}\n', b"word "),
        ("csv", b'id,text\n1,"', 63, b'"\n', b"word "),
        ("csv", b'id,text\n1,"', 63, b'"\n', b'\n""'),
        ("text", b"", 505, b"", b"word "),
        pytest.param("markdown", b"", 505, b"", b"word ", marks=pytest.mark.long),
        ("markdown", b"", 31, b"", b"a\n\n"),
        ("wikiextractor", b'<doc id="1">\n', 63, b"\n</doc>\n", b"word "),
        ("mediawiki", PAGE, 63, PAGE_END, b"word "),
        pytest.param("mediawiki", PAGE, 63, PAGE_END, b"ab\n", marks=pytest.mark.long),
        ("mediawiki", PAGE, 63, PAGE_END, b"ab}}"),
    ],
)
def test_a_document_just_below_the_limit(
    tmp_path: Path, kind: str, head: bytes, megabytes: int, tail: bytes, unit: bytes
) -> None:
    path = tmp_path / "huge"
    path.write_bytes(head + unit * ((megabytes << 20) // len(unit)) + tail)
    found = run(path, kind)
    assert (found["rows"], found["letters"]) == (1, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        *("LZMA2", "ZSTD", "BZIP2"),
        *(pytest.param(each, marks=pytest.mark.long) for each in ("LZMA", "DEFLATE", "DEFLATE64", "BROTLI")),
    ],
)
def test_7z_archive_of_runs(tmp_path: Path, method: str) -> None:
    py7zr = pytest.importorskip("py7zr")
    made = {"id": getattr(py7zr.properties, f"FILTER_{method}")}
    made |= {"LZMA2": {"preset": 0}, "LZMA": {"preset": 0}, "BROTLI": {"level": 3}}.get(method, {})
    plain = tmp_path / "plain"
    with open(plain, "wb") as file:
        for _ in range(30):
            file.write(b"a" * PIECE)
    with py7zr.SevenZipFile(tmp_path / "a.xml.7z", "w", filters=[made]) as archive:
        archive.write(plain, "a.xml")
    found = run(tmp_path / "a.xml.7z", "mediawiki")
    assert (found["rows"], found["letters"]) == (0, ["bytes outside pages"])
    assert found["mb"] < 250


@pytest.mark.slow
def test_7z_archive_with_the_largest_dictionary(tmp_path: Path) -> None:
    py7zr = pytest.importorskip("py7zr")
    plain = tmp_path / "plain"
    with open(plain, "wb") as file:
        for _ in range(70):
            file.write(b"a" * PIECE)
    made = {"id": py7zr.FILTER_LZMA2, "dict_size": 512 << 20, "preset": 0}
    with py7zr.SevenZipFile(tmp_path / "a.xml.7z", "w", filters=[made]) as archive:
        archive.write(plain, "a.xml")
    found = run(tmp_path / "a.xml.7z", "mediawiki")
    assert (found["rows"], found["letters"]) == (0, ["bytes outside pages"])


@pytest.mark.slow
def test_7z_archive_of_many_dictionaries(tmp_path: Path) -> None:
    py7zr = pytest.importorskip("py7zr")
    path = tmp_path / "a.xml.7z"
    with py7zr.SevenZipFile(
        path, "w", filters=[{"id": py7zr.FILTER_LZMA2, "dict_size": 300 << 20, "preset": 0}]
    ) as archive:
        archive.set_encoded_header_mode(False)
        archive.writestr(b"a" * 1000, "a.xml")
    once = b"\x01\x21\x21\x01\x21"  # one coder, of 384 MB after rounding up
    again = b"\x03" + once[1:] * 3 + b"\x01\x00\x02\x01"
    with_header(path, once, again, then=(b"\x0c\x83\xe8", b"\x0c" + b"\x83\xe8" * 3))
    found = run(path, "mediawiki")
    assert found["rows"] == 0
    assert f"a dictionary of {3 * (384 << 20):,} bytes" in found["letters"][0]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["LZMA2", "DEFLATE"])
def test_7z_archive_with_a_packed_header_that_is_huge(tmp_path: Path, method: str) -> None:
    """The archive has a million files without names or bytes; each would take a Python object."""
    py7zr = pytest.importorskip("py7zr")
    files = 8_000_000
    number = b"\xf0" + struct.pack("<I", files)
    header = b"\x01\x05" + number + b"\x0e" + b"\xe0" + struct.pack("<I", 0)[:3] + bytes(200 << 20)
    packed = io.BytesIO()
    with py7zr.SevenZipFile(packed, "w", filters=[{"id": getattr(py7zr.properties, f"FILTER_{method}")}]) as archive:
        archive.set_encoded_header_mode(False)
        archive.writestr(header, "header")
    data = packed.getvalue()
    offset, length = struct.unpack("<QQ", data[12:28])
    inner = data[32 + offset : 32 + offset + length]
    streams_of = b"\x17" + inner[2 : inner.index(b"\x05", 20)]
    assert inner[:2] == b"\x01\x04"
    path = tmp_path / "a.xml.7z"
    path.write_bytes(data[:32] + data[32 : 32 + offset] + streams_of)
    signed(path, offset, len(streams_of))
    found = run(path, "mediawiki")
    assert found["rows"] == 0
    assert "the archive's header" in found["letters"][0]
    assert found["mb"] < 250


def signed(path: Path, offset: int, length: int) -> None:
    """Fix the checksums and places in an archive's head."""
    data = bytearray(path.read_bytes())
    data[12:28] = struct.pack("<QQ", offset, length)
    data[28:32] = struct.pack("<I", zlib.crc32(data[32 + offset :]))
    data[8:12] = struct.pack("<I", zlib.crc32(data[12:32]))
    path.write_bytes(data)


def with_header(path: Path, said: bytes, bomb: bytes, then: tuple[bytes, bytes] = (b"", b"")) -> None:
    """Replace an archive's header."""
    data = bytearray(path.read_bytes())
    offset, length = struct.unpack("<QQ", data[12:28])
    header = bytes(data[32 + offset : 32 + offset + length])
    assert header.count(said) == 1
    header = header.replace(said, bomb)
    if then[0]:
        assert header.count(then[0]) == 1
        header = header.replace(*then)
    path.write_bytes(data[: 32 + offset] + header)
    signed(path, offset, len(header))


DICTIONARIES: list[tuple[dict, bytes, bytes, int]] = [
    ({"id": "LZMA2", "dict_size": 1 << 20}, b"\x21\x21\x01\x10", b"\x21\x21\x01\x28", (1 << 32) - 1),
    ({"id": "LZMA2", "dict_size": 1 << 20}, b"\x21\x21\x01\x10", b"\x21\x21\x01\x24", 1 << 30),
    (
        {"id": "LZMA", "dict_size": 1 << 20},
        b"\x23\x03\x01\x01\x05\x5d\0\0\x10\0",
        b"\x23\x03\x01\x01\x05\x5d\0\0\0\xc0",
        3 << 30,
    ),
    (
        {"id": "PPMD", "order": 6, "mem": 24},
        b"\x23\x03\x04\x01\x07\x06\0\0\0\x01",
        b"\x23\x03\x04\x01\x07\x06\0\0\0\xc0",
        3 << 30,
    ),
]


@pytest.mark.slow
def test_7z_archives_that_announce_a_dictionary(tmp_path: Path) -> None:
    py7zr = pytest.importorskip("py7zr")
    paths = []
    for number, (filters, said, bomb, _) in enumerate(DICTIONARIES):
        paths.append(tmp_path / f"{number}.xml.7z")
        own = {**filters, "id": getattr(py7zr, f"FILTER_{filters['id']}")}
        with py7zr.SevenZipFile(paths[-1], "w", filters=[own]) as archive:
            archive.set_encoded_header_mode(False)
            archive.writestr(PAGE + b"cats" + PAGE_END, "a.xml")
        with_header(paths[-1], said, bomb)
    for found, (_, _, _, size) in zip(runs(paths, "mediawiki"), DICTIONARIES, strict=True):
        assert found["rows"] == 0
        assert f"a dictionary of {size:,} bytes" in found["letters"][0]


@pytest.mark.slow
def test_parquet_rows_that_repeat_a_long_value(tmp_path: Path) -> None:
    """15 kB of Parquet have rows of 2 GB, while the file's metadata states 10 MB."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int32()), pa.array(["word " * 2_000_000]))
    pq.write_table(
        pa.table({"text": texts}),
        tmp_path / "huge",
        compression="zstd",
        write_statistics=False,
        store_schema=False,
        dictionary_pagesize_limit=1 << 30,
    )
    assert (tmp_path / "huge").stat().st_size < 100_000
    found = run(tmp_path / "huge", "parquet")
    assert (found["rows"], found["letters"]) == (200, [])


@pytest.mark.slow
@pytest.mark.parametrize("encoded", [True, False])
def test_parquet_page_that_is_huge(tmp_path: Path, encoded: bool) -> None:
    """1.2 GB of runs in one page, of a dictionary or of data, are not unpacked."""
    pq.write_table(
        pa.table({"text": runs_of_text(1200 << 20, pa.string())}),
        tmp_path / "huge",
        compression="zstd",
        write_statistics=False,
        use_dictionary=encoded,
        dictionary_pagesize_limit=(1 << 31) - 1,
        data_page_size=1 << 31,
    )
    assert (tmp_path / "huge").stat().st_size < 100_000
    found = run(tmp_path / "huge", "parquet")
    assert (found["rows"], found["told"]) == (0, 1)
    assert found["mb"] < 200
    assert "write smaller pages" in found["letters"][0]


@pytest.mark.slow
def test_arrow_buffers_that_announce_more(tmp_path: Path) -> None:
    made = pa.table({"text": ["word word"] * 1000})
    magics = {"lz4": b"\x04\x22\x4d\x18", "zstd": b"\x28\xb5\x2f\xfd"}
    paths = []
    for form, (codec, magic) in itertools.product((pa.ipc.new_stream, pa.ipc.new_file), magics.items()):
        sink = pa.BufferOutputStream()
        with form(sink, made.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
            writer.write_table(made)
        data, before = sink.getvalue().to_pybytes(), struct.pack("<q", 9000) + magic
        assert data.count(before) == 1
        for size in (-5, 3 << 30, 1 << 40, (1 << 63) - 1):
            paths.append(tmp_path / f"{form.__name__} {codec} {size}")
            paths[-1].write_bytes(data.replace(before, struct.pack("<q", size) + magic))
    for path, found in zip(paths, runs(paths, "arrow"), strict=True):
        assert (found["rows"], found["told"]) == (0, 1), path.name


def arrow_file(path: Path, form: Callable, codec: str | None, *columns: pa.Array) -> None:
    batch = pa.record_batch(list(columns), ["text", *(f"more {i}" for i in range(1, len(columns)))])
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.OSFile(str(path), "wb") as file, form(file, batch.schema, options=options) as writer:
        writer.write_batch(batch)


def runs_of_text(size: int, kind: pa.DataType) -> pa.Array:
    """Return four texts of this many bytes together."""
    ends = np.linspace(0, size, 5).astype(np.int64 if kind == pa.large_string() else np.int32)
    data = np.full(size, ord("a"), np.uint8)
    data[ends[:-1]] = ord("b"), ord("c"), ord("d"), ord("e")
    return pa.Array.from_buffers(kind, 4, [None, pa.py_buffer(ends), pa.py_buffer(data)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "codec"),
    [
        (pa.ipc.new_stream, "lz4"),
        (pa.ipc.new_file, "zstd"),
        pytest.param(pa.ipc.new_stream, "zstd", marks=pytest.mark.long),
        pytest.param(pa.ipc.new_file, "lz4", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("place", ["batch", "columns", "dictionary"])
def test_arrow_batch_that_is_huge(tmp_path: Path, place: str, codec: str, form: Callable) -> None:
    """1.2 GB of runs are not unpacked."""
    if place == "batch":
        columns = [runs_of_text(1200 << 20, pa.large_string())]
    elif place == "columns":
        columns = [runs_of_text(400 << 20, pa.string())] * 3
    else:
        texts = runs_of_text(1200 << 20, pa.large_string())
        columns = [pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), texts)]
    arrow_file(tmp_path / "huge", form, codec, *columns)
    found = run(tmp_path / "huge", "arrow")
    assert (found["rows"], found["told"]) == (0, 1)
    assert found["mb"] < 200
    assert "write smaller record batches" in found["letters"][0]


@pytest.mark.slow
@pytest.mark.parametrize("form", [pa.ipc.new_stream, pa.ipc.new_file])
def test_arrow_batch_just_below_the_limit(tmp_path: Path, form: Callable) -> None:
    arrow_file(tmp_path / "huge", form, "zstd", runs_of_text(1000 << 20, pa.large_string()))
    found = run(tmp_path / "huge", "arrow")
    assert (found["rows"], found["letters"]) == (4, [])


@pytest.mark.slow
def test_arrow_text_of_any_size_is_read_where_it_is_stored(tmp_path: Path) -> None:
    """Bytes that do not compress are no bomb, whatever their number."""
    drawn = np.random.default_rng(0).integers(97, 123, 1200 << 20, np.uint8)
    ends = np.linspace(0, len(drawn), 1001).astype(np.int64)
    texts = pa.Array.from_buffers(pa.large_string(), 1000, [None, pa.py_buffer(ends), pa.py_buffer(drawn)])
    arrow_file(tmp_path / "large.arrow", pa.ipc.new_stream, "lz4", texts)
    del drawn
    assert sum(len(table) for table in open_source(tmp_path / "large.arrow").tables()) == 1000


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dictionary", "view", "run"])
def test_arrow_rows_that_repeat_a_long_value(tmp_path: Path, kind: str) -> None:
    """2 kB of Arrow have rows of 1 GB, which are in the file once."""
    text, count = "word " * 2_000_000, 100
    if kind == "dictionary":
        texts = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array([text]))
    elif kind == "run":
        texts = pa.RunEndEncodedArray.from_arrays(pa.array([count], pa.int32()), pa.array([text]))
    else:
        texts = pa.array([text, *["is too long for its view"] * (count - 1)], pa.string_view())
        views = texts.buffers()[1].address  # changed in place: PyArrow 18 makes no views from buffers
        ctypes.memmove(views, ctypes.string_at(views, 16) * count, 16 * count)
    arrow_file(tmp_path / "huge", pa.ipc.new_file, "zstd", texts)
    assert (tmp_path / "huge").stat().st_size < 10_000
    found = run(tmp_path / "huge", "arrow")
    assert (found["rows"], found["letters"]) == (count, [])


@pytest.mark.slow
def test_arrow_rows_that_take_nothing(tmp_path: Path) -> None:
    """4 kB of Arrow hold four million empty texts."""
    count = 4_000_000
    empty = pa.Array.from_buffers(
        pa.large_string(), count, [None, pa.py_buffer(np.zeros(count + 1, np.int64)), pa.py_buffer(b"")]
    )
    arrow_file(tmp_path / "huge", pa.ipc.new_file, "zstd", empty)
    found = run(tmp_path / "huge", "arrow")
    assert (found["rows"], found["letters"]) == (count, [])
    assert found["mb"] < 400
