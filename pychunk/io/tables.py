"""Parquet and Arrow files to Arrow tables of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from .documents import DeadLetter, DeadLetters

#: Text of one table, roughly.
TABLE_BYTES = 16 << 20
#: Text of one table at most where a file's rows repeat long values, which it holds once.
REPEATED_BYTES = 1 << 30
#: What ends an Arrow stream; streams written before 2019 (Arrow 0.15) have the second half alone.
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


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

    # Of a damaged file Arrow raises anything: MemoryError, IndexError, SystemError, UnicodeDecodeError.
    try:
        opened = pq.ParquetFile(file, pre_buffer=ahead)
        metadata = opened.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        names = opened.schema_arrow.names
    except Exception as error:
        dead_letters(DeadLetter(name, "whole file", f"cannot be read as .parquet: {_said(error)}"))
        return
    with opened:
        wanted = _wanted(names, columns, optional)
        begun = total = 0
        for number, group in enumerate(groups):
            done = begun
            try:
                rows = _rows_at_once(file, group)
                # Threads of Arrow's would share two columns, of which one is all the work.
                found = opened.iter_batches(batch_size=rows, row_groups=[number], columns=wanted, use_threads=False)
                while (batch := next(found, None)) is not None:
                    _check(batch)
                    before, done = done, done + len(batch)
                    read = size * min(done, metadata.num_rows) // max(1, metadata.num_rows)
                    yield Part(pa.Table.from_batches([batch]), "row", range(before + 1, done + 1), read)
                if done - begun != group.num_rows:
                    raise ValueError(f"the group should have {group.num_rows:,} rows, and has {done - begun:,}")
            except Exception as error:
                reason = f"cannot be read as .parquet: {_said(error)}"
                dead_letters(DeadLetter(name, f"row {done + 1}, in row group {number}", reason))
            total += done - begun
            begun = max(done, begun + group.num_rows)
        listed = sum(group.num_rows for group in groups)
        if listed != metadata.num_rows:
            reason = f"the file should have {metadata.num_rows:,} rows, and its row groups have {listed:,}"
            dead_letters(DeadLetter(name, f"after row {begun}", reason))


def arrow(
    source: pa.NativeFile,
    name: str,
    size: int,
    dead_letters: DeadLetters,
    columns: list[str] | None = None,
    optional: Sequence[str] = (),
) -> Iterator[Part]:
    """Parts of an Arrow file or stream, of the columns that ``parquet`` would read; what is in it is checked first.

    A stream must have its mark of the end: one that was cut off between two batches has none.
    """
    try:
        batches, is_stream = _record_batches(source)
    except Exception as error:
        dead_letters(DeadLetter(name, "whole file", f"cannot be read as .arrow: {_said(error)}"))
        return
    done = number = 0
    while True:
        place = f"row {done + 1}, in record batch {number}"
        try:
            batch = next(batches, None)
        except Exception as error:
            dead_letters(DeadLetter(name, place, f"cannot be read: {_said(error)}"))
            if is_stream:
                return
            number += 1
            continue
        if batch is None:
            break
        number += 1
        length = len(batch)
        try:
            wanted = _wanted(batch.schema.names, columns, optional)
            batch = batch if wanted is None else batch.select(wanted)
            _check(batch)
            rows = max(1, TABLE_BYTES * max(1, length) // max(1, batch.nbytes))
        except Exception as error:
            reason = f"{length:,} rows cannot be read: {_said(error)}"
            dead_letters(DeadLetter(name, place, reason))
            done += max(0, length)
            continue
        for begin in range(0, length, rows):
            table = pa.Table.from_batches([batch.slice(begin, rows)])
            numbers = range(done + begin + 1, done + begin + 1 + len(table))
            yield Part(table, "row", numbers, min(size, source.tell()))
        done += length
    if is_stream and not _is_ended(source):
        reason = "the stream has no mark of its end: it was cut off, or its writer was not closed"
        dead_letters(DeadLetter(name, f"after row {done}", reason))


def _wanted(names: Sequence[str], columns: list[str] | None, optional: Sequence[str]) -> list[str] | None:
    if columns is None or not set(columns) <= set(names):
        return None
    return list(dict.fromkeys([*columns, *(column for column in optional if column in names)]))


def _rows_at_once(file: Any, group: Any) -> int:
    """Rows of a batch: ``TABLE_BYTES`` of average rows, and no more than are bounded if each repeats one long value."""
    rows = min(8192, TABLE_BYTES * max(1, group.num_rows) // max(1, group.total_byte_size))
    for chunk in (group.column(i) for i in range(group.num_columns)):
        if chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page:
            file.seek(chunk.dictionary_page_offset)
            rows = min(rows, REPEATED_BYTES // max(1, _page_bytes(file.read(16))))
    return int(max(1, rows))


def _page_bytes(head: bytes) -> int:
    """The uncompressed size that a page's header names: the second varint in Thrift's compact encoding, a zigzag."""
    value = shift = 0
    for byte in head[3:]:  # 0x15, the kind of page, 0x15
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return value >> 1


class _Batches:
    """The record batches of an Arrow file; one that cannot be read is passed over by asking for the next."""

    def __init__(self, file: pa.ipc.RecordBatchFileReader) -> None:
        self.file, self.number = file, 0

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> pa.RecordBatch:
        if self.number >= self.file.num_record_batches:
            raise StopIteration
        self.number += 1
        return self.file.get_batch(self.number - 1)


def _record_batches(source: pa.NativeFile) -> tuple[Iterator[pa.RecordBatch], bool]:
    """The record batches, and whether they are of a stream."""
    try:
        file = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return iter(pa.ipc.open_stream(source)), True
    return _Batches(file), False


def _is_ended(source: pa.NativeFile) -> bool:
    """Whether a mark of the end lies before the place that the stream was read to."""
    end = source.tell()
    source.seek(0)
    is_old = source.read(4) != _END_OF_STREAM[:4]
    mark = _END_OF_STREAM[4:] if is_old else _END_OF_STREAM
    source.seek(max(0, end - len(mark)))
    return bool(source.read(len(mark)) == mark)


def _check(batch: pa.RecordBatch) -> None:
    """Raises where a batch refers to memory that is not its own: Arrow trusts what it reads, and would crash later.

    Whether text is valid UTF-8 is not asked here: that is a matter of single rows.
    """
    for name, values in zip(batch.schema.names, batch.columns, strict=True):
        try:
            _as_bytes(values).validate(full=True)
        except Exception as error:
            raise ValueError(f"column {name!r}: {_said(error)}") from None


def _as_bytes(values: pa.Array) -> pa.Array:
    """Text under the type of bytes."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values.indices.validate(full=True)
        return pa.DictionaryArray.from_arrays(values.indices, _as_bytes(values.dictionary))
    plain = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}.get(str(kind))
    if plain is None:
        return values
    values.validate()
    return pa.Array.from_buffers(getattr(pa, plain)(), len(values), values.buffers(), offset=values.offset)


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
