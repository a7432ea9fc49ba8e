"""Small files that are huge when read: memory stays below the figures that ``pychunk.io.streams`` documents."""

import bz2
import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from pychunk.io import streams

if sys.platform != "linux":
    pytest.skip("limits on address space and peaks of memory are those of Linux", allow_module_level=True)

PLAIN = 1_000_000_000
PIECE = 10_000_000

SCRIPT = """
import json, resource, sys
path, kind, limit = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
from pychunk.io import open_source
letters, rows, size = [], 0, 0
for batch in open_source(path, kind=kind, threads=2, dead_letters=letters.append):
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
    limit = 4 << 30
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
    ("kind", "head", "megabytes", "tail"),
    [
        ("jsonl", b'{"text": "', 250, b'"}\n'),
        ("text", b"", 505, b""),
        ("wikiextractor", b'<doc id="1">\n', 63, b"\n</doc>\n"),
    ],
)
def test_a_document_just_below_the_limit(tmp_path: Path, kind: str, head: bytes, megabytes: int, tail: bytes) -> None:
    path = tmp_path / "huge"
    path.write_bytes(head + b"word " * ((megabytes << 20) // 5) + tail)
    found = run(path, kind)
    assert (found["rows"], found["letters"]) == (1, [])
