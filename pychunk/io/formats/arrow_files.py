"""The reader of Arrow files and streams, to Arrow tables of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..._engine.arrow import items
from ..._util.memory import check_memory
from ..document_batches import DeadLetter, DeadLetters
from . import arrow_messages
from .table_parts import REPEATED_OBJECTS, TABLE_BYTES, Part, as_bytes, check, said, wanted_of

#: The maximum number of rows of a table of an Arrow file. It is limited because a row may take almost no bytes.
_ROWS = 1 << 16
#: The mark at the end of an Arrow stream. Streams written before 2019 (Arrow 0.15) have only the second half of it.
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


def parts(
    source: pa.NativeFile,
    name: str,
    size: int,
    dead_letters: DeadLetters,
    columns: list[str] | None = None,
    optional: Sequence[str] = (),
) -> Iterator[Part]:
    """Yield parts of an Arrow file or stream.

    If all ``columns`` exist, the parts have only these columns and those of ``optional`` that exist. Otherwise they
    have all columns.

    The reader checks all data before Arrow uses it. A stream must end with its end mark, because a stream that was cut
    off between two batches is otherwise valid. Data after the mark, and batches that a file's footer does not list,
    become dead letters.
    """
    try:
        batches = _record_batches(source)
    except Exception as error:
        check_memory(error)
        dead_letters(DeadLetter(name, "whole file", f"cannot be read as .arrow: {said(error)}"))
        return
    done = number = 0
    while True:
        place = f"row {done + 1}, in record batch {number}"
        try:
            batch = next(batches, None)
        except Exception as error:
            check_memory(error)
            dead_letters(DeadLetter(name, place, f"cannot be read: {said(error)}"))
            if isinstance(batches, _Stream):
                return
            number += 1
            continue
        if batch is None:
            break
        number += 1
        length = len(batch)
        try:
            wanted = wanted_of(batch.schema.names, columns, optional)
            batch = batch if wanted is None else batch.select(wanted)
            check(batch)
            rows = min(_ROWS, TABLE_BYTES * max(1, length) // max(1, batch.get_total_buffer_size()))
            rows = max(1, min([rows, *(REPEATED_OBJECTS // max(1, _longest(values)) for values in batch.columns)]))
        except Exception as error:
            check_memory(error)
            reason = f"{length:,} rows cannot be read: {said(error)}"
            dead_letters(DeadLetter(name, place, reason))
            done += max(0, length)
            continue
        for begin in range(0, length, rows):
            table = pa.Table.from_batches([batch.slice(begin, rows)])
            numbers = range(done + begin + 1, done + begin + 1 + len(table))
            yield Part(table, "row", numbers, min(size, source.tell()))
        done += length
    if reason := batches.missing():
        dead_letters(DeadLetter(name, f"after row {done}", reason))


class _File:
    """The record batches of an Arrow file. After an error, ``next`` goes on with the following batch."""

    def __init__(self, file: pa.RecordBatchFileReader, source: pa.NativeFile) -> None:
        self._file, self._source, self._number = file, source, 0
        self._sizes = arrow_messages.Sizes(source)
        self._dictionaries, self._blocks = arrow_messages.blocks(source)
        for block in self._dictionaries:
            self._sizes.check_at(block.begin)

    def __iter__(self) -> _File:
        return self

    def __next__(self) -> pa.RecordBatch:
        if self._number >= self._file.num_record_batches:
            raise StopIteration
        self._number += 1
        self._sizes.check_at(self._blocks[self._number - 1].begin)
        return self._file.get_batch(self._number - 1)

    def missing(self) -> str:
        """Return why rows may be missing from the file; "" if none are missing."""
        is_listed = arrow_messages.is_listed(self._source, [*self._dictionaries, *self._blocks])
        return "" if is_listed else "the file holds record batches that its footer does not list: it is damaged"


class _Stream:
    """The record batches of an Arrow stream."""

    def __init__(self, source: pa.NativeFile) -> None:
        self._stream, self._source = pa.ipc.open_stream(source), source
        self._sizes = arrow_messages.Sizes(source)

    def __iter__(self) -> _Stream:
        return self

    def __next__(self) -> pa.RecordBatch:
        self._sizes.check_next()
        return self._stream.read_next_batch()

    def missing(self) -> str:
        """Return why rows may be missing after the last row; "" if none are missing."""
        end = self._source.tell()
        self._source.seek(0)
        is_old = self._source.read(4) != _END_OF_STREAM[:4]
        mark = _END_OF_STREAM[4:] if is_old else _END_OF_STREAM
        self._source.seek(max(0, end - len(mark)))
        if self._source.read(len(mark)) != mark:
            return "the stream has no mark of its end: it was cut off, or its writer was not closed"
        if self._source.read(1):
            return "bytes after the stream's end are not read: it is damaged, or several streams are in one file"
        return ""


def _record_batches(source: pa.NativeFile) -> _File | _Stream:
    try:
        return _File(pa.ipc.open_file(source), source)
    except pa.ArrowInvalid:
        source.seek(0)
        return _Stream(source)


def _longest(values: pa.Array) -> int:
    """Return the size of the longest value in bytes if the array may store one value for many rows, else 0."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.dictionary
    elif pa.types.is_run_end_encoded(kind):
        values = values.values
    elif str(kind) not in ("string_view", "binary_view"):
        return 0
    held = str(values.type)
    if held in ("string_view", "binary_view"):
        views = items(values.buffers()[1], np.int32, 4 * (values.offset + len(values))).reshape(-1, 4)
        return int(views[values.offset :, 0].max(initial=0))
    if held in ("string", "large_string", "binary", "large_binary"):
        return int(pc.max(pc.binary_length(as_bytes(values))).as_py() or 0)
    return 0
