"""The columns of the chunk tables of a source with files of several kinds, as tables without rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from .._engine.data.columns import COLUMNS
from ..chunks.batch import ChunkBatch
from ..inputs.document_columns import arguments_of
from ..io import KINDS
from ..io.document_batches import documents_of
from ..segmenter import Segmenter
from .run_folder import REMOVED, SUMMARIES


def nothing(made: Segmenter, said: Mapping[str, Any], kind: str, types: Mapping[str, pa.DataType] = {}) -> ChunkBatch:
    """Return the empty chunk batch of a source of one kind, which shows the columns of its chunks.

    ``said`` holds the keywords of a call, which name columns. ``types`` holds the types of the columns that chunks
    repeat.
    """
    of = {
        name: types.get(name, pa.null()) if name in said["metadata_columns"] else pa.null() for name in columns_of(said)
    }
    columns = {name: pa.nulls(0, kind_) for name, kind_ in of.items()}
    read = KINDS[kind].schema
    columns |= {field.name: pa.array([], field.type) for field in read if field.name != "file"}
    table = pa.table(columns, metadata=read.metadata)
    # There are no sentences, so the vectors may have any width.
    said = {name: value for name, value in said.items() if name != "sentence_vectors"}
    return made(documents_of(table), **arguments_of(said))


def tables_of(chunks: ChunkBatch) -> dict[str, pa.Table]:
    """Return the tables that are written for a batch, by folder: the chunks and the additional data sets."""
    tables = {"": chunks.table, SUMMARIES: chunks.summaries, REMOVED: chunks.removed}
    return {name: table for name, table in tables.items() if table is not None}


def empty_tables(sets: Iterable[dict[str, pa.Table]]) -> dict[str, pa.Table]:
    """Return one empty table for each folder, with every column that any of the tables for this folder has.

    In the table of the chunks, the columns are in the order of ``COLUMNS``. In the other tables, they are in the order
    in which they are first found.
    """
    order = {column.name: place for place, column in enumerate(COLUMNS)}
    found: dict[str, dict[str, pa.Field]] = {}
    for tables in sets:
        for name, table in tables.items():
            own = found.setdefault(name, {})
            for each in table.schema:
                if each.name not in own or pa.types.is_null(own[each.name].type):
                    own[each.name] = each
    made = {}
    for name, own in found.items():
        kept = sorted(own.values(), key=lambda each: order.get(each.name, len(order)))
        made[name] = pa.schema(list(own.values()) if name else kept).empty_table()
    return made


def fitted(table: pa.Table, empty: pa.Table) -> pa.Table:
    """Return a table with the columns of ``empty``.

    Columns that the table lacks are added as nulls of their types. A column of nulls that has another type is replaced.
    """
    types = {each.name: each.type for each in empty.schema}
    lacking = [
        each.name
        for each, values in zip(table.schema, table.columns, strict=True)
        if each.type != types.get(each.name, each.type) and values.null_count == len(values)
    ]
    if table.column_names == empty.column_names and not lacking:
        return table
    columns = {
        each.name: table.column(each.name)
        if each.name in table.column_names and each.name not in lacking
        else pa.nulls(len(table), each.type)
        for each in empty.schema
    }
    return pa.table(columns).replace_schema_metadata(table.schema.metadata)


def columns_of(said: Mapping[str, Any]) -> list[str]:
    """Return the columns of the source that the keywords name, each once."""
    for name, value in said.items():
        if name != "metadata_columns" and not isinstance(value, str):
            raise TypeError(f"{name} must be the name of a column of the source; got {type(value).__name__}")
    return list(
        dict.fromkeys(
            [*said["metadata_columns"], *(value for name, value in said.items() if name != "metadata_columns")]
        )
    )
