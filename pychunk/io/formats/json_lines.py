r"""The reader of JSON Lines, to Arrow tables of bounded size; ids and texts stay strings as they are written.

A line is one object of strict JSON (RFC 8259) in strict UTF-8 of at most ``MAX_LINE_BYTES`` and 512 levels. It ends
with LF, CR LF or CR. Any other line becomes a dead letter, and reading goes on with the next line.

- ``-0``, ``1e400`` and integers of any size stay as they are written. ``NaN``, ``Infinity`` and ``-Infinity`` are not
  JSON, but Python writes them, and the reader accepts them as numbers.
- A string is kept unchanged: ``\u0000`` is a character, and "2020-01-01" is not a date. Half a surrogate pair
  (``\ud800``) is not text. A row with one in the text or the id becomes a dead letter. In other columns it becomes
  U+FFFD, and in columns that are not read it has no effect.
- A key that is read must not occur twice. Other keys are not checked.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine import native
from ...defaults import BYTES
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters
from . import json_paths
from .row_documents import only_text
from .table_parts import TABLE_BYTES, Part, columns_of_strings

#: The maximum size of one line in bytes.
MAX_LINE_BYTES = BYTES.json
_KIND = {name: number for number, name in enumerate(native.JSON_KINDS)}
_STRINGS = 1 << _KIND["string"] | 1 << _KIND["surrogate"]
#: The maximum number of keys that a warning lists.
_LISTED = 10
#: The numbers that Python writes, but that JSON does not have.
_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}
#: The Python names of values that are not text.
_PYTHON = {"integer": "int", "float": "float", "boolean": "bool", "array": "list", "object": "dict"}


def parts(
    blocks: Iterable[Block],
    name: str,
    dead_letters: DeadLetters,
    *,
    column: str | None = None,
    ids: str | None = None,
    metadata_columns: Sequence[str] = (),
    written: Sequence[str] = (),
    elsewhere: Sequence[str] = (),
) -> Iterator[Part]:
    """Yield parts with the requested columns: text and ids as strings, others in the type that all values have.

    A name with dots that is not a key is a path into objects, such as ``meta.author``. Rows without text become dead
    letters.

    If no row of a part has a named column, the reader warns once, except for columns in ``elsewhere``. This is not an
    error, because later parts may have the column. Whether there is an error should not depend on where parts end.

    Args:
        blocks: The bytes of the file.
        name: The name of the file.
        dead_letters: The callable that gets dead letters.
        column: The column of the text. None: the only column that holds strings in the first lines, else ``text``.
        ids: The column of ids; the default is ``id``. A number becomes a string of its digits.
        metadata_columns: Other columns, in the types that ``_Columns.typed`` gives them.
        written: The columns of ``metadata_columns`` that become strings whatever their values are.
        elsewhere: The columns of ``metadata_columns`` that other files of the source have.

    Raises:
        ValueError: ``column`` is None, several columns hold strings, and none is called ``text``.
    """
    named = [
        each for each in dict.fromkeys((column, ids, *metadata_columns)) if each is not None and each not in elsewhere
    ]
    for lines, first, bytes_read in _whole_lines(blocks, name, dead_letters):
        if column is None and (keys := _keys(lines)):
            column = only_text([key for key, kinds in keys if kinds & _STRINGS], [key for key, _ in keys], name)
        text, id_ = column or "text", ids or "id"
        found = _Columns(lines, [text, id_, *metadata_columns])
        named = [each for each in named if not found.warn(each, first, name)]
        found.refuse(text, id_)
        found.tell(first, name, dead_letters)
        if len(found.spans):
            yield Part(found.typed((text, id_, *written)), "line", found.numbers(first), bytes_read, column)


def typed(blocks: Iterable[Block], name: str, dead_letters: DeadLetters) -> Iterator[Part]:
    """Yield parts with all columns; ids and texts are strings. This is for files that pychunk wrote, such as chunks."""
    for lines, first, bytes_read in _whole_lines(blocks, name, dead_letters):
        found = _Columns(lines, [key for key, _ in _keys(lines)])
        found.tell(first, name, dead_letters)
        if len(found.spans):
            yield Part(found.typed(columns_of_strings(list(found.columns))), "line", found.numbers(first), bytes_read)


def _whole_lines(blocks: Iterable[Block], name: str, dead_letters: DeadLetters) -> Iterator[tuple[bytes, int, int]]:
    """Yield about 16 MB of whole lines at a time, the number of lines before them, and the number of bytes read."""
    held: list[bytes] = []
    size = whole = line = bytes_read = 0  # ``size``: the bytes in ``held``; ``whole``: how many of them are whole lines
    skipping = False  # whether the next bytes are the rest of a line that is too long
    for block in blocks:
        bytes_read, data = block.bytes_read, block.data
        if skipping and not block.gap:
            ends = [at for at in (data.find(b"\n"), data.find(b"\r")) if at >= 0]
            if not ends:
                continue
            data, skipping = data[min(ends) :], False
        held.append(data)
        whole = size + end if (end := _last_end(data)) else whole
        size += len(data)
        too_long = size - whole > MAX_LINE_BYTES
        if not (block.gap or too_long or (whole and size >= TABLE_BYTES)):
            continue
        joined = b"".join(held)
        lines, rest = joined[:whole], joined[whole:]
        del joined
        held, size, whole = [rest], len(rest), 0
        if lines:
            yield lines, line, bytes_read
            line += _line_count(lines)
        if block.gap or too_long:
            if rest.strip():
                reason = f"the line is longer than {MAX_LINE_BYTES:,} bytes" if too_long else "the line is cut off"
                dead_letters(DeadLetter(name, f"line {line + 1}", reason, rest[:EXCERPT_BYTES]))
            held, size, skipping = [], 0, too_long
    if size:
        yield b"".join(held), line, bytes_read


def _last_end(data: bytes) -> int:
    """Return the end of the last whole line, or 0 if there is none.

    A CR at the very end does not count, because an LF may follow it.
    """
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, max(0, len(data) - 1))) + 1


def _line_count(lines: bytes) -> int:
    return lines.count(b"\n") + (lines.count(b"\r") - lines.count(b"\r\n") if b"\r" in lines else 0)


def _keys(lines: bytes) -> list[tuple[str, int]]:
    return native.json_keys(np.frombuffer(lines, np.uint8))


class _Columns:
    """The requested columns of some lines, and the kinds of their values.

    ``spans`` has (line, begin, end) of each row. ``faults`` has the lines that cannot be used, with the reasons.
    """

    def __init__(self, lines: bytes, wanted: Sequence[str]) -> None:
        names = list(dict.fromkeys(wanted))
        heads = [head for name in names for head in json_paths.heads(name) if head not in names]
        read = [*names, *dict.fromkeys(heads)]
        self.lines = lines
        self.spans, found, self.faults = native.read_json_lines(np.frombuffer(lines, np.uint8), read)
        columns = {name: (_strings(*each), each[2]) for name, each in zip(read, found, strict=True)}
        self.columns = {name: json_paths.followed(name, columns) if "." in name else columns[name] for name in names}

    def refuse(self, column: str, id_column: str) -> None:
        """Move rows whose text or id cannot be used to ``faults``."""
        kinds, of_ids = self.columns[column][1], self.columns[id_column][1]
        good = kinds == _KIND["string"]
        fine = good & (of_ids != _KIND["surrogate"])
        if fine.all():
            return
        bad = np.flatnonzero(~fine)
        for row, (line, begin, end) in zip(bad.tolist(), self.spans[bad].tolist(), strict=True):
            reason = _reason(id_column, int(of_ids[row])) if good[row] else _reason(column, int(kinds[row]))
            self.faults.append((line, begin, end, reason))
        self.faults.sort()
        rows = pa.array(np.flatnonzero(fine))
        self.columns = {name: (values.take(rows), kinds[fine]) for name, (values, kinds) in self.columns.items()}
        self.spans = self.spans[fine]

    def warn(self, column: str, first: int, name: str) -> bool:
        """Warn of a column that no row has, if there are rows, and return whether it warned."""
        kinds = self.columns[column][1]
        if not len(kinds) or (kinds != _KIND["missing"]).any():
            return False
        keys = [key for key, _ in _keys(self.lines)]
        own = keys if "." not in column else [*keys, *json_paths.paths(self.lines[: 1 << 16])]
        close = get_close_matches(column, own, 1)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        more = f" and {len(keys) - _LISTED} more" if len(keys) > _LISTED else ""
        warnings.warn(
            f"{name}, from line {first + 1}: none of {len(kinds):,} rows has the key {column!r}{meant}; the keys are "
            f"{', '.join(keys[:_LISTED]) or 'none'}{more}",
            stacklevel=3,
        )
        return True

    def tell(self, first: int, name: str, dead_letters: DeadLetters) -> None:
        for line, begin, end, reason in self.faults:
            excerpt = self.lines[begin : min(end, begin + EXCERPT_BYTES)]
            dead_letters(DeadLetter(name, f"line {first + line + 1}", reason, excerpt))

    def numbers(self, first: int) -> list[int]:
        return list((self.spans[:, 0] + first + 1).tolist())

    def typed(self, exact: Sequence[str]) -> pa.Table:
        """Return a table of all columns.

        A column in ``exact`` is a string. Another column has the type that all its values have. If they have several
        types, it becomes a string, with values as Python writes them.
        """
        return pa.table({name: each[0] if name in exact else _typed(*each) for name, each in self.columns.items()})


def _strings(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], kinds: npt.NDArray[np.uint8]
) -> pa.LargeStringArray:
    present = kinds > _KIND["null"]
    valid = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(pa.large_string(), len(kinds), [valid, pa.py_buffer(offsets), pa.py_buffer(text)])


def _typed(values: pa.LargeStringArray, kinds: npt.NDArray[np.uint8]) -> pa.Array:
    """Return values as integers, floats, booleans or lists if all have this type. Other values become strings."""
    held = {native.JSON_KINDS[kind] for kind in np.unique(kinds)} - {"missing", "null"}
    try:
        if not held:
            return pa.nulls(len(values))
        if held == {"integer"}:
            return values.cast(pa.int64())
        if held <= {"integer", "float"}:
            numbers = values.cast(pa.float64())
            beyond = np.flatnonzero(~np.isfinite(numbers.fill_null(0)))
            written = set(values.take(pa.array(beyond)).to_pylist())
            return numbers if written <= _NOT_FINITE else values  # 1e400 does not fit, so all stay as they are written
        if held == {"boolean"}:
            return values.cast(pa.bool_())
        if held == {"array"}:
            return pa.array([None if value is None else json.loads(value) for value in values.to_pylist()])
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        pass  # the values are too large for 64 bits, or the lists hold values that cannot be combined
    return _as_python(values, kinds)


def _as_python(values: pa.LargeStringArray, kinds: npt.NDArray[np.uint8]) -> pa.LargeStringArray:
    named = np.isin(kinds, [_KIND[name] for name in ("boolean", "array", "object")])
    if not named.any():
        return values
    found = values.to_pylist()
    for row in np.flatnonzero(named).tolist():
        written = str(json.loads(found[row]))
        found[row] = written.encode(errors="replace").decode()  # a list may hold half a surrogate pair
    return pa.array(found, pa.large_string())


def _reason(column: str, kind: int) -> str:
    name = native.JSON_KINDS[kind]
    if name in ("missing", "null"):
        return f"column {column!r} is null"
    if name == "surrogate":
        return f"lone surrogate in column {column!r}"
    return f"column {column!r} must be text, got {_PYTHON[name]}"
