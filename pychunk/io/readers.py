"""Documents from single files as tables with all their columns: what the commands read. What is broken is an error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pyarrow as pa

from . import streams, tables
from .documents import DeadLetter

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
    size = Path(path).stat().st_size
    if kind in TEXT:
        yield _one(path, Path(path).read_bytes())
    elif kind == ".arrow":
        with pa.memory_map(path) as source:
            yield from (part.table for part in tables.arrow(source, path, size, _refuse))
    else:
        with open(path, "rb") as file:
            if kind == ".parquet":
                parts = tables.parquet(file, path, size, _refuse, columns)
            else:
                parts = tables.jsonl(streams.blocks(file, path, _refuse), path, _refuse)
            yield from (part.table for part in parts)


def size_of(paths: list[str]) -> int:
    """Bytes of the files on disk; 0 where one of them is standard input."""
    return 0 if "-" in paths else sum(Path(path).stat().st_size for path in paths if Path(path).is_file())


def _refuse(letter: DeadLetter) -> NoReturn:
    raise ValueError(f"{letter.source}, {letter.position}: {letter.reason}")


def _one(name: str, data: bytes) -> pa.Table:
    return pa.table({"file": pa.array([name]), "text": pa.array([data], pa.large_binary())})
