"""Columns of one value a document, as columns of its chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa


def with_metadata(table: pa.Table, chunks: Any, metadata: Mapping[str, Sequence[Any]]) -> pa.Table:
    """A chunk table with columns by name, of which each chunk has its document's value.

    Args:
        chunks: what the table is of; a batch knows how many documents it was cut from.

    Raises:
        ValueError: a name that the table has already, or another number of values than documents.
        TypeError: values that are no list.
    """
    document = np.asarray(table["document"], np.int64) - getattr(chunks, "first_document", 0)
    documents = getattr(chunks, "documents", None)
    for name, values in metadata.items():
        if name in table.column_names:
            raise ValueError(f"metadata {name!r}: the chunks have a column of that name; take another")
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise TypeError(f"metadata {name!r} must be a list of one value a document; got {values!r}")
        column = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(list(values))
        if documents is not None and len(column) != documents:
            raise ValueError(
                f"metadata {name!r} must have one value for each of the {documents} documents that the chunks are of; "
                f"got {len(column)}"
            )
        if len(document) and document.max() >= len(column):
            raise ValueError(
                f"metadata {name!r} has {len(column)} values, and there are at least {document.max() + 1} documents"
            )
        table = table.append_column(name, column.take(pa.array(document)))
    return table
