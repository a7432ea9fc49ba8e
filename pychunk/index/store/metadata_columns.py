"""Metadata columns, which have one value for each document, and repeat it in each of the document's chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..._engine.data.columns import COLUMNS
from ..._util.counting import counted
from ...levels.level_names import LEVELS
from . import proposition_column
from .context_column import CONTEXT

#: The columns that describe a chunk, and not its document.
_OF_CHUNKS = {*(column.name for column in COLUMNS), LEVELS, CONTEXT}


def with_metadata(table: pa.Table, chunks: Any, metadata: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return a chunk table with metadata columns, in which each chunk has its document's value.

    Args:
        table: The chunk table.
        chunks: The object from which the table was taken. A ``ChunkBatch`` knows its number of documents, including
            documents without chunks.
        metadata: The values of each column, one for each document, by name.

    Raises:
        ValueError: The table already has a column of that name, there is not one value for each document, or the values
            are not of one type that Arrow knows.
        TypeError: The values of a column are no list.
    """
    document = np.asarray(table["document_index"], np.int64) - getattr(chunks, "first_document", 0)
    documents = getattr(chunks, "documents", None)
    for name, values in metadata.items():
        if name in table.column_names:
            raise ValueError(f"metadata {name!r}: the chunks already have a column of that name; choose another name")
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise TypeError(f"metadata {name!r} must be a list with one value for each document; got {values!r:.80}")
        try:
            column = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(list(values))
        except UnicodeEncodeError as error:
            raise ValueError(
                f"metadata {name!r} must be text that UTF-8 can encode; got {error.object!r:.80}: remove the lone "
                "surrogate"
            ) from error
        except (pa.ArrowException, OverflowError) as error:
            raise ValueError(
                f"metadata {name!r} must be values of one type that Arrow knows; make a string of each value (Arrow: "
                f"{error})"
            ) from error
        if documents is not None and len(column) != documents:
            raise ValueError(
                f"metadata {name!r} must have one value for each document of the chunks; got "
                f"{counted(len(column), 'value')} for {counted(documents, 'document')}"
            )
        if len(document) and document.max() >= len(column):
            raise ValueError(
                f"metadata {name!r} must have one value for each document, of which there are at least "
                f"{document.max() + 1}; got {len(column)}"
            )
        table = table.append_column(name, column.take(pa.array(document)))
    return table


def columns_not_given(table: pa.Table, known: pa.Schema) -> list[str]:
    """Return the names of metadata columns that an index with the schema ``known`` has, and a chunk table lacks."""
    if "document_id" not in table.column_names or "document_id" not in known.names:
        return []
    own = _OF_CHUNKS | ({proposition_column.PROPOSITIONS} if proposition_column.is_in(known) else set())
    return [name for name in known.names if name not in own and name not in table.column_names]


def with_columns_of_before(table: pa.Table, before: pa.Table) -> pa.Table:
    """Return a chunk table with columns of earlier chunks, in which each chunk has its document's earlier value.

    A chunk whose document has no earlier value gets null. So does a chunk whose document had different values in its
    earlier chunks, because such values belong to the chunks and not to the document.

    Args:
        table: The chunk table.
        before: The earlier chunks, with ``document_id`` as text, and the columns to add.

    Example:
        >>> table = pa.table({"document_id": ["a", "a", "b"], "chunk_index": [0, 1, 0]})
        >>> before = pa.table({"document_id": ["a", "a"], "year": [7, 7], "n": [1, 2]})
        >>> with_columns_of_before(table, before).to_pydict()
        {'document_id': ['a', 'a', 'b'], 'chunk_index': [0, 1, 0], 'year': [7, 7, None], 'n': [None, None, None]}
    """
    if not len(before):
        return table
    documents, ids = before["document_id"].to_pylist(), table["document_id"].cast(pa.large_string()).to_pylist()
    for field in before.drop_columns(["document_id"]).schema:
        values: dict[str, Any] = {}
        for document, value in zip(documents, before[field.name].to_pylist(), strict=True):
            values[document] = value if values.setdefault(document, value) == value else None
        column = pa.array([values.get(document) for document in ids], field.type)
        table = table.append_column(field, column)
    return table
