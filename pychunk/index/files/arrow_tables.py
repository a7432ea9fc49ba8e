"""The Arrow files of an index, which are read without a copy.

Compressed files, which an index never writes, are rejected.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

#: The end of an Arrow file: the size of its footer, and six letters.
_END = struct.Struct("<i6s")
#: The description of a batch in a footer: its offset, the size of its metadata, and the size of its columns.
_BLOCK = struct.Struct("<qi4xq")
#: The type of a message that holds a dictionary, by number in Arrow's format.
_DICTIONARY = 2


def read_table(source: Any) -> pa.Table:
    """Return the table of a memory-mapped Arrow file.

    Arrow allocates as many bytes as a compressed column announces, and a compression bomb really has them: a megabyte
    holds ten gigabytes. Batches are therefore examined before Arrow reads them.

    Raises:
        ValueError: A batch is compressed, or cannot be found.
        pa.ArrowException: Arrow finds a fault.
    """
    source.seek(0)
    data = source.read_buffer()
    reader = pa.ipc.open_file(source)
    try:
        if any(_compressed(data, place) for place in _batches(data)):
            raise ValueError("its columns are compressed")
    except (struct.error, IndexError) as error:
        raise ValueError(f"its batches cannot be found: {error}") from error
    return reader.read_all()


def _batches(data: Any) -> Iterator[int]:
    """Yield where the metadata of each batch begins, according to the footer."""
    size, _ = _END.unpack_from(data, len(data) - _END.size)
    footer = _table(data, len(data) - _END.size - size)
    for field in (2, 3):  # The fields hold dictionaries and batches of rows.
        at = _field(data, footer, field)
        if at:
            at += _number(data, at)
            for number in range(_number(data, at)):
                yield _BLOCK.unpack_from(data, at + 4 + number * _BLOCK.size)[0]


def _compressed(data: Any, place: int) -> bool:
    """Return whether the batch whose metadata begins at ``place`` has compressed columns."""
    begin = place + (8 if _number(data, place) == 0xFFFFFFFF else 4)  # Since Arrow 0.15 a marker comes first.
    message = _table(data, begin)
    (kind,), at = struct.unpack_from("<B", data, _field(data, message, 1)), _field(data, message, 2)
    batch = at + _number(data, at)
    if kind == _DICTIONARY:
        at = _field(data, batch, 1)
        batch = at + _number(data, at)
    return bool(_field(data, batch, 3))


def _table(data: Any, begin: int) -> int:
    """Return where the fields of a root of FlatBuffers are."""
    return begin + _number(data, begin)


def _field(data: Any, table: int, number: int) -> int:
    """Return where a field of a table is, or 0 if there is none."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, fields)[0]
    at = 4 + 2 * number
    offset = struct.unpack_from("<H", data, fields + at)[0] if at < size else 0
    return int(table + offset) if offset else 0


def _number(data: Any, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])
