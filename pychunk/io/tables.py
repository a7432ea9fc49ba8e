"""Parquet and Arrow files to Arrow tables of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from .documents import DeadLetter, DeadLetters

#: Text of one table, roughly.
TABLE_BYTES = 16 << 20


class Part(NamedTuple):
    """Rows of a file, with the number from 1 of each ``unit``: row or line; ``column``: that of the text, if known."""

    table: pa.Table
    unit: str
    numbers: Sequence[int]
    bytes_read: int
    column: str | None = None


def parquet(
    file: pa.NativeFile | BinaryIO,
    name: str,
    size: int,
    dead_letters: DeadLetters,
    columns: list[str] | None = None,
    optional: Sequence[str] = (),
    *,
    ahead: bool = False,
) -> Iterator[Part]:
    """Parts of a Parquet file; where all ``columns`` are there, only they are read, and those ``optional`` that are.

    ``ahead``: reads a row group's bytes in one go, which saves round trips to a remote file, and takes 15 % longer of a
    local one.
    """
    import pyarrow.parquet as pq

    try:
        opened = pq.ParquetFile(file, pre_buffer=ahead)
    except (pa.ArrowException, OSError) as error:
        dead_letters(DeadLetter(name, "whole file", f"cannot be read as .parquet: {error}"))
        return
    with opened:
        metadata = opened.metadata
        names = opened.schema_arrow.names
        wanted = None
        if columns is not None and set(columns) <= set(names):
            wanted = [*columns, *(column for column in optional if column in names and column not in columns)]
        plain = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        rows = max(1, min(8192, TABLE_BYTES * max(1, metadata.num_rows) // max(1, plain)))
        done = 0
        for group in range(metadata.num_row_groups):
            first = done
            try:
                # Threads of Arrow's would share two columns, of which one is all the work.
                found = opened.iter_batches(batch_size=rows, row_groups=[group], columns=wanted, use_threads=False)
                for batch in found:
                    begin, done = done, done + len(batch)
                    numbers = range(begin + 1, done + 1)
                    yield Part(pa.Table.from_batches([batch]), "row", numbers, size * done // metadata.num_rows)
            except (pa.ArrowException, OSError) as error:
                reason = f"cannot be read as .parquet: {error}"
                dead_letters(DeadLetter(name, f"row {done + 1}, in row group {group}", reason))
            done = first + metadata.row_group(group).num_rows


def arrow(source: pa.NativeFile, name: str, size: int, dead_letters: DeadLetters) -> Iterator[Part]:
    """Parts of an Arrow file or stream."""
    try:
        batches = _record_batches(source)
    except (pa.ArrowException, OSError) as error:
        dead_letters(DeadLetter(name, "whole file", f"cannot be read as .arrow: {error}"))
        return
    done = number = 0
    while True:
        try:
            batch = next(batches, None)
        except (pa.ArrowException, OSError) as error:
            dead_letters(DeadLetter(name, f"row {done + 1}, in record batch {number}", f"cannot be read: {error}"))
            return
        if batch is None:
            return
        number += 1
        rows = max(1, TABLE_BYTES * max(1, len(batch)) // max(1, batch.nbytes))
        for begin in range(0, len(batch), rows):
            table = pa.Table.from_batches([batch.slice(begin, rows)])
            numbers = range(done + begin + 1, done + begin + 1 + len(table))
            yield Part(table, "row", numbers, min(size, source.tell()))
        done += len(batch)


def _record_batches(source: pa.NativeFile) -> Iterator[pa.RecordBatch]:
    try:
        file = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return iter(pa.ipc.open_stream(source))
    return (file.get_batch(i) for i in range(file.num_record_batches))
