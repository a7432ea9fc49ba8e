"""Contexts that a column already holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from .._engine.arrow import compute as pc
from .chunk_documents import Documents

#: The text between headings.
BETWEEN = " > "
#: The remedies for columns that chunks lack.
_REMEDIES = {
    "path": "cut by method 'structure', the default for Markdown, HTML, PDF and wikis",
    "title": "segment with metadata_columns=['title'] (--metadata-columns title) where the documents have titles",
}


def contexts(documents: Documents, name: str, given: Mapping[str, Any]) -> pa.Array:
    """Return the column ``name`` as text: the chunks' own, or else the one in ``given``.

    Nulls become empty, and lists are joined.

    Raises:
        ValueError: There is no column of that name although there are chunks.
    """
    if name in documents.table.column_names:
        return _text(documents.table[name])
    if name in given:
        return _text(given[name])
    if not documents.table.num_rows:
        return pa.array([], pa.large_string())
    known = ", ".join(documents.table.column_names)
    remedy = _REMEDIES.get(name, f"segment with metadata_columns=[{name!r}] (--metadata-columns {name})")
    raise ValueError(f"augment: the chunks have no column {name!r}: {remedy}; they have {known}")


def _text(column: Any) -> pa.Array:
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(column, pa.ChunkedArray):  # The column has no Arrow chunk, or is too large for one.
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        items = column.cast(pa.large_list(pa.large_string()))
        text = pc.binary_join(items, pa.scalar(BETWEEN, pa.large_string()))
    else:
        text = column.cast(pa.large_string())
    return text.fill_null("")
