"""Rows of tables to documents: which column holds the text, which rows cannot be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from .documents import EXCERPT_BYTES, DeadLetter, DeadLetters, Document
from .tables import Part


def documents(
    parts: Iterable[Part],
    file: str,
    dead_letters: DeadLetters,
    *,
    column: str | None,
    id_column: str | None,
    metadata: Sequence[str] = (),
) -> Iterator[Document]:
    """A document for each row whose text is text.

    ``column``: default, the only string column, else ``text``. ``id_column``: default ``id`` where there is one, else
    the file's name and the row's number. ``metadata``: columns kept beside them, as strings.

    Raises:
        ValueError: a column that is not there; it would be missing in every row.
    """
    for part in parts:
        table = part.table
        if column is None:
            column = only_text(table, file)
        if id_column is not None and part.unit == "row" and id_column not in table.column_names:
            raise ValueError(f"{file}: column {id_column!r} is not there; the columns are {_names(table)}")
        if part.unit == "row" and column not in table.column_names:
            raise ValueError(f"{file}: column {column!r} is not there; the columns are {_names(table)}")
        texts = _values(table, column)
        names = ids(part, file, id_column)
        more = [strings(table, name) for name in metadata]
        for row in range(table.num_rows):
            position = f"{part.unit} {part.numbers[row]}"
            text, reason = _text(texts[row], column)
            if reason:
                excerpt = _excerpt(texts[row])
                dead_letters(DeadLetter(file, position, reason, excerpt))
                continue
            kept = tuple(values[row] for values in more)
            yield Document(names[row], text, file, kept, len(text.encode()), part.bytes_read)


def ids(part: Part, file: str, id_column: str | None) -> list[str]:
    """The id of each row: its column's value, else the file's name and the row's number."""
    given = strings(part.table, id_column or "id")
    return [f"{file}#{number}" if name is None else name for name, number in zip(given, part.numbers, strict=True)]


def strings(table: pa.Table, name: str) -> list[str | None]:
    """A column's values as strings, None where there is none."""
    return [None if value is None else _string(value) for value in _values(table, name)]


def only_text(table: pa.Table, file: str) -> str:
    """The column of the text where none is named: the only string column, else ``text``."""
    names = [field.name for field in table.schema if "string" in str(field.type)]
    if len(names) == 1:
        return str(names[0])
    if "text" in table.column_names:
        return "text"
    listing = ", ".join(names) or "none"
    raise ValueError(f"{file}: column= must say which column holds the text; the string columns are: {listing}")


def _names(table: pa.Table) -> str:
    return ", ".join(table.column_names)


def _values(table: pa.Table, name: str) -> list[Any]:
    """A column as Python objects, None where it is not there; text as bytes where it is not valid UTF-8."""
    if name not in table.column_names:
        return [None] * table.num_rows
    values = table.column(name)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    try:
        return list(values.to_pylist())
    except UnicodeDecodeError:
        return list(values.cast(pa.large_binary()).to_pylist())


def _text(value: Any, column: str) -> tuple[str, str]:
    """(text, "") or ("", why it is none)."""
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
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return text.encode(errors="replace").decode()


def _excerpt(value: Any) -> bytes:
    return value[:EXCERPT_BYTES] if isinstance(value, bytes) else repr(value).encode(errors="replace")[:EXCERPT_BYTES]
