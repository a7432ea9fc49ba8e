"""The offsets of a Parquet file's columns and the sizes of their pages, read without Arrow.

If a footer contradicts itself about a column, Arrow's readers raise an error. But Arrow's Python method for the facts
about a column (``RowGroupMetaData.column``) crashes the process. This module therefore reads the footer itself. Footers
and page headers are Thrift in its compact encoding, and only a few of their numbers are needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

# The types of Thrift's compact encoding.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = range(1, 14)
#: The maximum depth of nested values that are skipped. Parquet's own structures have five levels.
_DEPTH = 64
#: Parquet's numbers for the physical type BYTE_ARRAY and for the page type DICTIONARY_PAGE.
_BYTE_ARRAY, _DICTIONARY_PAGE = 6, 2
#: The numbers of bytes that are read to parse a page header. If the first number is too small, the next one is tried.
#: The type and the sizes of the page come first in a header, and statistics of any length may follow.
_HEAD_BYTES = (32, 256, 1 << 16)


class Column(NamedTuple):
    """A column of one row group.

    Attributes:
        path: The names on the path to the column, from the outermost.
        is_bytes: Whether the values are of type BYTE_ARRAY.
        begin: The offset of the first page.
        plain, stored: The size of the pages and their headers in bytes: after and before decompression.
    """

    path: tuple[str, ...]
    is_bytes: bool
    begin: int
    plain: int
    stored: int

    @property
    def name(self) -> str:
        """The path of the column, with dots between its parts."""
        return ".".join(self.path)


class Page(NamedTuple):
    """A page as its header describes it.

    Attributes:
        is_dictionary: Whether the page is a dictionary.
        plain, stored: The size of the page in bytes: after and before decompression.
        end: The offset of the end of the page.
    """

    is_dictionary: bool
    plain: int
    stored: int
    end: int


def columns(file: Any) -> list[list[Column]]:
    """Return the columns of each row group of an open file.

    Raises:
        ValueError: There is no footer, or it is damaged.
    """
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - 8))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or length > end - 8:
        raise ValueError("there is no footer: the file is damaged or cut off; get it again")
    file.seek(end - 8 - length)
    found: list[list[Column]] = []
    footer = _Compact(file.read(length))
    for number, kind in footer.fields():
        if (number, kind) == (4, _LIST):
            found = [_row_group(footer) for _ in footer.items()]
        else:
            footer.skip(kind)
    return found


def pages(file: Any, column: Column) -> Iterator[Page]:
    """Yield the pages of a column, up to the first page whose header cannot be read. Arrow later reports that error.

    The first page is read even if the footer says that the column is empty. Reading the header of a page takes 0.1 ms,
    compared with 10 ms for a whole page of common size.
    """
    at, end = column.begin, column.begin + column.stored
    while True:
        try:
            page = _page(file, at)
        except (ValueError, OSError, OverflowError):
            return
        yield page
        if not at < page.end < end:
            return
        at = page.end


def _page(file: Any, at: int) -> Page:
    """Return the page whose header is at an offset of the file.

    Raises:
        ValueError: There is no valid header.
    """
    for most in _HEAD_BYTES:
        file.seek(at)
        head, facts = _Compact(file.read(most)), {}
        try:
            for number, kind in head.fields():  # 1: kind of page, 2: bytes unpacked, 3: bytes stored
                if number in (1, 2, 3) and kind == _I32:
                    facts[number] = head.integer()
                else:
                    head.skip(kind)
        except ValueError:
            if most == _HEAD_BYTES[-1]:
                raise
            continue
        if len(facts) < 3:
            break
        return Page(facts[1] == _DICTIONARY_PAGE, facts[2], facts[3], at + head.place + facts[3])
    raise ValueError("a page has no header: the file is damaged; get it again")


def _row_group(footer: _Compact) -> list[Column]:
    found: list[Column] = []
    for number, kind in footer.fields():
        if (number, kind) == (1, _LIST):
            found = [_column(footer) for _ in footer.items()]
        else:
            footer.skip(kind)
    return found


def _column(footer: _Compact) -> Column:
    facts: dict[int, int] = {}
    path: list[str] = []
    for number, kind in footer.fields():
        if (number, kind) != (3, _STRUCT):
            footer.skip(kind)
            continue
        # 1: type, 3: path, 6: bytes unpacked, 7: bytes stored, 9: offset of the data pages, 11: offset of the
        # dictionary
        for inner, inner_kind in footer.fields():
            if inner in (1, 6, 7, 9, 11) and inner_kind in (_I32, _I64):
                facts[inner] = footer.integer()
            elif (inner, inner_kind) == (3, _LIST):
                path = [footer.text() for _ in footer.items()]
            else:
                footer.skip(inner_kind)
    begin, dictionary = facts.get(9, 0), facts.get(11, 0)
    begin = max(0, min(begin, dictionary) if dictionary > 0 else begin)
    return Column(tuple(path), facts.get(1) == _BYTE_ARRAY, begin, facts.get(6, 0), facts.get(7, 0))


class _Compact:
    """A reader of consecutive values in Thrift's compact encoding; it raises ValueError if the data ends too early."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def place(self) -> int:
        """The number of bytes that were read so far."""
        return self._at

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield the number and type of each field of a struct.

        The caller must read or skip the value of a field before it requests the next field.
        """
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self.integer()
            yield number, head & 15

    def items(self) -> range:
        """Return a range with one number for each item of a list, which the caller must read."""
        return range(self._list()[0])

    def text(self) -> str:
        size = self._varint()
        self._move(size)
        return self._data[self._at - size : self._at].decode(errors="replace")

    def integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def skip(self, kind: int, depth: int = 0) -> None:
        if depth > _DEPTH:
            raise ValueError("structures are nested too deep: the file is damaged; get it again")
        if kind in (_I16, _I32, _I64):
            self._varint()
        elif kind == _BINARY:
            self._move(self._varint())
        elif kind in (_LIST, _SET):
            count, item = self._list()
            for _ in range(count):
                self._skip_item(item, depth)
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner, depth + 1)
        elif kind == _MAP:
            if count := self._varint():
                kinds = self._byte()
                for _ in range(count):
                    self._skip_item(kinds >> 4, depth)
                    self._skip_item(kinds & 15, depth)
        elif kind in (_TRUE, _FALSE):
            pass
        elif kind in (_BYTE, _DOUBLE, _UUID):
            self._move({_BYTE: 1, _DOUBLE: 8, _UUID: 16}[kind])
        else:
            raise ValueError(f"there is no type {kind}: the file is damaged; get it again")

    def _skip_item(self, kind: int, depth: int) -> None:
        if kind in (_TRUE, _FALSE):  # as an item, a Boolean takes a byte; as a field, its type is also its value
            self._byte()
        else:
            self.skip(kind, depth + 1)

    def _list(self) -> tuple[int, int]:
        head = self._byte()
        return (head >> 4 if head >> 4 < 15 else self._varint()), head & 15

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) >= 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number has too many bytes: the file is damaged; get it again")
        return value | byte << shift

    def _byte(self) -> int:
        self._move(1)
        return self._data[self._at - 1]

    def _move(self, count: int) -> None:
        """Skip ``count`` bytes, and raise ValueError if the data ends before.

        Without this check, reading a list with a false number of items might never end.
        """
        self._at += count
        if self._at > len(self._data):
            raise ValueError(
                f"the data ends too early, after {len(self._data):,} bytes: it is damaged or cut off; get it again"
            )
