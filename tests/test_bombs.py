"""Small files that are huge when read: memory stays below the figures that ``pychunk.io.streams`` documents."""

import bz2
import gzip
import json
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pychunk.io import streams

if sys.platform != "linux":
    pytest.skip("limits on address space and peaks of memory are those of Linux", allow_module_level=True)

PLAIN = 1_000_000_000
PIECE = 10_000_000
PAGE = b"<mediawiki><page><title>A</title><ns>0</ns><id>1</id><revision><text>"
PAGE_END = b"</text></revision></page></mediawiki>"

SCRIPT = """
import json, resource, sys
path, kind, limit = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
from pychunk.io import open_source
letters, rows, size = [], 0, 0
column = "text" if kind in ("jsonl", "parquet", "arrow") else None
for batch in open_source(path, kind=kind, column=column, threads=2, dead_letters=letters.append):
    rows, size = rows + len(batch), max(size, batch.table.nbytes)
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
told = [letter.reason for letter in letters]
print(json.dumps({"rows": rows, "batch": size, "letters": told[:3], "told": len(told), "mb": peak / 1024}))
"""


def parts(head: bytes, unit: bytes, tail: bytes = b"") -> Iterator[bytes]:
    """``PLAIN`` bytes of a unit."""
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
    elif path.suffix == ".gz":
        with gzip.open(path, "wb", compresslevel=1) as file:
            for each in data:
                file.write(each)
    else:
        with pa.CompressedOutputStream(str(path), "zstd") as out:
            for each in data:
                out.write(each)


def run(path: Path, kind: str) -> dict:
    figure = documented()[path.suffix or kind]
    limit = 5 << 30
    command = [sys.executable, "-c", SCRIPT, str(path), kind, str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, cwd=path.parent)
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert found["mb"] < figure
    return dict(found)


def documented() -> dict[str, int]:
    """Megabytes by row of the table."""
    rows = re.findall(r"^(\S+) +(\d+) MB", str(streams.__doc__), re.MULTILINE)
    assert rows
    return {name: int(number) for name, number in rows}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.xml.bz2", "a.xml.gz", "a.xml.zst"])
def test_compressed_runs(tmp_path: Path, name: str) -> None:
    packed(tmp_path / name, parts(b"", b"a"))
    found = run(tmp_path / name, "mediawiki")
    assert (found["rows"], found["letters"]) == (0, ["bytes outside pages"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "head", "megabytes", "tail", "unit"),
    [
        ("jsonl", b'{"text": "', 250, b'"}\n', b"word "),
        ("text", b"", 505, b"", b"word "),
        ("wikiextractor", b'<doc id="1">\n', 63, b"\n</doc>\n", b"word "),
        ("mediawiki", PAGE, 63, PAGE_END, b"word "),
        ("mediawiki", PAGE, 63, PAGE_END, b"ab\n"),
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
def test_7z_archive_of_runs(tmp_path: Path) -> None:
    py7zr = pytest.importorskip("py7zr")
    plain = tmp_path / "plain"
    with open(plain, "wb") as file:
        for _ in range(30):
            file.write(b"a" * PIECE)
    with py7zr.SevenZipFile(tmp_path / "a.xml.7z", "w", filters=[{"id": py7zr.FILTER_LZMA2, "preset": 0}]) as archive:
        archive.write(plain, "a.xml")
    found = run(tmp_path / "a.xml.7z", "mediawiki")
    assert (found["rows"], found["letters"]) == (0, ["bytes outside pages"])


@pytest.mark.parametrize(
    ("filters", "said", "bomb", "size"),
    [
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
    ],
)
def test_7z_archive_that_announces_a_dictionary(
    tmp_path: Path, filters: dict, said: bytes, bomb: bytes, size: int
) -> None:
    py7zr = pytest.importorskip("py7zr")
    path = tmp_path / "a.xml.7z"
    filters = {**filters, "id": getattr(py7zr, f"FILTER_{filters['id']}")}
    with py7zr.SevenZipFile(path, "w", filters=[filters]) as archive:
        archive.set_encoded_header_mode(False)
        archive.writestr(PAGE + b"cats" + PAGE_END, "a.xml")
    data = bytearray(path.read_bytes())
    offset, length = struct.unpack("<QQ", data[12:28])
    header = bytes(data[32 + offset : 32 + offset + length])
    assert header.count(said) == 1
    data[32 + offset :] = header.replace(said, bomb)
    data[28:32] = struct.pack("<I", zlib.crc32(data[32 + offset :]))
    data[8:12] = struct.pack("<I", zlib.crc32(data[12:32]))
    path.write_bytes(data)
    found = run(path, "mediawiki")
    assert found["rows"] == 0
    assert f"a dictionary of {size:,} bytes" in found["letters"][0]


@pytest.mark.slow
def test_parquet_rows_that_repeat_a_long_value(tmp_path: Path) -> None:
    """15 kB of Parquet with rows of 2 GB, of which the file's facts say 10 MB."""
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


@pytest.mark.parametrize("size", [-5, 3 << 30, 1 << 40, (1 << 63) - 1])
@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("form", [pa.ipc.new_stream, pa.ipc.new_file])
def test_arrow_buffer_that_announces_more(tmp_path: Path, size: int, codec: str, form: Callable) -> None:
    made = pa.table({"text": ["word word"] * 1000})
    sink = pa.BufferOutputStream()
    with form(sink, made.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(made)
    magic = {"lz4": b"\x04\x22\x4d\x18", "zstd": b"\x28\xb5\x2f\xfd"}[codec]
    data, before = sink.getvalue().to_pybytes(), struct.pack("<q", 9000) + magic
    assert data.count(before) == 1
    (tmp_path / "huge").write_bytes(data.replace(before, struct.pack("<q", size) + magic))
    found = run(tmp_path / "huge", "arrow")
    assert (found["rows"], found["told"]) == (0, 1)
