"""The Arrow files of an index, which are read without a copy.

Compressed files, which an index never writes, are rejected.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

#: The end of an Arrow file: the size of its footer, and six bytes "ARROW1".
_END = struct.Struct("<i6s")
#: The description of a batch in a footer: its offset, the size of its metadata, and the size of its columns.
_BLOCK = struct.Struct("<qi4xq")
#: The number that Arrow's format gives to the type of messages that hold a dictionary.
_DICTIONARY = 2


def read_table(source: Any) -> pa.Table:
    """Return the table of a memory-mapped Arrow file.

    Arrow allocates as many bytes as a compressed column claims to have. In a compression bomb, a megabyte really
    expands to ten gigabytes. Files with compressed batches are therefore rejected before Arrow reads the batches.

    Raises:
        ValueError: A batch is compressed, or the footer does not lead to its batches.
        pa.ArrowException: Arrow rejects the file.
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
    """Yield the offset in the file of each batch's metadata, according to the footer."""
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
    """Return the offset of the root table of a FlatBuffers message that begins at ``begin``."""
    return begin + _number(data, begin)


def _field(data: Any, table: int, number: int) -> int:
    """Return the offset of field ``number`` of a FlatBuffers table, or 0 if the table lacks it."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, fields)[0]
    at = 4 + 2 * number
    offset = struct.unpack_from("<H", data, fields + at)[0] if at < size else 0
    return int(table + offset) if offset else 0


def _number(data: Any, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])
