"""The checks of the messages in Arrow files and streams before Arrow reads them.

They check the unpacked size of each message, and that a file's footer lists all messages. Messages are Flatbuffers. A
compressed buffer begins with its unpacked length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..decompression import decompression_limits

_DICTIONARY, _BATCH = 2, 3
#: The number of bytes from the beginning of a file's schema on in which unlisted messages are searched.
MAX_SCHEMA = 16 << 20
#: The beginning of a message. The length of the message's header follows, or 0 at the end of a stream.
_CONTINUES = b"\xff\xff\xff\xff"
#: The number of bytes of a file before its schema: ARROW1, padded to 8 bytes.
_MAGIC = 8


class Sizes:
    """The check of the sizes of one file's or stream's messages, which raises ValueError if a message is too large."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._dictionaries: dict[int, tuple[int, int]] = {}

    def check_next(self) -> None:
        """Check the messages from the source's position up to and including the next record batch.

        The position of the source stays the same.
        """
        begin = at = self._source.tell()
        try:
            while (at := self._check(at)) > 0:
                self._source.seek(at)
        finally:
            self._source.seek(begin)

    def check_at(self, offset: int) -> None:
        """Check the message at an offset."""
        self._source.seek(offset)
        self._check(offset)

    def _check(self, begin: int) -> int:
        """Check a message and return the offset of the next one, or 0 after a record batch and at the end."""
        head = self._source.read(8)
        prefix = 8 if head[:4] == _CONTINUES else 4
        if len(head) < prefix or not (length := int.from_bytes(head[prefix - 4 : prefix], "little")):
            return 0
        self._source.seek(begin + prefix)
        data = self._source.read(length)
        try:
            message = _Table(data, _uint32(data, 0))
            kind, stored = message.number(1, "<B"), message.number(3, "<q")
            body = begin + prefix + length
            if kind == _BATCH:
                self._too_large(self._plain(message.table(2), body), stored)
                return 0
            if kind == _DICTIONARY:
                dictionary = message.table(2)
                name, plain = dictionary.number(0, "<q"), self._plain(dictionary.table(1), body)
                before = self._dictionaries.get(name, (0, 0)) if dictionary.number(2, "<B") else (0, 0)
                self._dictionaries[name] = before[0] + plain, before[1] + stored
                self._too_large(0, 0)
        except struct.error:
            raise ValueError("a message is damaged: it refers to bytes outside of itself; get the file again") from None
        if stored < 0:
            raise ValueError(f"a message is damaged: it claims a length of {stored:,} bytes; get the file again")
        return body + stored

    def _plain(self, batch: _Table, body: int) -> int:
        if not batch.at(3):
            return 0  # the batch is not compressed, so Arrow allocates no more than its stored bytes
        size = 0
        for offset, length in batch.structs(2, "<qq"):
            if length > 0:
                self._source.seek(body + offset)
                plain = int.from_bytes(self._source.read(8), "little", signed=True)
                size += max(plain, 0) if plain != -1 else length
        return size

    def _too_large(self, plain: int, stored: int) -> None:
        plain += sum(each for each, _ in self._dictionaries.values())
        stored += sum(each for _, each in self._dictionaries.values())
        decompression_limits.refuse(plain, stored, "write smaller record batches, or without compression")


class Block(NamedTuple):
    """The bytes of a file that hold a dictionary or a record batch."""

    begin: int
    end: int


def blocks(source: Any) -> tuple[list[Block], list[Block]]:
    """Return the dictionaries and the record batches of a file, as its footer lists them."""
    begin, end = _footer(source)
    source.seek(begin)
    data = source.read(end - begin)
    footer = _Table(data, _uint32(data, 0))
    dictionaries, batches = (
        [Block(begin, begin + head + body) for begin, head, body in footer.structs(field, "<qi4xq")] for field in (2, 3)
    )
    return dictionaries, batches


def is_listed(source: Any, listed: list[Block]) -> bool:
    """Return whether the footer of a file lists every message that follows the schema or a listed message."""
    footer, _ = _footer(source)
    begins = {footer, *(block.begin for block in listed)}
    for end in {block.end for block in listed} - begins:
        if not 0 < end < footer:
            return False
        source.seek(end)
        if source.read(8).removeprefix(_CONTINUES)[:4] != b"\0\0\0\0":
            return False
    # Batches that follow the schema are searched for in all bytes up to the first listed message. The end of the schema
    # itself is not always known, because Polars writes no length before it.
    source.seek(_MAGIC)
    schema = source.read(max(0, min(min(begins) - _MAGIC, MAX_SCHEMA)))
    words = np.frombuffer(schema[: len(schema) // 8 * 8], "<u4").reshape(-1, 2)
    begun = (words[:, 0] == 0xFFFFFFFF) & (words[:, 1] > 0)
    return not any(_holds_rows(schema, 8 * word + 8) for word in np.flatnonzero(begun).tolist() if word)


def _holds_rows(data: bytes, at: int) -> bool:
    """Return whether the header of a dictionary or a record batch begins at an offset."""
    try:
        return _Table(data, at + _uint32(data, at)).number(1, "<B") in (_DICTIONARY, _BATCH)
    except struct.error:
        return False


def _footer(source: Any) -> tuple[int, int]:
    end = source.size() - 10
    source.seek(end)
    return end - int.from_bytes(source.read(4), "little"), end


def _uint32(data: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])


class _Table:
    """A Flatbuffers table at an offset. The constructor raises struct.error if there is no table."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data, self._place = data, place
        self._fields = place - struct.unpack_from("<i", data, place)[0]
        if self._fields < 0:
            raise struct.error
        self._length = struct.unpack_from("<H", data, self._fields)[0]

    def at(self, field: int) -> int:
        """Return the offset of a field; 0 if the table lacks it."""
        slot = 4 + 2 * field
        if slot >= self._length:
            return 0
        offset = struct.unpack_from("<H", self._data, self._fields + slot)[0]
        return self._place + offset if offset else 0

    def number(self, field: int, form: str) -> int:
        at = self.at(field)
        return int(struct.unpack_from(form, self._data, at)[0]) if at else 0

    def table(self, field: int) -> _Table:
        if not (at := self.at(field)):
            raise struct.error
        return _Table(self._data, at + _uint32(self._data, at))

    def structs(self, field: int, form: str) -> Iterator[tuple[int, ...]]:
        """Yield the structs in the vector that a field holds."""
        if not (at := self.at(field)):
            return
        at += _uint32(self._data, at)
        count, width = _uint32(self._data, at), struct.calcsize(form)
        if at + 4 + count * width > len(self._data):
            raise struct.error
        yield from (struct.unpack_from(form, self._data, at + 4 + i * width) for i in range(count))
