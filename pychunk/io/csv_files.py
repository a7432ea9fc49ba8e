"""CSV and TSV files to Arrow tables of bounded size, without guessing types: every field is what the file says.

The first row names the columns. Quoted fields may hold line breaks; an empty field without quotes is null, but an empty
text where it is the document's. A row is a dead letter where it has more or fewer fields than the first, or more than
``MAX_ROW_BYTES``, as where a quote is never closed. Rows are named by the line that they begin in.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .bzip2 import Block
from .documents import EXCERPT_BYTES, DeadLetter, DeadLetters
from .rows import only_text
from .tables import IDENTITY, TABLE_BYTES, Part, said, wanted_of

#: Bytes that one row may have.
MAX_ROW_BYTES = 64 << 20
#: Rows of one table; a row may take two bytes.
_ROWS = 1 << 16
#: What may stand between fields where the name does not say it: a comma, or what spreadsheets of some countries write.
_SEPARATORS = b",;\t"
_ENDS = b"\r\n"
_CR, _LF, _QUOTE = 0x0D, 0x0A, 0x22
#: Bytes that are looked at for the first line.
_HEAD_BYTES = 1 << 20


def parts(
    blocks: Iterable[Block],
    name: str,
    dead_letters: DeadLetters,
    columns: list[str] | None = None,
    optional: Sequence[str] = (),
    *,
    separator: bytes = b"",
    typed: bool = False,
) -> Iterator[Part]:
    """Parts with the columns that are asked for, as ``wanted_of`` chooses them, all of them strings.

    ``separator``: default, the one of comma, semicolon and tab that the first row holds most of. ``typed``: other
    columns than ids and texts get the types that Arrow finds for them, as in files that a program made.
    """
    rows = _Rows(name, dead_letters)
    wanted: _Wanted | None = None
    for records, bytes_read in rows.read(blocks, separator):
        if wanted is None:
            try:
                asked = wanted_of(rows.names, columns, optional)
            except ValueError as error:
                dead_letters(DeadLetter(name, "line 1", f"cannot be read as .csv: {error}"))
                return
            wanted = _Wanted(rows, columns[0] if columns else None, asked, typed)
        for some in records.some():
            if (part := wanted.part(some, bytes_read)) is not None:
                yield part


class _Records(NamedTuple):
    """Whole rows, and of each the byte at which it begins and the line from 1 in which that is."""

    data: bytes
    begins: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]

    def some(self) -> Iterator[_Records]:
        """``_ROWS`` of them at a time."""
        for at in range(0, len(self.begins), _ROWS):
            end = int(self.begins[at + _ROWS]) if at + _ROWS < len(self.begins) else len(self.data)
            begin = int(self.begins[at])
            yield _Records(self.data[begin:end], self.begins[at : at + _ROWS] - begin, self.lines[at : at + _ROWS])

    def filled(self) -> _Records:
        """Without empty lines."""
        at = np.frombuffer(self.data, np.uint8)[self.begins]
        filled = (at != _LF) & (at != _CR)
        return self._replace(begins=self.begins[filled], lines=self.lines[filled])


class _Rows:
    """Cuts a file where rows end, by the rules of Arrow's parser: a quote counts where it begins a field."""

    def __init__(self, name: str, dead_letters: DeadLetters) -> None:
        self.name, self.dead_letters = name, dead_letters
        self.names: list[str] = []
        self.separator = b""
        self._line = 1  # in which what is held begins
        self._held = bytearray()
        self._skipping = False  # what is held begins inside a row that was told

    def read(self, blocks: Iterable[Block], separator: bytes) -> Iterator[tuple[_Records, int]]:
        """Rows of some 16 MB at a time, without the first."""
        self.separator = separator
        bytes_read, due = 0, TABLE_BYTES
        for block in blocks:
            bytes_read = block.bytes_read
            self._held += block.data
            if len(self._held) < due and not block.gap:
                continue
            yield from self._taken(bytes_read, last=False)
            due = max(
                TABLE_BYTES, min(2 * len(self._held), MAX_ROW_BYTES + 1)
            )  # a long row is not looked at again for each block
            if block.gap:
                self._lose("the row is cut off, and so may be the next: what lies between could not be read")
            elif len(self._held) > MAX_ROW_BYTES:
                self._lose(f"the row is longer than {MAX_ROW_BYTES:,} bytes, or a quote is not closed")
        yield from self._taken(bytes_read, last=True)
        if self._held and not self._skipping:
            rest = _line_count(self._held)
            self._lose(f"a quote is not closed: the row and what follows it, {rest:,} lines, are not read")

    def _taken(self, bytes_read: int, *, last: bool) -> Iterator[tuple[_Records, int]]:
        """Takes whole rows from what is held; with ``last`` one that no line break ends, too."""
        data = bytes(self._held)
        self.separator = self.separator or _separator_of(data)
        ends, lines, is_open = _row_ends(data, self.separator)
        if not last and len(ends) and ends[-1] == len(data) and data.endswith(b"\r"):
            ends, lines = ends[:-1], lines[:-1]  # an LF may follow
        if last and data and not is_open and (not len(ends) or ends[-1] < len(data)):
            ends, lines = np.append(ends, len(data)), np.append(lines, _line_count(data))
        if not len(ends):
            return
        del self._held[: int(ends[-1])]
        data = data[: int(ends[-1])]
        begins, lines = np.append(0, ends[:-1]), np.append(0, lines)
        if self._skipping:
            begins, lines = begins[1:], lines[1:]
            self._skipping = False
        records = _Records(data, begins, lines[:-1] + self._line).filled()
        self._line += int(lines[-1])
        if not self.names and len(records.begins):
            records = self._named(records)
        if len(records.begins):
            yield records, bytes_read

    def _named(self, records: _Records) -> _Records:
        """The rows behind the first, which names the columns."""
        end = int(records.begins[1]) if len(records.begins) > 1 else len(records.data)
        head = records.data[int(records.begins[0]) : end].decode(errors="replace")
        self.names = next(csv.reader(io.StringIO(head, newline=""), delimiter=self.separator.decode()))
        return records._replace(begins=records.begins[1:], lines=records.lines[1:])

    def _lose(self, reason: str) -> None:
        """Tells of the row that is held in part, and leaves it out, as far as it goes."""
        held = bytes(self._held)
        if not self._skipping:
            self.dead_letters(DeadLetter(self.name, f"line {self._line}", reason, held[:EXCERPT_BYTES]))
        self._line += _line_count(held)
        self._held.clear()
        if held and _row_ends(held, self.separator)[2]:
            self._held += b'"'  # the field goes on
        elif held.endswith(b'"'):
            self._held += b'""'  # it does if another quote follows
        self._skipping = True


class _Wanted:
    """The columns that are asked for, and how Arrow is to read them."""

    def __init__(self, rows: _Rows, column: str | None, asked: list[str] | None, typed: bool) -> None:
        import pyarrow.csv as arrow

        self.rows, self.arrow = rows, arrow
        names = rows.names
        self.text = "text" if typed else column or only_text(names, names, rows.name)
        if asked is None and len(set(names)) < len(names):  # of those that nobody asked for, the first
            asked = list(dict.fromkeys(names))
        exact = [name for name in names if name in IDENTITY] if typed else names
        self.convert = arrow.ConvertOptions(
            column_types={name: pa.large_string() for name in exact},
            include_columns=asked,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            check_utf8=typed,  # else what is no UTF-8 is a matter of single rows
        )

    def part(self, records: _Records, bytes_read: int) -> Part | None:
        """The rows as a table; those with too few or too many fields are told."""
        arrow, rows = self.arrow, self.rows
        bad: list[int] = []

        def skip(row: Any) -> str:
            at = row.number - 1
            reason = f"the row has {row.actual_columns} fields, the first row {row.expected_columns}"
            excerpt = row.text.encode(errors="replace")[:EXCERPT_BYTES]
            rows.dead_letters(DeadLetter(rows.name, f"line {records.lines[at]}", reason, excerpt))
            bad.append(at)
            return "skip"

        data = pa.py_buffer(records.data)
        read = arrow.ReadOptions(column_names=rows.names, use_threads=False, block_size=len(data) + 1)
        parse = arrow.ParseOptions(delimiter=rows.separator.decode(), newlines_in_values=True, invalid_row_handler=skip)
        numbers = records.lines
        try:
            table = arrow.read_csv(pa.BufferReader(data), read, parse, self.convert)
            numbers = np.delete(numbers, bad)
            problem = "" if len(table) == len(numbers) else f"{len(numbers)} rows became {len(table)}"
        except (pa.ArrowException, OSError, ValueError) as error:
            problem = said(error)
        if problem:
            place = f"lines {records.lines[0]} to {records.lines[-1]}"
            reason = f"cannot be read as .csv: {problem}"
            rows.dead_letters(DeadLetter(rows.name, place, reason, records.data[:EXCERPT_BYTES]))
            return None
        if self.text in table.column_names:
            at = table.column_names.index(self.text)
            table = table.set_column(at, self.text, table.column(at).fill_null(""))
        return Part(table, "line", numbers.tolist(), bytes_read, self.text) if len(table) else None


def _separator_of(data: bytes) -> bytes:
    """What the first line has most of; a comma where it has none."""
    first = next((line for line in data[:_HEAD_BYTES].splitlines() if line), b"")
    return max((bytes([each]) for each in _SEPARATORS), key=first.count)


def _row_ends(data: bytes, separator: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], bool]:
    """(where each row ends behind its line break, how many lines end up to there, whether a quote is left open)."""
    values = np.frombuffer(data, np.uint8)
    breaks = values == _LF
    if b"\r" in data:
        returns = values == _CR
        returns[:-1] &= ~breaks[1:]  # CR LF is one line break
        breaks |= returns
    if b'"' not in data:
        ends = np.flatnonzero(breaks) + 1
        return ends, np.arange(1, len(ends) + 1), False
    inside = _inside(data, values, separator)
    ends = np.flatnonzero(breaks & ~inside) + 1
    return ends, np.searchsorted(np.flatnonzero(breaks), ends), bool(inside[-1])


def _inside(data: bytes, values: npt.NDArray[np.uint8], separator: bytes) -> npt.NDArray[np.bool_]:
    """Which bytes are those of quoted fields, without the quote that ends one."""
    quotes = values == _QUOTE
    inside = np.logical_xor.accumulate(quotes)
    # Each quote opens or closes, if what opens begins a field; of two inside a field, the first closes and the second
    # opens.
    begins = quotes | (values == separator[0]) | (values == _LF) | (values == _CR)
    if not (quotes[1:] & inside[1:] & ~begins[:-1]).any():
        return inside
    quotes[:] = False  # a quote inside a field that has none around it means nothing
    starts, is_open = separator + _ENDS, False
    at = data.find(b'"')
    while at >= 0:
        if not is_open:
            quotes[at] = is_open = at == 0 or data[at - 1] in starts
        elif data[at + 1 : at + 2] == b'"':
            at += 1
        else:
            quotes[at], is_open = True, False
        at = data.find(b'"', at + 1)
    return np.logical_xor.accumulate(quotes)


def _line_count(data: bytes | bytearray) -> int:
    return data.count(b"\n") + (data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else 0)
