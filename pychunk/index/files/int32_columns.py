"""Whole numbers of chunks in 32 bits on the disk: where they stand in their documents, mostly below 2^31.

A chunk table has ten columns of int64, and each sentence two numbers. In half of the bytes an index of articles takes
.14 times its text less, and .03 less with the places of terms and of their postings. A part holds a column, or its
sentences' spans, as int32 where all values of it fit, else as int64; its table's schema names what is narrower than it
was, so that any part beside any other is read as it was added. What leaves the index is int64 again (:func:`widened`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine.arrow import compute as pc
from ..._engine.data.columns import COLUMNS

#: The first version of an index in which they may be: older versions of pychunk would read them as int64.
SCHEMA = 6
#: In the metadata of a part's schema: names of what is int32 there and was int64.
KEY = b"pychunk.int32"
#: How the spans of sentences are called among the names; no column is.
SPANS = "sentences"
_OWN = frozenset(column.name for column in COLUMNS)
_LEAST, _MOST = -(1 << 31), (1 << 31) - 1

I64 = npt.NDArray[np.int64]


def fitting(table: pa.Table, spans: npt.NDArray[Any] | None) -> tuple[str, ...]:
    """What of a chunk table, and of its sentences' spans, fits 32 bits: columns of pychunk's own alone.

    Example:
        >>> fitting(pa.table({"start": [0, 7], "end": [5, 2**31], "year": [1, 2]}), np.array([[0, 5]]))
        ('start', 'sentences')
    """
    names = [field.name for field in table.schema if field.name in _OWN and field.type == pa.int64()]
    return tuple(name for name in [*names, *([SPANS] if spans is not None else [])] if _fits(table, spans, name))


def fits(table: pa.Table, spans: npt.NDArray[Any] | None, names: Sequence[str]) -> bool:
    """Whether all of these do."""
    return all(_fits(table, spans, name) for name in names)


def _fits(table: pa.Table, spans: npt.NDArray[Any] | None, name: str) -> bool:
    if name == SPANS:
        assert spans is not None
        return spans.size == 0 or bool(spans.min() >= _LEAST and spans.max() <= _MOST)
    ends = pc.min_max(table[name]).as_py()
    return ends["min"] is None or (ends["min"] >= _LEAST and ends["max"] <= _MOST)


def names(schema: pa.Schema) -> tuple[str, ...]:
    """What is narrower in a part's table than it was."""
    return tuple(json.loads((schema.metadata or {}).get(KEY, b"[]")))


def span_type(chosen: Sequence[str]) -> str:
    """The type of the spans of a part."""
    return "int32" if SPANS in chosen else "int64"


def narrowed(table: pa.Table, chosen: Sequence[str]) -> pa.Table:
    """A chunk table with columns as a part holds them.

    Raises:
        pa.ArrowInvalid: a value does not fit.
    """
    if not chosen:
        return table
    fields = [field.with_type(pa.int32()) if field.name in chosen else field for field in table.schema]
    metadata = {**(table.schema.metadata or {}), KEY: json.dumps(list(chosen)).encode()}
    return _cast(table, pa.schema(fields, metadata))


def widened_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of a part's table as they were added."""
    own = names(schema)
    if not own:
        return schema
    fields = [field.with_type(pa.int64()) if field.name in own else field for field in schema]
    return pa.schema(fields, {key: value for key, value in schema.metadata.items() if key != KEY} or None)


def widened(table: pa.Table, schema: pa.Schema | None = None) -> pa.Table:
    """A part's table, or with their ``schema`` those of several parts, as it was added; what is int64 is not copied.

    Example:
        >>> table = pa.table({"start": [0, 7], "end": [5, 2**31]})
        >>> stored = narrowed(table, fitting(table, None))
        >>> [str(column.type) for column in stored.columns], widened(stored).equals(table, check_metadata=True)
        (['int32', 'int64'], True)
    """
    return _cast(table, widened_schema(table.schema) if schema is None else schema)


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """With the types of a schema of the same columns; others are not touched."""
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


class Columns:
    """Columns of parts' tables as they were added, each made when it is asked for: a condition reads one or two.

    ``check`` is asked before columns are read, by name; None: all.
    """

    def __init__(
        self, stored: pa.Table, schema: pa.Schema, check: Callable[[Sequence[str] | None], None] | None = None
    ) -> None:
        self._stored, self._schema, self._check = stored, schema, check
        self.column_names, self.num_rows = stored.column_names, stored.num_rows

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        if self._check is not None:
            self._check([name])
        column, field = self._stored[name], self._schema.field(name)
        return column if column.type == field.type else column.cast(field.type)

    @property
    def table(self) -> pa.Table:
        """All of them."""
        if self._check is not None:
            self._check(None)
        return widened(self._stored, self._schema)
