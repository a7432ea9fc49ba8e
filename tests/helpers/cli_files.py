"""Files that the command line reads, rows of those that it writes, and runs in a process of their own."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TEXTS = ["Cats purr. Dogs [bold]bark[/bold] at night. The sun is a star.", "Second document. It is short."]


def inputs(folder: Path) -> dict[str, Path]:
    """Write the same documents in every format with columns."""
    table = pa.table({"id": ["a", "b"], "text": TEXTS})
    pq.write_table(table, folder / "in.parquet")
    with pa.ipc.new_file(folder / "in.arrow", table.schema) as sink:
        sink.write_table(table)
    lines = "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in zip("ab", TEXTS)).encode()
    (folder / "in.jsonl").write_bytes(lines)
    (folder / "in.jsonl.gz").write_bytes(gzip.compress(lines))
    with pa.CompressedOutputStream(str(folder / "in.jsonl.zst"), "zstd") as stream:
        stream.write(lines)
    return {path.name: path for path in folder.iterdir()}


def rows_of(path: Path) -> list[dict]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all().to_pylist()


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pychunk", *arguments],
        capture_output=True, text=True, cwd=os.sep, env={**os.environ, **environment}, timeout=60,
    )  # fmt: skip
