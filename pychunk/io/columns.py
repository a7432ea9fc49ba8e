"""Documents of tables as columns: batches of them without a Python object for each text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..documents import TextBatch
from . import rows
from .documents import BATCH_ROWS, DeadLetters, table_of
from .tables import Part


class Run(NamedTuple):
    """Consecutive documents of one file: a table with a batch's columns, and the bytes of each text."""

    table: pa.Table
    sizes: npt.NDArray[np.int64]
    file: str
    bytes_read: int

    def part(self, begin: int, count: int) -> Run:
        """Some of the documents; shares their memory."""
        sizes = self.sizes[begin : begin + count]
        return Run(self.table.slice(begin, count), sizes, self.file, self.bytes_read)


def runs(
    parts: Iterable[Part],
    file: str,
    dead_letters: DeadLetters,
    columns: pa.Schema,
    *,
    column: str | None,
    id_column: str | None,
    metadata: Sequence[str] = (),
) -> Iterator[Run]:
    """What ``rows.documents`` yields, part by part; only parts with something broken pass through it."""
    for part in parts:
        if column is None:
            column = rows.text_of(part, file)
        run = _whole(part, file, columns, column, id_column, metadata)
        if run is None:
            found = list(
                rows.documents([part], file, dead_letters, column=column, id_column=id_column, metadata=metadata)
            )
            sizes = np.array([document.size for document in found], np.int64)
            run = Run(table_of(found, columns), sizes, file, part.bytes_read)
        yield run


def grouped(found: Iterable[Run], max_bytes: int) -> Iterator[list[Run]]:
    """Runs cut where ``documents.grouped`` ends a batch."""
    group: list[Run] = []
    size = count = 0
    for run in found:
        ends = np.cumsum(run.sizes)
        begin = 0
        while begin < len(ends):
            before = int(ends[begin - 1]) if begin else 0
            fit = int(np.searchsorted(ends, before + max_bytes - size, side="right")) - begin
            fit = min(fit, BATCH_ROWS - count)
            if fit <= 0 and group:
                yield group
                group, size, count = [], 0, 0
                continue
            fit = max(1, fit)
            group.append(run.part(begin, fit))
            begin += fit
            size, count = size + int(ends[begin - 1]) - before, count + fit
    if group:
        yield group


def joined(group: Sequence[Run]) -> pa.Table:
    """The documents of a group as one table, each column in one piece: one piece is one native call."""
    table = group[0].table if len(group) == 1 else pa.concat_tables([run.table for run in group])
    return table if table.column("text").num_chunks == 1 else table.combine_chunks()


def _whole(
    part: Part, file: str, columns: pa.Schema, column: str, id_column: str | None, metadata: Sequence[str]
) -> Run | None:
    """The part as it is; None where a row is not text, or a column that was asked for is not there."""
    table = part.table
    if column not in table.column_names or (id_column is not None and id_column not in table.column_names):
        return None
    texts = _valid(table.column(column))
    if texts is None:
        return None
    name = id_column or "id"
    ids = _names(table.column(name)) if name in table.column_names else None
    if ids is None:
        found = rows.ids(part, file, id_column)
        ids = None if _unreadable(found) else pa.array(found, pa.string())
    files = pa.repeat(pa.scalar(file, pa.string()), table.num_rows)
    if part.unit == "line":
        more = [table.column(name).cast(pa.string()) for name in metadata]
    else:
        values = [rows.strings(table, name) for name in metadata]
        if any(map(_unreadable, values)):
            return None
        more = [pa.array(each, pa.string()) for each in values]
    if ids is None:
        return None
    sizes = np.asarray(pc.binary_length(texts), dtype=np.int64)
    return Run(pa.table([ids, texts, files, *more], schema=columns), sizes, file, part.bytes_read)


def _unreadable(values: Sequence[str | None]) -> bool:
    return any(isinstance(value, rows.Unreadable) for value in values)


def _valid(values: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Text as large_string; None where a row is not text."""
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)) or values.null_count:
        return None
    checked = TextBatch.of(values, on_error="skip")
    return None if checked.errors else pa.chunked_array(checked.texts, pa.large_string())


def _names(values: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Whole numbers and valid text as strings; None for anything else."""
    if pa.types.is_integer(values.type):
        return None if values.null_count else values.cast(pa.string())
    valid = _valid(values)
    return None if valid is None else valid.cast(pa.string())
