"""What readers of tables share: parts of bounded size, the columns that are wanted, checks of what was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from ..._util.memory_errors import check_memory

#: Text of one table, roughly.
TABLE_BYTES = 16 << 20
#: Text of one table at most where a file's rows repeat long values, which it holds once, and each value becomes an
#: object of Python, as those of dictionaries, views and runs do.
REPEATED_OBJECTS = 256 << 20


#: Columns that are strings wherever types are found: an id such as 007 is no number.
IDENTITY = ("id", "text", "chunk_id", "kind")


class Part(NamedTuple):
    """Rows of a file, with the number from 1 of each ``unit``: row or line; ``column``: that of the text, if known."""

    table: pa.Table
    unit: str
    numbers: Sequence[int]
    bytes_read: int
    column: str | None = None


def wanted_of(names: list[str], columns: list[str] | None, optional: Sequence[str]) -> list[str] | None:
    """The columns to be read: where all ``columns`` are there, those and the ``optional`` that are; else all (None).

    Raises:
        ValueError: one of them is there twice.
    """
    for name in [*(columns or ["text"]), *optional]:
        if (times := names.count(name)) > 1:
            raise ValueError(f"column {name!r} is there {times} times: rename all but one")
    if columns is None or not set(columns) <= set(names):
        return None
    return list(dict.fromkeys([*columns, *(column for column in optional if column in names)]))


def check(batch: pa.RecordBatch) -> None:
    """Raises where a batch refers to memory that is not its own: Arrow trusts what it reads, and would crash later.

    Whether text is valid UTF-8 is not asked here: that is a matter of single rows.
    """
    for name, values in zip(batch.schema.names, batch.columns, strict=True):
        try:
            as_bytes(values).validate(full=True)
        except Exception as error:
            check_memory(error)
            raise ValueError(f"column {name!r}: {said(error)}") from None


def as_bytes(values: pa.Array) -> pa.Array:
    """Text under the type of bytes."""
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
    return str(error) or type(error).__name__
