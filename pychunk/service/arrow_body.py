"""Tables in the bodies of requests: Arrow IPC streams, which are checked before anything reads them."""

from __future__ import annotations

import struct

import pyarrow as pa

from .request_error import RequestError

#: The fields of a RecordBatch in Arrow's format that is 3 if its buffers are compressed, and of a Message that holds
#: the RecordBatch, by their numbers in the format's schema.
_COMPRESSION, _HEADER = 3, 2


def table_of(body: bytes) -> pa.Table:
    """Return the table of an Arrow IPC stream.

    Raises:
        RequestError: The body is no such stream, or its offsets or text are invalid, or it is compressed. A compressed
            stream of a few bytes could ask for any amount of memory.
    """
    try:
        for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(body)):
            if message.type in ("record batch", "dictionary") and _compressed(message):
                raise RequestError(415, "an Arrow stream must not be compressed: write it with compression=None")
        table = pa.ipc.open_stream(pa.py_buffer(body)).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, struct.error, IndexError) as error:
        raise RequestError(422, f"the body is no valid Arrow stream: {error}") from None
    return table


def _compressed(message: pa.Message) -> bool:
    data = message.metadata.to_pybytes()
    root = struct.unpack_from("<I", data)[0]
    header = _field(data, root, _HEADER)
    if header is None:
        return False
    batch = header + struct.unpack_from("<I", data, header)[0]
    if message.type == "dictionary":
        inner = _field(data, batch, 1)
        if inner is None:
            return False
        batch = inner + struct.unpack_from("<I", data, inner)[0]
    return _field(data, batch, _COMPRESSION) is not None


def _field(data: bytes, table: int, number: int) -> int | None:
    """Return the place of a field of a FlatBuffers table, or None if it is absent."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, vtable)[0]
    at = 4 + 2 * number
    offset = struct.unpack_from("<H", data, vtable + at)[0] if at + 2 <= size else 0
    return table + offset if offset else None
