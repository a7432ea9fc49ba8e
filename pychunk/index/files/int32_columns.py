"""The storage of a chunk table's integers, which are positions in documents, in 32 bits instead of 64.

A chunk table has ten columns of int64, and each sentence has two such numbers. In 32 bits, they make an index of
articles smaller by 0.14 times the size of its text. Narrower types of terms' offsets and postings save a further 0.03
times the size of the text. A part stores a column, or the spans of its sentences, as int32 if all values fit, else as
int64. The schema of the part's table names the narrowed columns. All parts can therefore be read with the types with
which they were added: the index always returns int64 (:func:`widened`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine import arrow
from ..._engine.arrow import compute as pc
from ..._engine.data.columns import COLUMNS

#: The key in the metadata of a part's schema. Its value lists the columns that are stored as int32 but were int64.
KEY = b"pychunk.int32"
#: The name that stands for the sentences' spans in this list. No column of a part has it.
SPANS = "sentences"
_OWN = frozenset(column.name for column in COLUMNS)
_LEAST, _MOST = -(1 << 31), (1 << 31) - 1

I64 = npt.NDArray[np.int64]


def with_current_names(table: pa.Table) -> pa.Table:
    """Return the table of a part with the present names of columns, which older versions of pychunk named otherwise."""
    named = arrow.with_current_names(table)
    if named is table or KEY not in (table.schema.metadata or {}):
        return named
    new = dict(zip(table.column_names, named.column_names, strict=True))
    own = json.dumps([new.get(name, name) for name in names(table.schema)]).encode()
    return named.replace_schema_metadata({**table.schema.metadata, KEY: own})


def fitting(table: pa.Table, spans: npt.NDArray[Any] | None) -> tuple[str, ...]:
    """Return the names of pychunk's own int64 columns whose values fit 32 bits, and :data:`SPANS` if the spans do.

    Example:
        >>> fitting(pa.table({"start": [0, 7], "end": [5, 2**31], "year": [1, 2]}), np.array([[0, 5]]))
        ('start', 'sentences')
    """
    names = [field.name for field in table.schema if field.name in _OWN and field.type == pa.int64()]
    return tuple(name for name in [*names, *([SPANS] if spans is not None else [])] if _fits(table, spans, name))


def fits(table: pa.Table, spans: npt.NDArray[Any] | None, names: Sequence[str]) -> bool:
    """Return whether all values of the columns ``names``, which may include :data:`SPANS`, fit 32 bits."""
    return all(_fits(table, spans, name) for name in names)


def _fits(table: pa.Table, spans: npt.NDArray[Any] | None, name: str) -> bool:
    if name == SPANS:
        assert spans is not None
        return spans.size == 0 or bool(spans.min() >= _LEAST and spans.max() <= _MOST)
    ends = pc.min_max(table[name]).as_py()
    return ends["min"] is None or (ends["min"] >= _LEAST and ends["max"] <= _MOST)


def names(schema: pa.Schema) -> tuple[str, ...]:
    """Return the names of the columns of a part that were narrowed to int32."""
    return tuple(json.loads((schema.metadata or {}).get(KEY, b"[]")))


def span_type(chosen: Sequence[str]) -> str:
    """Return the type in which a part stores spans: int32 if ``chosen`` has :data:`SPANS`, else int64."""
    return "int32" if SPANS in chosen else "int64"


def narrowed(table: pa.Table, chosen: Sequence[str]) -> pa.Table:
    """Return a chunk table with the columns ``chosen`` as int32, as a part stores it.

    Raises:
        pa.ArrowInvalid: A value does not fit.
    """
    if not chosen:
        return table
    fields = [field.with_type(pa.int32()) if field.name in chosen else field for field in table.schema]
    metadata = {**(table.schema.metadata or {}), KEY: json.dumps(list(chosen)).encode()}
    return _cast(table, pa.schema(fields, metadata))


def widened_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema of a part's table as it was added, with int64 instead of int32."""
    own = names(schema)
    if not own:
        return schema
    fields = [field.with_type(pa.int64()) if field.name in own else field for field in schema]
    return pa.schema(fields, {key: value for key, value in schema.metadata.items() if key != KEY} or None)


def widened(table: pa.Table, schema: pa.Schema | None = None) -> pa.Table:
    """Return the table of a part, or with ``schema`` of several parts, with the types with which it was added.

    Columns that already have their type are not copied.

    Example:
        >>> table = pa.table({"start": [0, 7], "end": [5, 2**31]})
        >>> stored = narrowed(table, fitting(table, None))
        >>> [str(column.type) for column in stored.columns], widened(stored).equals(table, check_metadata=True)
        (['int32', 'int64'], True)
    """
    return _cast(table, widened_schema(table.schema) if schema is None else schema)


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Cast columns to the types of a schema. Columns that already have their type are not copied."""
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


class Columns:
    """The columns of the joined tables of parts, in the types with which they were added.

    A column is converted when it is used, because a filter reads only one or two. Before columns are read, ``check`` is
    called with their names, or with None for all columns.
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
        """The table with all columns."""
        if self._check is not None:
            self._check(None)
        return widened(self._stored, self._schema)
