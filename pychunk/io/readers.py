"""Documents from files: text, JSONL, Parquet, Arrow and standard input, as tables of bounded size."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

#: Text of one table, roughly.
BATCH_BYTES = 16 << 20

TEXT = (".txt", ".md")
KNOWN = (*TEXT, ".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet", ".arrow")


def kind_of(path: str) -> str:
    """The ending that says how a file is read; ValueError, listing the known ones, for another."""
    for ending in KNOWN:
        if path.lower().endswith(ending):
            return ending
    raise ValueError(f"{path}: unknown kind of file; pychunk reads {', '.join(KNOWN)} and - (standard input)")


def read(path: str, *, columns: list[str] | None = None) -> Iterator[pa.Table]:
    """Tables of the documents in one file; ``columns`` limits what Parquet files are asked for.

    A text file is one document: a table with the columns ``file`` and ``text``.

    Raises:
        ValueError: an unknown kind of file, or one that is broken.
        FileNotFoundError: there is none.
    """
    if path == "-":
        yield _one("-", sys.stdin.buffer.read())
        return
    kind = kind_of(path)
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        if kind in TEXT:
            yield _one(path, Path(path).read_bytes())
        elif kind == ".parquet":
            yield from _parquet(path, columns)
        elif kind == ".arrow":
            yield from _arrow(path)
        else:
            yield from _jsonl(path)
    except pa.ArrowException as error:
        raise ValueError(f"{path} cannot be read as {kind}: {error}") from error


def size_of(paths: list[str]) -> int:
    """Bytes of the files on disk; 0 where one of them is standard input."""
    return 0 if "-" in paths else sum(Path(path).stat().st_size for path in paths if Path(path).is_file())


def _one(name: str, data: bytes) -> pa.Table:
    return pa.table({"file": pa.array([name]), "text": pa.array([data], pa.large_binary())})


def _parquet(path: str, columns: list[str] | None) -> Iterator[pa.Table]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        wanted = None
        if columns is not None and all(name in file.schema_arrow.names for name in columns):
            wanted = columns
        metadata = file.metadata
        size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        rows = max(1, min(8192, BATCH_BYTES * max(1, metadata.num_rows) // max(1, size)))
        for batch in file.iter_batches(batch_size=rows, columns=wanted):
            yield pa.Table.from_batches([batch])


def _arrow(path: str) -> Iterator[pa.Table]:
    with pa.memory_map(path) as source:
        try:
            file = pa.ipc.open_file(source)
            batches: Iterator[pa.RecordBatch] = (file.get_batch(i) for i in range(file.num_record_batches))
        except pa.ArrowInvalid:
            source.seek(0)
            batches = iter(pa.ipc.open_stream(source))
        for batch in batches:
            yield pa.Table.from_batches([batch])


def _jsonl(path: str) -> Iterator[pa.Table]:
    import pyarrow.json as json

    with pa.input_stream(path, compression="detect") as stream:
        rest = b""
        while True:
            block = stream.read(BATCH_BYTES)
            if not block:
                break
            lines, newline, rest = (rest + block).rpartition(b"\n")
            if newline:
                yield _parsed(json, lines + b"\n")
        if rest.strip():
            yield _parsed(json, rest)


def _parsed(json: object, lines: bytes) -> pa.Table:
    options = json.ReadOptions(block_size=len(lines) + 1)  # type: ignore[attr-defined]
    return json.read_json(pa.BufferReader(lines), read_options=options)  # type: ignore[attr-defined]
