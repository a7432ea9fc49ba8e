"""The conversion of rows of tables to documents: the choice of the text column, and dead letters for bad rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from ...inputs.value_columns import NoTextColumnError, the_text
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters
from .table_parts import Part

#: The maximum number of columns that an error lists.
_LISTED = 20


class DocumentRows(NamedTuple):
    """The rows that are documents: their numbers in their part, their texts and ids."""

    rows: list[int]
    texts: list[str]
    ids: list[str]


def readable(
    part: Part,
    file: str,
    dead_letters: DeadLetters,
    column: str,
    id_column: str | None,
    needed: Sequence[str] = (),
) -> DocumentRows:
    """Return the rows that have a text, a readable id and all ``needed`` columns. Other rows become dead letters."""
    found = DocumentRows([], [], [])
    names = ids(part, file, id_column)
    lacking = [(name, part.table.column(name).is_null().to_pylist()) for name in needed]
    for row, (value, name) in enumerate(zip(_values(part.table, column), names, strict=True)):
        text, reason = _text(value, column)
        if not reason and isinstance(name, UnreadableValue):
            reason = name.reason
        if not reason:
            reason = next((f"column {each!r} is null" for each, is_null in lacking if is_null[row]), "")
        if reason:
            dead_letters(DeadLetter(file, f"{part.unit} {part.numbers[row]}", reason, _excerpt(value)))
            continue
        found.rows.append(row)
        found.texts.append(text)
        found.ids.append(name)
    return found


class UnreadableValue(str):
    """A placeholder for a value that Python cannot hold, such as a date in the year 100,000, with the reason."""

    @property
    def reason(self) -> str:
        """The reason as a plain string."""
        return str(self)


def ids(part: Part, file: str, id_column: str | None) -> list[str]:
    """Return the id of each row: its value in the column of ids; if that is null, the file's name and row number."""
    given = _strings(part.table, id_column or "id")
    return [f"{file}#{number}" if name is None else name for name, number in zip(given, part.numbers, strict=True)]


def _strings(table: pa.Table, name: str) -> list[str | None]:
    """Return a column's values as strings, with None for null."""
    return [None if value is None else _string(value) for value in _values(table, name)]


def only_text(strings: Sequence[str], names: Sequence[str], file: str) -> str:
    """Return the column of the text if the caller names none, as ``inputs.value_columns.the_text`` chooses it."""
    more = f" and {len(strings) - _LISTED} more" if len(strings) > _LISTED else ""
    try:
        return the_text(strings, names, (", ".join(strings[:_LISTED]) or "none") + more)
    except NoTextColumnError as error:
        raise NoTextColumnError(f"{file}: {error}") from None


def text_of(part: Part, file: str) -> str:
    """Return the column of a part's text if the caller names none."""
    schema = part.table.schema
    return part.column or only_text([field.name for field in schema if "string" in str(field.type)], schema.names, file)


def check_there(table: pa.Table, names: Sequence[str | None], file: str) -> None:
    """Raise ValueError if the table lacks a named column, because every row would lack it."""
    for name in names:
        if name is not None and name not in table.column_names:
            more = f" and {len(table.column_names) - _LISTED} more" if len(table.column_names) > _LISTED else ""
            listing = ", ".join(table.column_names[:_LISTED]) + more
            raise ValueError(f"{file}: column {name!r} is not there; the columns are {listing}: name one of them")


def _values(table: pa.Table, name: str) -> list[Any]:
    """Return a column as Python objects, all None if it does not exist.

    If some text is not valid UTF-8, all texts of the column are returned as bytes.
    """
    if name not in table.column_names:
        return [None] * table.num_rows
    values = table.column(name)
    try:
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        return list(values.to_pylist())
    except UnicodeDecodeError:
        try:
            return list(values.cast(pa.large_binary()).to_pylist())
        except pa.ArrowException:  # the invalid text is inside lists
            return [_value(value, name) for value in values]
    except (ValueError, OverflowError, pa.ArrowException):
        return [_value(value, name) for value in values]


def _value(value: pa.Scalar, name: str) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError, pa.ArrowException) as error:
        return UnreadableValue(f"column {name!r} holds a value that cannot be read: {error}")


def _text(value: Any, column: str) -> tuple[str, str]:
    """Return (text, ""), or ("", the reason) if the value is not text."""
    if isinstance(value, UnreadableValue):
        return "", value.reason
    if value is None:
        return "", f"column {column!r} is null"
    if isinstance(value, bytes):
        try:
            return value.decode(), ""
        except UnicodeDecodeError as error:
            return "", f"invalid UTF-8 at byte {error.start}"
    if not isinstance(value, str):
        return "", f"column {column!r} must be text, got {type(value).__name__}"
    try:
        value.encode()
    except UnicodeEncodeError as error:
        return "", f"lone surrogate at character {error.start}"
    return value, ""


def _string(value: Any) -> str:
    if isinstance(value, UnreadableValue):
        return value
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return text.encode(errors="replace").decode()


def _excerpt(value: Any) -> bytes:
    return value[:EXCERPT_BYTES] if isinstance(value, bytes) else repr(value).encode(errors="replace")[:EXCERPT_BYTES]
