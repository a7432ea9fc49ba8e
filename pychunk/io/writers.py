"""The writer of tables of chunks, to a file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import json
import sys
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from .._util.durable_files import whole_file

KNOWN = (".parquet", ".jsonl", ".arrow", ".feather", ".csv")


class Writer:
    """A context manager that writes tables to ``path``, whose suffix is one of ``KNOWN``.

    The writer writes to a temporary file next to the path, and renames it when all data is on the disk. After an
    exception the path is as it was before. If the path is ``-``, each table goes to standard output at once, as JSON
    Lines.

    Raises:
        ValueError: The suffix is unknown.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self.kind = ".jsonl" if str(path) == "-" else self.path.suffix.lower()
        if self.kind not in KNOWN:
            raise ValueError(
                f"{path}: unknown kind of output; pychunk writes {', '.join(KNOWN)}: use one of these endings"
            )
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"{self.path.parent}: no such folder; create it first")
        self._whole = contextlib.ExitStack()
        self._sink: Any = None
        self._file: Any = None
        self._schema: pa.Schema | None = None

    def __enter__(self) -> Writer:
        if str(self.path) == "-":
            self._file = sys.stdout.buffer
        else:  # if the path is a link, the link stays and its target is replaced
            self._file = self._whole.enter_context(whole_file(self.path.resolve()))
        return self

    def write(self, table: pa.Table) -> None:
        """Append the rows of a table, which must have the same columns as the first table.

        Raises:
            ValueError: A column has another type than before, or a CSV file cannot hold it, or the columns differ.
        """
        if self.kind == ".jsonl":
            for batch in table.to_batches(max_chunksize=1024):  # as Python floats, vectors take ten times the memory
                for row in batch.to_pylist():
                    self._file.write(json.dumps(row, ensure_ascii=False, default=str).encode() + b"\n")
            return
        if self.kind == ".csv":
            table = _flat(table, self.path)
        if self._sink is None:
            self._schema = table.schema
            self._sink = self._open(table.schema)
        self._sink.write_table(table if table.schema == self._schema else _cast(table, self._schema, self.path))

    def _open(self, schema: pa.Schema) -> Any:
        if self.kind in (".arrow", ".feather"):
            return pa.ipc.new_file(self._file, schema)
        if self.kind == ".csv":
            import pyarrow.csv

            return pyarrow.csv.CSVWriter(self._file, schema)
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self._file, schema, compression="zstd")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._sink is not None:
            try:
                self._sink.close()
            except BaseException as failed:
                self._whole.__exit__(type(failed), failed, failed.__traceback__)
                raise
        elif self._sink is not None:
            with contextlib.suppress(Exception):  # the exception that is already being raised is more important
                self._sink.close()
        self._whole.__exit__(kind, error, trace)


def _flat(table: pa.Table, path: Path) -> pa.Table:
    """Return a table that CSV can hold.

    Lists of strings are joined by " > "; lists of integers, structs or lists become JSON.

    Raises:
        ValueError: A column has another nested type.
    """
    for i, field in enumerate(table.schema):
        if pa.types.is_large_list(field.type) and pa.types.is_large_string(field.type.value_type):
            import pyarrow.compute as pc

            joined = pc.binary_join(table.column(i), pa.scalar(" > ", pa.large_string()))
            table = table.set_column(i, field.name, joined)
            continue
        if pa.types.is_large_list(field.type) and _is_plain(field.type.value_type):
            rows = [json.dumps(row) for row in table.column(i).to_pylist()]
            table = table.set_column(i, field.name, pa.array(rows, pa.large_string()))
            continue
        if pa.types.is_nested(field.type):
            raise ValueError(
                f"{path}: a CSV file cannot hold the column {field.name!r} of type {field.type}: write .parquet, "
                ".arrow or .jsonl, or leave that column out"
            )
        if pa.types.is_dictionary(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(field.type.value_type))
    return table


def _is_plain(kind: pa.DataType) -> bool:
    """Return whether a type is an integer, a list of strings, or a struct of numbers only."""
    if pa.types.is_integer(kind) or kind == pa.large_list(pa.large_string()):
        return True
    return pa.types.is_struct(kind) and all(pa.types.is_primitive(field.type) for field in kind)


def _cast(table: pa.Table, schema: pa.Schema, path: Path) -> pa.Table:
    """Return a table with the column types of the first table.

    Raises:
        ValueError: The cast would change values, or the columns have other names.
    """
    if table.column_names != schema.names:
        odd = ", ".join(sorted(set(table.column_names) ^ set(schema.names)))
        raise ValueError(f"{path}: some documents lack the columns {odd}: write .jsonl, or one file for each input")
    for before, now in zip(schema, table.schema, strict=True):
        try:
            table.column(now.name).cast(before.type)
        except (pa.ArrowException, NotImplementedError):  # Arrow may lack this cast
            raise ValueError(
                f"{path}: the column {now.name!r} was of type {before.type} and is of type {now.type} in later rows: "
                "write .jsonl, or leave that column out"
            ) from None
    return table.cast(schema)
