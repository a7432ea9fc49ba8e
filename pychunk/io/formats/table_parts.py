"""The parts of bounded size that readers of tables yield, the choice of columns, and checks of batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from ..._engine.data.columns import current_names
from ..._util.memory import check_memory

#: The approximate size of one table's text, in bytes.
TABLE_BYTES = 16 << 20
#: The maximum size of one table's text, in bytes, if a file may store a long value once for many rows, and each row
#: gets a Python object of it. Dictionaries, views and run-end encoding store values in this way.
REPEATED_OBJECTS = 256 << 20


_STRINGS = ("id", "document_id", "text", "chunk_id", "text_id", "relevance")


def columns_of_strings(names: Sequence[str]) -> list[str]:
    """Return the columns that stay strings when types are inferred, because an id such as 007 is not a number.

    Example:
        >>> columns_of_strings(["document_index", "document_id", "text", "year"])
        ['document_id', 'text']
        >>> columns_of_strings(["document", "id", "chunk", "text", "kind", "relevance"])  # of an older version
        ['id', 'text', 'kind']
    """
    named = zip(names, current_names(list(names)), strict=True)
    return [name for name, current in named if current in _STRINGS]


class Part(NamedTuple):
    """A part of a file: some consecutive rows with their numbers.

    Attributes:
        table: The rows.
        unit: The word for a row in errors: row, line or element.
        numbers: The number of each row, from 1.
        bytes_read: The bytes of the file up to the end of this part.
        column: The column of the text, if known.
    """

    table: pa.Table
    unit: str
    numbers: Sequence[int]
    bytes_read: int
    column: str | None = None


def wanted_of(names: list[str], columns: list[str] | None, optional: Sequence[str]) -> list[str] | None:
    """Return the columns to read, which are ``columns`` and the existing ``optional`` ones, or None for all.

    All columns are read if ``columns`` is None, or names a column that does not exist.

    Raises:
        ValueError: A column to read exists twice.
    """
    for name in [*(columns or ["text"]), *optional]:
        if (times := names.count(name)) > 1:
            raise ValueError(f"column {name!r} occurs {times} times: rename all but one")
    if columns is None or not set(columns) <= set(names):
        return None
    return list(dict.fromkeys([*columns, *(column for column in optional if column in names)]))


def check(batch: pa.RecordBatch) -> None:
    """Check that a batch refers only to its own memory. Arrow does not check this, and could crash later.

    This function does not check for valid UTF-8, because invalid UTF-8 is reported for single rows.

    Raises:
        ValueError: A column is not valid.
    """
    for name, values in zip(batch.schema.names, batch.columns, strict=True):
        try:
            as_bytes(values).validate(full=True)
        except Exception as error:
            check_memory(error)
            raise ValueError(f"column {name!r}: {said(error)}") from None


def as_bytes(values: pa.Array) -> pa.Array:
    """Return an array of text as the corresponding binary type, and any other array unchanged."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values.indices.validate(full=True)
        return pa.DictionaryArray.from_arrays(values.indices, as_bytes(values.dictionary))
    plain = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}.get(str(kind))
    if plain is None:
        return values
    values.validate()
    return values.view(getattr(pa, plain)())


def said(error: Exception) -> str:
    """Return the message of an error, or the name of its class if it has none."""
    return str(error) or type(error).__name__
