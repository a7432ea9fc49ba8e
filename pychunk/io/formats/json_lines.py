"""JSON Lines files to Arrow tables of bounded size, without guessing types: ids and texts are what the file says.

A line is one object of strict JSON (RFC 8259) in strict UTF-8 of at most ``MAX_LINE_BYTES`` and 512 levels; it ends
with LF, CR LF or CR. Whatever else a line is, it is a dead letter and ends nothing but itself:

- ``-0``, ``1e400`` and integers of any size stay as they are written. ``NaN``, ``Infinity`` and ``-Infinity`` are no
  JSON, but Python writes them, and they are numbers here.
- A string is kept as it is: ``\\u0000`` is a character, "2020-01-01" is no date. Half a surrogate pair (``\\ud800``) is
  no text: a dead letter where it is in the text or the id, U+FFFD in other columns, of no account elsewhere.
- A key that is read must not be there twice; of other keys nothing is asked.
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
from .table_parts import IDENTITY, TABLE_BYTES, Part

#: Bytes that one line may have.
MAX_LINE_BYTES = BYTES.json
_KIND = {name: number for number, name in enumerate(native.JSON_KINDS)}
_STRINGS = 1 << _KIND["string"] | 1 << _KIND["surrogate"]
#: Keys that a warning lists.
_LISTED = 10
#: Numbers that are none in JSON, as Python writes them.
_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}
#: What Python calls a value that is no text.
_PYTHON = {"integer": "int", "float": "float", "boolean": "bool", "array": "list", "object": "dict"}


def parts(
    blocks: Iterable[Block],
    name: str,
    dead_letters: DeadLetters,
    *,
    column: str | None = None,
    ids: str | None = None,
    keep: Sequence[str] = (),
    written: Sequence[str] = (),
    elsewhere: Sequence[str] = (),
) -> Iterator[Part]:
    """Parts with the columns that are asked for: text and ids as strings, others in the type that all values have.

    Of all of them, a name with dots that is no key is a path into objects: ``meta.author``.

    ``column``: that of the text; None: the only one that holds strings in the first lines, else ``text``.
    ``ids``: of ids, default ``id``; a number is its digits. ``keep``: others, as ``_Columns.typed`` has them; those
    of ``written`` are strings, whatever their values are. Rows without text are dead letters.

    A column that was named and that no row of a part has is warned of, once, but those of ``elsewhere``, which other
    files have: nobody can say before the end of the file that there is none, and where an error came would depend on
    where parts end.

    Raises:
        ValueError: several columns hold strings, and ``column`` names none.
    """
    named = [each for each in dict.fromkeys((column, ids, *keep)) if each is not None and each not in elsewhere]
    for lines, first, bytes_read in _whole_lines(blocks, name, dead_letters):
        if column is None and (keys := _keys(lines)):
            column = only_text([key for key, kinds in keys if kinds & _STRINGS], [key for key, _ in keys], name)
        text, id_ = column or "text", ids or "id"
        found = _Columns(lines, [text, id_, *keep])
        named = [each for each in named if not found.warn(each, first, name)]
        found.refuse(text, id_)
        found.tell(first, name, dead_letters)
        if len(found.spans):
            yield Part(found.typed((text, id_, *written)), "line", found.numbers(first), bytes_read, column)


def typed(blocks: Iterable[Block], name: str, dead_letters: DeadLetters) -> Iterator[Part]:
    """Parts with all columns, for files that a program made, such as chunks: ids and texts are strings."""
    for lines, first, bytes_read in _whole_lines(blocks, name, dead_letters):
        found = _Columns(lines, [key for key, _ in _keys(lines)])
        found.tell(first, name, dead_letters)
        if len(found.spans):
            yield Part(found.typed(IDENTITY), "line", found.numbers(first), bytes_read)


def _whole_lines(blocks: Iterable[Block], name: str, dead_letters: DeadLetters) -> Iterator[tuple[bytes, int, int]]:
    """(some 16 MB of whole lines, how many lines come before them, bytes read)."""
    held: list[bytes] = []
    size = whole = line = bytes_read = 0  # bytes held, and those of them that are whole lines
    skipping = False  # the rest of a line that is too long
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
    """Where the last whole line ends, 0 where none does; behind a CR at the end an LF may follow."""
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, max(0, len(data) - 1))) + 1


def _line_count(lines: bytes) -> int:
    return lines.count(b"\n") + (lines.count(b"\r") - lines.count(b"\r\n") if b"\r" in lines else 0)


def _keys(lines: bytes) -> list[tuple[str, int]]:
    return native.json_keys(np.frombuffer(lines, np.uint8))


class _Columns:
    """The wanted columns of some lines with the kinds of their values; ``spans``: (line, begin, end) of each row."""

    def __init__(self, lines: bytes, wanted: Sequence[str]) -> None:
        names = list(dict.fromkeys(wanted))
        heads = [head for name in names for head in json_paths.heads(name) if head not in names]
        read = [*names, *dict.fromkeys(heads)]
        self.lines = lines
        self.spans, found, self.faults = native.read_json_lines(np.frombuffer(lines, np.uint8), read)
        columns = {name: (_strings(*each), each[2]) for name, each in zip(read, found, strict=True)}
        self.columns = {name: json_paths.followed(name, columns) if "." in name else columns[name] for name in names}

    def refuse(self, column: str, id_column: str) -> None:
        """Rows whose text or id cannot be used become faults."""
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
        """Warns of a column that no row has, if there are rows; whether it did."""
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
        """All columns; those not in ``exact`` in the type that all their values have, else as Python writes them."""
        return pa.table({name: each[0] if name in exact else _typed(*each) for name, each in self.columns.items()})


def _strings(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], kinds: npt.NDArray[np.uint8]
) -> pa.LargeStringArray:
    present = kinds > _KIND["null"]
    valid = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(pa.large_string(), len(kinds), [valid, pa.py_buffer(offsets), pa.py_buffer(text)])


def _typed(values: pa.LargeStringArray, kinds: npt.NDArray[np.uint8]) -> pa.Array:
    """Whole numbers, numbers, booleans or lists where all values are such; objects and mixed ones are strings."""
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
            return numbers if written <= _NOT_FINITE else values  # 1e400 is what is written
        if held == {"boolean"}:
            return values.cast(pa.bool_())
        if held == {"array"}:
            return pa.array([None if value is None else json.loads(value) for value in values.to_pylist()])
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        pass  # too large for 64 bits, or lists of values that do not go together
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
