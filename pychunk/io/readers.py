"""Documents from single files as parts with their columns: what the commands read. What is broken is an error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pyarrow as pa

from . import arrow_files, files, json_lines, parquet_files, streams, text_files
from .documents import EXCERPT_BYTES, DeadLetter, DeadLetters
from .tables import Part

TEXT = (".txt", ".md")
JSON_LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
KNOWN = (*TEXT, *JSON_LINES, ".parquet", ".arrow")


def kind_of(path: str) -> str:
    """The ending that says how a file is read; ValueError, listing the known ones, for another."""
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder: name its files, as in {path.rstrip('/')}/*.md, or use pychunk ingest")
    for ending in KNOWN:
        if path.lower().endswith(ending):
            return ending
    raise ValueError(f"{path}: unknown kind of file; pychunk reads {', '.join(KNOWN)} and - (standard input)")


def refuse(letter: DeadLetter) -> NoReturn:
    """Ends reading at what is broken."""
    raise ValueError(f"{letter.source}, {letter.position}: {letter.reason}")


def read(
    path: str,
    *,
    column: str | None = None,
    id_column: str | None = None,
    others: Sequence[str] = (),
    dead_letters: DeadLetters = refuse,
) -> Iterator[Part]:
    """The documents of one file; with ``column`` Parquet files are asked for the columns named here alone.

    A text file is one document: a table with the columns ``file`` and ``text``. JSON Lines have the columns that are
    named here and are there, as strings.

    Raises:
        ValueError: an unknown kind of file, or one that is broken, unless ``dead_letters`` takes that.
        FileNotFoundError: there is none.
    """
    kind = ".txt" if path == "-" else _kind_of_existing(path)
    if kind in TEXT:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        text, reason, at = text_files.decoded(data)
        if reason:
            dead_letters(DeadLetter(path, "whole file", reason, data[at:][:EXCERPT_BYTES]))
            return
        table = pa.table({"file": pa.array([path]), "text": pa.array([text], pa.large_string())})
        yield Part(table, "document", [1], len(data), "text")
    elif kind in JSON_LINES:
        with open(path, "rb") as file:
            blocks = streams.blocks(file, path, dead_letters)
            found = json_lines.parts(
                blocks, path, dead_letters, column=column, id_column=id_column, metadata=others, keep_nulls=True
            )
            for part in found:
                nulls = {name: part.table.column(name).null_count for name in (id_column, *others) if name}
                absent = [name for name, count in nulls.items() if count == len(part.table)]
                yield part._replace(table=part.table.drop_columns(absent))
    else:
        wanted = [column, *(name for name in (id_column, *others) if name)] if column else None
        yield from _binary(path, kind, wanted, dead_letters)


def read_all(path: str) -> Iterator[pa.Table]:
    """Tables with every column of a file, in types of their own: what chunks are read with."""
    kind = _kind_of_existing(path)
    if kind in JSON_LINES:
        with open(path, "rb") as file:
            parts = json_lines.typed(streams.blocks(file, path, refuse), path, refuse)
            yield from (part.table for part in parts)
    else:
        yield from (part.table for part in _binary(path, kind, None, refuse))


def names_of(path: str) -> list[str]:
    """The columns of a file, as its first rows have them."""
    kind = _kind_of_existing(path)
    if kind in JSON_LINES:
        with open(path, "rb") as file:
            return json_lines.keys_of(streams.blocks(file, path, refuse), path)
    return next((part.table.column_names for part in _binary(path, kind, None, refuse)), [])


def size_of(paths: list[str]) -> int:
    """Bytes of the files on disk; 0 where one of them is standard input."""
    return 0 if "-" in paths else sum(Path(path).stat().st_size for path in paths if Path(path).is_file())


def _kind_of_existing(path: str) -> str:
    kind = kind_of(path)
    if shown := files.unwritable(path):
        raise ValueError(f"{shown}: the file's name is not UTF-8: rename it")
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file")
    return kind


def _binary(path: str, kind: str, columns: list[str] | None, dead_letters: DeadLetters) -> Iterator[Part]:
    size = Path(path).stat().st_size
    if kind == ".parquet":
        with open(path, "rb") as file:
            yield from parquet_files.parts(file, path, size, dead_letters, columns)
    else:
        with pa.memory_map(path) as source:
            yield from arrow_files.parts(source, path, size, dead_letters, columns)
