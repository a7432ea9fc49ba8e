"""The parts of bounded size that readers of tables yield, the choice of columns, and checks of what was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from ..._engine.data.columns import current_names
from ..._util.memory_errors import check_memory

#: The approximate text of one table, in bytes.
TABLE_BYTES = 16 << 20
#: The maximum size of one table's text, in bytes, if a file stores repeated long values once and each value becomes a
#: Python object. Dictionaries, views and runs store values in this way.
REPEATED_OBJECTS = 256 << 20


_STRINGS = ("id", "document_id", "text", "chunk_id", "relevance")


def columns_of_strings(names: Sequence[str]) -> list[str]:
    """Return the columns that are strings whenever types are found, since an id such as 007 is not a number.

    Example:
        >>> columns_of_strings(["document_index", "document_id", "text", "year"])
        ['document_id', 'text']
        >>> columns_of_strings(["document", "id", "chunk", "text", "kind", "relevance"])  # of an older version
        ['id', 'text', 'kind']
    """
    named = zip(names, current_names(list(names)), strict=True)
    return [name for name, current in named if current in _STRINGS]


class Part(NamedTuple):
    """A part of a file: rows, with the number from 1 of each.

    Attributes:
        table: The rows.
        unit: The word for a row: row or line.
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
    """Return ``columns`` and the existing ``optional`` ones to read; None (all) if some of ``columns`` are missing.

    Raises:
        ValueError: A column exists twice.
    """
    for name in [*(columns or ["text"]), *optional]:
        if (times := names.count(name)) > 1:
            raise ValueError(f"column {name!r} occurs {times} times: rename all but one")
    if columns is None or not set(columns) <= set(names):
        return None
    return list(dict.fromkeys([*columns, *(column for column in optional if column in names)]))


def check(batch: pa.RecordBatch) -> None:
    """Raise if a batch refers to memory that is not its own; Arrow trusts what it reads, and would crash later.

    This function does not check for valid UTF-8, which concerns single rows only.

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
    """Return text as an array of the corresponding binary type."""
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
