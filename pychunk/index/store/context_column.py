"""The column ``context``: text that is indexed with a chunk, so that its words find the chunk, but is no part of it.

A chunk of a leaflet may say *take it with food* without naming the medicine, which the first lines of its document do.
A chunk table may therefore have a column ``context`` of strings, as :func:`pychunk.augment` makes it. It is indexed
with BM25 and vectors. BM25 counts its words, and its vector counts in the vectors of the chunk
(:mod:`pychunk.index.context_vectors`). The fields of a hit that show its document (``text``, ``start``, ``end``,
``sentence``) are still those of the document.

A chunk that continues a table is indexed with the header of the table, too, so that words of the header find each part.

The words of a context count once, as text before the chunk's text. This was measured on 30 leaflets, with the first 250
characters of each as context of its pages. BM25 of 4-grams ranks the right document first for 0.947 of 262 questions,
and for 0.969 if the context counts twice. If the document's score is added (``document_weight``), however, the right
page is first for 0.664 of the questions if the context counts once, and for 0.645 if it counts twice.

A column that was added as context is marked in its field's metadata, which a part keeps on the disk. An index before
schema 5 may have a column of that name without the mark. It remains an ordinary metadata column.
"""

from __future__ import annotations

import pyarrow as pa

from ..._engine.arrow import compute as pc
from ...chunks.holes import texts_without_holes

#: The name of the column.
CONTEXT = "context"
#: The column of chunk tables with the header of the table that a chunk continues.
HEADER = "header"
_MARK = {b"pychunk": b"context"}


def is_in(schema: pa.Schema) -> bool:
    """Return whether a schema has the column of contexts, marked as such in its metadata."""
    at = schema.get_field_index(CONTEXT)
    return at >= 0 and (schema.field(at).metadata or {}).get(b"pychunk") == _MARK[b"pychunk"]


def marked(table: pa.Table) -> pa.Table:
    """Return a chunk table with its column ``context``, if it has one, marked as the column of contexts.

    Raises:
        ValueError: The column does not hold strings, or has nulls. The message names the type or the first null.

    Example:
        >>> is_in(marked(pa.table({"text": ["Take it with food."], "context": ["Aspirin, leaflet"]})).schema)
        True
    """
    if CONTEXT not in table.column_names:
        return table
    field, column = table.schema.field(CONTEXT), table[CONTEXT]
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise ValueError(
            "the column 'context' of a chunk table must hold strings, which are indexed with the chunks' text; it "
            f"is of type {field.type}: cast it, or give the column another name"
        )
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py()
        raise ValueError(
            f"the column 'context' of a chunk table must not be null; got {column.null_count:,} null in all, first in "
            f"row {row}: write the empty string for a chunk without context"
        )
    own = pa.field(CONTEXT, pa.large_string(), metadata=_MARK)
    return table.set_column(table.column_names.index(CONTEXT), own, column.cast(pa.large_string()))


def contexts(table: pa.Table) -> pa.ChunkedArray | None:
    r"""Return the text that is indexed with each chunk, or None if no chunk has any.

    It is the chunk's context. If the chunk continues a table, the header of the table follows.

    Example:
        >>> header = pa.array(["| fish | price |", None], pa.large_string())
        >>> contexts(pa.table({"text": ["| 1 | 2 |", "Sea."], "header": header})).to_pylist()
        ['| fish | price |', '']
    """
    said = table[CONTEXT].cast(pa.large_string()) if is_in(table.schema) else None
    if HEADER not in table.column_names or not pa.types.is_large_string(table.schema.field(HEADER).type):
        return said
    # The opening fence of code, which the column holds, too, only names a language.
    header = table[HEADER]
    is_fence = pc.or_(pc.starts_with(header, "```"), pc.starts_with(header, "~~~"))
    header = pc.if_else(pc.fill_null(is_fence, True), pa.scalar("", pa.large_string()), header)
    if not pc.any(pc.not_equal(header, "")).as_py():
        return said
    if said is None:
        return header
    between = pc.if_else(pc.or_(pc.equal(said, ""), pc.equal(header, "")), "", "\n").cast(pa.large_string())
    return pc.binary_join_element_wise(said, between, header, pa.scalar("", pa.large_string()))


def counted(table: pa.Table) -> tuple[pa.ChunkedArray, pa.ChunkedArray | None]:
    r"""Return the text of each chunk whose terms BM25 counts, and the context that precedes it, or None without any.

    Removed text inside a chunk, in the spans of the column ``holes``, does not count.

    Example:
        >>> own, known = counted(marked(pa.table({"text": ["Food.", "Sea."], "context": ["Aspirin", ""]})))
        >>> own.to_pylist(), known.to_pylist()
        (['Food.', 'Sea.'], ['Aspirin', ''])
    """
    return texts_without_holes(table), contexts(table)
