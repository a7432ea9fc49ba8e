"""The Arrow table of chunks, made of the arrays that the engine returned."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from .._engine import native
from .._engine.arrow import primitive, strings, vectors
from .._engine.data.columns import COLUMNS, Column
from .._engine.data.ragged import offsets_of


def chunk_table(
    columns: dict[str, Any], ids: pa.Array | None, first_row: int, metadata: dict[bytes, bytes] | None = None
) -> pa.Table:
    """Return the chunk table made of the arrays that the engine returned, sharing their memory.

    The core passes its columns to Arrow as one batch. For each column by itself, Arrow and Python take four times as
    long.

    Args:
        columns: The arrays by name.
        ids: The caller's ids of the documents, or None.
        first_row: The number of the first document.
        metadata: The metadata of the table.
    """
    arrays, present = _core_columns().batch(columns)
    width = columns["vector"].shape[1] if "vector" in columns else 0
    schema = _schema_of(present, width, tuple(metadata.items()) if metadata else ())
    table = pa.Table.from_batches([pa.RecordBatch._import_from_c(arrays, schema)])
    added = 0
    for name, (needed, make) in _MADE.items():
        if columns.get(needed) is not None:
            made = make(columns)
        elif name == "document_id" and ids is not None:
            made = ids.take(primitive(columns["document_index"] - first_row))
        else:
            continue
        table = table.add_column((present & _BEFORE[name]).bit_count() + added, name, made)
        added += 1
    for name in ("page", "page_end") if "pageless" in columns else ():
        known = pa.array(table[name].to_numpy(), mask=columns["pageless"])
        table = table.set_column(table.schema.get_field_index(name), name, known)
    return table


def _paths(columns: dict[str, Any]) -> pa.Array:
    headings = strings(columns["heading_text"], columns["heading_offsets"])
    return pa.LargeListArray.from_arrays(primitive(columns["path_offsets"]), headings.take(primitive(columns["path"])))


def _sections_of(columns: dict[str, Any]) -> pa.Array:
    headings = strings(columns["heading_text"], columns["heading_offsets"])
    # The levels of a section, from its own heading up to the outermost one, and then -1. Text before all headings is at
    # -1, too, and the last entry of `above` keeps it there.
    above = np.append(columns["heading_parents"], -1)
    levels = [columns["sections"]]
    while levels[-1].max(initial=-1) >= 0:
        levels.append(above[levels[-1]])
    numbers = np.stack(levels[::-1], 1)
    there = numbers >= 0
    paths = pa.LargeListArray.from_arrays(primitive(offsets_of(there.sum(1))), headings.take(primitive(numbers[there])))
    return pa.LargeListArray.from_arrays(primitive(columns["section_offsets"]), paths)


def _headers(columns: dict[str, Any]) -> pa.Array:
    offsets = columns["header_offsets"]
    return strings(columns["header"], offsets, offsets[1:] == offsets[:-1])


def _sentences(columns: dict[str, Any]) -> pa.Array:
    spans = [primitive(columns[name]) for name in ("sentence_start", "sentence_end")]
    items = pa.StructArray.from_arrays([*spans, vectors(columns["sentence_vectors"])], ["start", "end", "vector"])
    return pa.LargeListArray.from_arrays(primitive(columns["sentence_offsets"]), items)


#: The columns that the core does not pass to Arrow, in the order of the table. For each, the array of the engine that
#: says whether the table has it, and the function that makes it.
_MADE: dict[str, tuple[str, Callable[[dict[str, Any]], pa.Array]]] = {
    "document_id": ("", _paths),  # made of the caller's ids
    "page_breaks": ("page_breaks", lambda columns: columns["page_breaks"]),
    "boxes": ("boxes", lambda columns: columns["boxes"]),
    "path": ("path", _paths),
    "sections": ("sections", _sections_of),
    "header": ("header", _headers),
    "sentences": ("sentence_vectors", _sentences),
}
#: The columns that the core passes to Arrow. ``pychunk.levels.node_rows`` adds the column ``holes``.
_OF_CORE = tuple(column for column in COLUMNS if column.name not in {*_MADE, "holes"})
_NAMES = [column.name for column in COLUMNS]
#: For each column of ``_MADE``, the bits of the columns of the core before it.
_BEFORE = {name: (1 << sum(_NAMES.index(own.name) < _NAMES.index(name) for own in _OF_CORE)) - 1 for name in _MADE}
#: The kinds of columns that are not plain integers or labels: see ``csrc/python/arrow_batch.cc``.
_KINDS = {
    "chunk_id": "digits",
    "text_id": "digits",
    "text": "text",
    "parent": "position",
    "score": "number",
    "vector": "vector",
}


def _kind(column: Column) -> str:
    return _KINDS.get(column.name) or ("label" if column.labels else "optional" if column.nullable else "integer")


@functools.cache
def _core_columns() -> Any:
    return native.ChunkColumns([(column.name, _kind(column), list(column.labels)) for column in _OF_CORE])


@functools.lru_cache(maxsize=64)
def _schema_of(present: int, width: int, metadata: tuple[tuple[bytes, bytes], ...]) -> pa.Schema:
    """Return the schema of the columns whose bits are set in ``present``, with vectors of ``width`` numbers.

    It is cached, because to make it takes longer than to pass the arrays to Arrow.
    """
    kinds = {
        "number": pa.float32(),
        "label": pa.dictionary(pa.int8(), pa.string()),
        "digits": pa.large_string(),
        "text": pa.large_string(),
        "vector": pa.list_(pa.float32(), width),
    }
    held = (column for place, column in enumerate(_OF_CORE) if present >> place & 1)
    return pa.schema([(column.name, kinds.get(_kind(column), pa.int64())) for column in held], dict(metadata) or None)
