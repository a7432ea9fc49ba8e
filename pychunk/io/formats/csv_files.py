"""The reader of CSV and TSV, to Arrow tables of bounded size; every field is a string, as the file writes it.

The first row names the columns. Quoted fields may hold line breaks. An empty field without quotes is null, but in the
column of the text it is an empty text. A row becomes a dead letter if it has more or fewer fields than the first row,
or more than ``MAX_ROW_BYTES``. It also becomes one if a quote seems to begin a field but does not, as ``csv_quotes``
defines it. Reading then goes on after the row's first line. Errors name a row by the line in which it begins.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine import native
from ..._util.counting import counted
from ..._util.memory import check_memory
from ...defaults import BYTES
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters
from . import csv_quotes
from .row_documents import only_text
from .table_parts import TABLE_BYTES, Part, columns_of_strings, said, wanted_of
from .text_files import not_text

#: The maximum size of one row in bytes.
MAX_ROW_BYTES = BYTES.csv_row
#: The maximum number of rows of one table. It is limited because a row may have only two bytes.
_ROWS = 1 << 16
#: The possible separators if the file's name implies none. Spreadsheets in some countries write a semicolon or a tab.
_SEPARATORS = b",;\t"
_ENDS = (b"\r", b"\n")
_CR, _LF = 0x0D, 0x0A
#: The number of bytes at the beginning of a file in which the first line is searched.
_HEAD_BYTES = 1 << 20


def parts(
    blocks: Iterable[Block],
    name: str,
    dead_letters: DeadLetters,
    columns: list[str] | None = None,
    optional: Sequence[str] = (),
    *,
    separator: bytes = b"",
    quotes: bool = True,
    typed: bool = False,
) -> Iterator[Part]:
    """Yield parts with the requested columns, as :func:`wanted_of` chooses them, all of them strings.

    Args:
        blocks: The bytes of the file.
        name: The name of the file.
        dead_letters: The callable that gets dead letters.
        columns: The columns to read; None for all.
        optional: The columns that are also read if they exist.
        separator: The separator. Default: the most frequent of comma, semicolon and tab in the first line.
        quotes: Whether quotation marks enclose fields; else they are ordinary characters.
        typed: Whether columns other than ids and texts get the types that Arrow infers. This is for files that a
            program wrote, such as chunks.
    """
    blocks = iter(blocks)
    first = next(blocks, None)
    if first is not None:
        if (reason := not_text(first.data)).startswith("text in"):
            dead_letters(DeadLetter(name, "whole file", reason, first.data[:EXCERPT_BYTES]))
            return
        blocks = chain([first], blocks)
    rows = _Rows(name, dead_letters, quotes=quotes)
    wanted: _ColumnRequest | None = None
    for records, bytes_read in rows.read(blocks, separator):
        if wanted is None:
            try:
                asked = wanted_of(rows.names, columns, optional)
            except ValueError as error:
                dead_letters(DeadLetter(name, "line 1", f"cannot be read as .csv: {error}"))
                return
            wanted = _ColumnRequest(rows, columns[0] if columns else None, asked, typed)
        for some in records.some():
            if (part := wanted.part(some, bytes_read)) is not None:
                yield part


class _Records(NamedTuple):
    """A set of whole rows, with the byte and the line (counted from 1) at which each begins.

    ``told`` holds the dead letters of bad rows that were found among these rows, each with its line, in line order.
    """

    data: bytes
    begins: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]
    told: list[tuple[int, DeadLetter]]

    def some(self) -> Iterator[_Records]:
        """Yield ``_ROWS`` rows at a time."""
        left = self.told
        for at in range(0, max(1, len(self.begins)), _ROWS):
            begins, lines = self.begins[at : at + _ROWS], self.lines[at : at + _ROWS]
            if at + _ROWS < len(self.begins):
                end, line = int(self.begins[at + _ROWS]), int(self.lines[at + _ROWS])
                own, left = [each for each in left if each[0] < line], [each for each in left if each[0] >= line]
            else:
                end, own = len(self.data), left
            begin = int(begins[0]) if len(begins) else end
            yield _Records(self.data[begin:end], begins - begin, lines, own)

    def only(self, chosen: npt.NDArray[np.bool_]) -> _Records:
        """Return only the chosen rows and their bytes."""
        if chosen.all():
            return self
        sizes = np.diff(self.begins, append=len(self.data))[chosen]
        rows = np.flatnonzero(chosen)
        runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1) if len(rows) else []
        ends = np.append(self.begins[1:], len(self.data))
        data = b"".join(self.data[int(self.begins[run[0]]) : int(ends[run[-1]])] for run in runs)
        return self._replace(data=data, begins=np.cumsum(sizes) - sizes, lines=self.lines[chosen])

    def excerpt(self, row: int) -> bytes:
        """Return the first bytes of a row."""
        begin = int(self.begins[row])
        end = int(self.begins[row + 1]) if row + 1 < len(self.begins) else len(self.data)
        return self.data[begin:end].rstrip(b"\r\n")[:EXCERPT_BYTES]

    def filled(self) -> _Records:
        """Return the rows without empty lines, which Arrow skips."""
        at = np.frombuffer(self.data, np.uint8)[self.begins]
        filled = (at != _LF) & (at != _CR)
        return self._replace(begins=self.begins[filled], lines=self.lines[filled])


class _Rows:
    """A reader that cuts a file into sets of whole rows."""

    def __init__(self, name: str, dead_letters: DeadLetters, *, quotes: bool) -> None:
        self.name, self.dead_letters, self.quotes = name, dead_letters, quotes
        self.names: list[str] = []
        self.separator = b""
        self._line = 1  # the line in which the bytes of ``_held`` begin
        self._held = bytearray()  # the bytes that were read but not yet yielded as rows
        self._skipping = False  # whether ``_held`` begins inside a row that was already reported
        self._begun = False  # whether the first row was read
        self._nameless = False  # whether the first row, which names the columns, cannot be read

    def read(self, blocks: Iterable[Block], separator: bytes) -> Iterator[tuple[_Records, int]]:
        """Yield about 16 MB of rows at a time, without the first row, and the number of bytes read so far."""
        self.separator = separator
        bytes_read, due = 0, TABLE_BYTES
        for block in blocks:
            bytes_read = block.bytes_read
            self._held += block.data
            if len(self._held) < due and not block.gap:
                continue
            yield from self._taken(bytes_read)
            if len(self._held) > MAX_ROW_BYTES and not block.gap:
                yield from self._taken(bytes_read, give_up=True)
            if self._nameless:
                return
            # Wait until the bytes have doubled, so that a long row is not parsed again after each block.
            due = max(TABLE_BYTES, min(2 * len(self._held), MAX_ROW_BYTES + 1))
            if block.gap:
                self._lose("the row is cut off, and the next one may be, too: the bytes between them could not be read")
            elif len(self._held) > MAX_ROW_BYTES:
                self._lose(f"the row is longer than {MAX_ROW_BYTES:,} bytes, or a quote is not closed")
        yield from self._taken(bytes_read, last=True, give_up=True)
        if self._held and not self._skipping and not self._nameless:
            rest = _line_count(self._held)
            lost = counted(rest, "line")
            reason = f"a quote is not closed: the row and the rest of the file ({lost}) are not read; close the quote"
            self._lose(f"{reason}; {csv_quotes.ADVICE}")

    def _taken(self, bytes_read: int, *, last: bool = False, give_up: bool = False) -> Iterator[tuple[_Records, int]]:
        """Yield the whole rows in ``_held``. With ``last``, the last row needs no line break at its end."""
        data = bytes(self._held)
        if last and data and not data.endswith(_ENDS):
            data += b"\n"
        self.separator = self.separator or _separator_of(data)
        found = self._cut(data, last=last, give_up=give_up)
        if not self.names and self._named(data, found):
            found = self._cut(data, last=last, give_up=give_up)  # now the number of fields of a row is known
        ends, lines = found.ends, found.lines
        if not len(ends) or self._nameless:
            return
        del self._held[: int(ends[-1])]
        begins, before = np.append(0, ends[:-1]), np.append(0, lines[:-1])
        records = _Records(data[: int(ends[-1])], begins, before + self._line, [])
        chosen = np.ones(len(ends), bool)
        chosen[0] = not self._skipping
        for row, (reason, partial) in sorted(_letters(found).items()):
            if row < len(ends):
                line, excerpt = int(records.lines[row]), data[int(begins[row]) : int(ends[row])][:EXCERPT_BYTES]
                if chosen[row]:
                    letter = DeadLetter(self.name, f"line {line}", reason, excerpt, partial)
                    records.told.append((line, letter))
                chosen[row] &= partial
        self._skipping = False
        self._line += int(lines[-1])
        records = records.only(chosen).filled()
        if not self._begun and len(records.begins):
            self._begun = True
            records = records._replace(begins=records.begins[1:], lines=records.lines[1:])
        if len(records.begins) or records.told:
            yield records, bytes_read

    def _cut(self, data: bytes, *, last: bool, give_up: bool) -> csv_quotes.Cut:
        fields = len(self.names)
        return csv_quotes.cut(
            data,
            self.separator,
            self._line,
            fields,
            quotes=self.quotes,
            last=last,
            give_up=give_up,
            within=self._skipping,
        )

    def _named(self, data: bytes, found: csv_quotes.Cut) -> bool:
        """Read the names of the columns from the first row that is not empty; return whether there is one."""
        begin = 0
        for row, end in enumerate(found.ends.tolist()):
            if data[begin] not in (_CR, _LF):
                head = data[begin:end].decode(errors="replace")
                if row in found.bad:
                    line = self._line + (int(found.lines[row - 1]) if row else 0)
                    reason = f"the first row, which names the columns, cannot be read: {found.bad[row]}"
                    self.dead_letters(DeadLetter(self.name, f"line {line}", reason, data[begin:end][:EXCERPT_BYTES]))
                    self._nameless = True
                    return False
                form: dict[str, Any] = {} if self.quotes else {"quoting": csv.QUOTE_NONE}
                lines = io.StringIO(head, newline="")
                self.names = next(csv.reader(lines, delimiter=self.separator.decode(), **form))
                return True
            begin = end
        return False

    def _lose(self, reason: str) -> None:
        """Report the row that ``_held`` begins with, and skip the rest of the row."""
        held = bytes(self._held)
        if not self._skipping:
            self.dead_letters(DeadLetter(self.name, f"line {self._line}", reason, held[:EXCERPT_BYTES]))
        self._line += _line_count(held)
        self._held.clear()
        if held and self._cut(held, last=True, give_up=False).is_open:
            self._held += b'"'  # the lost bytes end inside a quoted field, which goes on
        elif held.endswith(b'"') and self.quotes:
            self._held += b'""'  # the quoted field goes on only if the next byte is a quote, too
        self._skipping = True


def _letters(found: csv_quotes.Cut) -> dict[int, tuple[str, bool]]:
    """Return the rows with a dead letter, by number, each with the reason and whether it is read nevertheless."""
    told = {row: (reason, True) for row, reason in found.told.items()}
    return told | {row: (reason, False) for row, reason in found.bad.items()}


class _ColumnRequest:
    """The columns that are requested, and the options with which Arrow reads them."""

    def __init__(self, rows: _Rows, column: str | None, asked: list[str] | None, typed: bool) -> None:
        import pyarrow.csv as arrow

        self.rows, self.arrow = rows, arrow
        names = rows.names
        self.text = "text" if typed else column or only_text(names, names, rows.name)
        if asked is None and len(set(names)) < len(names):
            # If several columns have the same name, and the caller did not name it, the first of them is read.
            asked = list(dict.fromkeys(names))
        exact = columns_of_strings(names) if typed else names
        self.convert = arrow.ConvertOptions(
            column_types={name: pa.large_string() for name in exact},
            include_columns=asked,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            check_utf8=typed,  # without types, invalid UTF-8 is reported later, for single rows
        )

    def part(self, records: _Records, bytes_read: int) -> Part | None:
        """Return the rows as a part, and report rows with too few or too many fields; None if no row is left."""
        arrow, rows = self.arrow, self.rows
        if native.find_invalid_utf8(np.frombuffer(records.data, np.uint8)) >= 0:
            records = self._counted(records)
        bad: list[int] = []
        told = list(records.told)

        def skip(row: Any) -> str:
            at = row.number - 1
            reason = f"the row has {row.actual_columns} fields, the first row {row.expected_columns}"
            excerpt = records.excerpt(at)
            told.append((int(records.lines[at]), DeadLetter(rows.name, f"line {records.lines[at]}", reason, excerpt)))
            bad.append(at)
            return "skip"

        if not len(records.begins):
            _tell(told, rows.dead_letters)
            return None
        data = pa.py_buffer(records.data)
        read = arrow.ReadOptions(column_names=rows.names, use_threads=False, block_size=len(data) + 1)
        parse = arrow.ParseOptions(
            delimiter=rows.separator.decode(),
            quote_char='"' if rows.quotes else False,
            newlines_in_values=True,
            invalid_row_handler=skip,
        )
        numbers = records.lines
        try:
            table = arrow.read_csv(pa.BufferReader(data), read, parse, self.convert)
            numbers = np.delete(numbers, bad)
            problem = "" if len(table) == len(numbers) else f"{len(numbers)} rows became {len(table)}"
        except (pa.ArrowException, OSError, ValueError) as error:
            check_memory(error)
            problem = said(error)
        _tell(told, rows.dead_letters)
        if problem:
            place = f"lines {records.lines[0]} to {records.lines[-1]}"
            reason = f"cannot be read as .csv: {problem}"
            rows.dead_letters(DeadLetter(rows.name, place, reason, records.data[:EXCERPT_BYTES]))
            return None
        if self.text in table.column_names:
            at = table.column_names.index(self.text)
            table = table.set_column(at, self.text, table.column(at).fill_null(""))
        return Part(table, "line", numbers.tolist(), bytes_read, self.text) if len(table) else None

    def _counted(self, records: _Records) -> _Records:
        """Return the rows with the right number of fields, and add dead letters for the other rows.

        Arrow could skip rows with a wrong number of fields itself. But if such a row is not UTF-8, it rejects all rows.
        """
        rows = self.rows
        counts = csv_quotes.fields_of(records.data, records.begins, rows.separator, quotes=rows.quotes)
        told = list(records.told)
        for row in np.flatnonzero(counts != len(rows.names)).tolist():
            reason = f"the row has {counts[row]} fields, the first row {len(rows.names)}"
            letter = DeadLetter(rows.name, f"line {records.lines[row]}", reason, records.excerpt(row))
            told.append((int(records.lines[row]), letter))
        return records.only(counts == len(rows.names))._replace(told=told)


def _separator_of(data: bytes) -> bytes:
    """Return the most frequent separator in the first line; a comma if there is none."""
    first = next((line for line in data[:_HEAD_BYTES].splitlines() if line), b"")
    return max((bytes([each]) for each in _SEPARATORS), key=first.count)


def _tell(told: list[tuple[int, DeadLetter]], dead_letters: DeadLetters) -> None:
    """Report dead letters in the order of their lines."""
    for _, letter in sorted(told, key=itemgetter(0)):
        dead_letters(letter)


def _line_count(data: bytes | bytearray) -> int:
    return data.count(b"\n") + (data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else 0)
