"""The reader of Parquet files, to Arrow tables of bounded size."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from ..._util.memory import check_memory
from ..decompression import decompression_limits
from ..document_batches import DeadLetter, DeadLetters
from . import parquet_footer
from .table_parts import REPEATED_OBJECTS, TABLE_BYTES, Part, check, said, wanted_of

#: The maximum size of one table's text, in bytes, if a file stores a long value only once for many rows.
REPEATED_BYTES = 1 << 29
#: The size in bytes that consecutive batches must have together to become one part. Smaller parts cost time: with one
#: part for every 28 of 8,000 articles, reading took 0.43 s of processor time, of which Arrow took only 0.25 s.
TOGETHER_BYTES = 1 << 22
#: The size of Arrow's read buffer in bytes. Without it, Arrow reads a column of a row group as a whole before it
#: decodes the first page. For a column of 72 MB that takes 70 MB of memory, and 0.05 s of processor time in which the
#: operating system clears the memory.
_READ_BYTES = 1 << 16
#: A page that announces more bytes than its whole column does is an error, unless it has at most this number of bytes.
_CERTAIN = 64 << 20


def parts(
    file: pa.NativeFile | BinaryIO,
    name: str,
    size: int,
    dead_letters: DeadLetters,
    columns: list[str] | None = None,
    optional: Sequence[str] = (),
    *,
    ahead: bool = False,
) -> Iterator[Part]:
    """Yield parts of a Parquet file; if all ``columns`` exist, only these and the existing ``optional`` ones are read.

    If ``ahead``, the bytes of a row group are read at once. This saves round trips to a remote file, but takes 15 %
    longer for a local file.
    """
    import pyarrow.parquet as pq

    # For a damaged file Arrow may raise any error: MemoryError, IndexError, SystemError, UnicodeDecodeError.
    try:
        opened = pq.ParquetFile(file, pre_buffer=ahead, buffer_size=0 if ahead else _READ_BYTES)
        metadata = opened.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        places = parquet_footer.columns(file)
        schema = opened.schema_arrow
        wanted = wanted_of(schema.names, columns, optional)
        most = REPEATED_OBJECTS if any(map(pa.types.is_dictionary, schema.types)) else REPEATED_BYTES
    except Exception as error:
        check_memory(error)
        dead_letters(DeadLetter(name, "whole file", f"cannot be read as .parquet: {said(error)}"))
        return
    with opened:
        begun = total = 0
        for number, group in enumerate(groups):
            done = begun
            try:
                own = [each for each in places[number] if wanted is None or each.path[0] in wanted]
                rows = _rows_at_once(file, group, own, most, first=ahead)
                # Threads would not help: usually two columns are read, and one of them is nearly all the work.
                found = opened.iter_batches(batch_size=rows, row_groups=[number], columns=wanted, use_threads=False)
                for batches in _together(found):
                    before, done = done, done + sum(map(len, batches))
                    read = size * min(done, metadata.num_rows) // max(1, metadata.num_rows)
                    yield Part(pa.Table.from_batches(batches), "row", range(before + 1, done + 1), read)
                if done - begun != group.num_rows:
                    raise ValueError(f"the row group should have {group.num_rows:,} rows, but has {done - begun:,}")
            except Exception as error:
                check_memory(error)
                reason = f"cannot be read as .parquet: {said(error)}"
                dead_letters(DeadLetter(name, f"row {done + 1}, in row group {number}", reason))
            total += done - begun
            begun = max(done, begun + group.num_rows)
        listed = sum(group.num_rows for group in groups)
        if listed != metadata.num_rows:
            reason = f"the file should have {metadata.num_rows:,} rows, and its row groups have {listed:,}"
            dead_letters(DeadLetter(name, f"after row {begun}", reason))


def _together(found: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Yield lists of valid batches with at least ``TOGETHER_BYTES`` in all.

    If a batch cannot be read, yield the batches before it, then raise the error.
    """
    held: list[pa.RecordBatch] = []
    size = 0
    try:
        while (batch := next(found, None)) is not None:
            check(batch)
            held.append(batch)
            size += batch.nbytes
            if size >= TOGETHER_BYTES:
                yield held
                held, size = [], 0
    except Exception:
        if held:
            yield held
        raise
    if held:
        yield held


def columns(file: pa.NativeFile | BinaryIO) -> dict[str, pa.DataType]:
    """Return the columns of a Parquet file with their types, from its footer; none if it has no rows or is unreadable.

    Reading the first rows instead would read the whole first row group, which takes 0.05 s for a file of 35 MB with one
    row group.
    """
    import pyarrow.parquet as pq

    try:
        opened = pq.ParquetFile(file)
        schema = opened.schema_arrow
        wanted_of(schema.names, None, ())
        return dict(zip(schema.names, schema.types, strict=True)) if opened.metadata.num_rows else {}
    except Exception as error:
        check_memory(error)
        return {}


def _rows_at_once(file: Any, group: Any, columns: Sequence[parquet_footer.Column], most: int, *, first: bool) -> int:
    """Return the number of rows of a batch: ``TABLE_BYTES`` of average rows, but fewer if rows may repeat long values.

    Args:
        file: The open file.
        group: The metadata of the row group.
        columns: The columns that are read.
        most: The maximum size of a table's text, in bytes.
        first: Whether to check only the first page of each column. This is for remote files, in which each page takes a
            round trip.

    Raises:
        ValueError: A page announces far more bytes than are stored or than the file has, and Arrow would allocate them.
    """
    length = file.seek(0, os.SEEK_END)
    rows = min(8192, TABLE_BYTES * max(1, group.num_rows) // max(1, group.total_byte_size))
    for column in columns:
        for page in itertools.islice(parquet_footer.pages(file, column), 1 if first else None):
            try:
                decompression_limits.refuse(page.plain, page.stored, "write smaller pages")
                if page.plain > max(column.plain, _CERTAIN):
                    raise ValueError(f"a page claims {page.plain:,} bytes, but its column only {column.plain:,}")
                if page.end > length:
                    raise ValueError(f"a page claims {page.stored:,} bytes, but the file ends earlier")
            except ValueError as error:
                raise ValueError(f"column {column.name!r}: {error}") from None
            if page.is_dictionary and column.is_bytes:
                rows = min(rows, most // max(1, page.plain))
    return int(max(1, rows))
