"""The column ``context``: text that is indexed with a chunk, so that its words find the chunk, but is no part of it.

A chunk of a leaflet may say *take it with food* without naming the medicine, which the first lines of its document do.
A chunk table may therefore have a column ``context`` of strings, as :func:`pychunk.augment` makes it. Its words count
for BM25. The fields of a hit that show its document (``text``, ``start``, ``end``, ``sentence``) are still those of the
document.

A context counts once, as text before the chunk's. This was measured on 30 leaflets, with the first 250 characters of
each as context of its pages. BM25 of 4-grams ranks the document first for 0.947 of 262 questions, and for 0.969 if the
context counts twice. With the document's own evidence added, however, it ranks the right page first for 0.664 and
0.645, so counting twice gains nothing there.

Vectors are those of the text alone. As a test, the context's vector was added to the sentences of its chunk. Strict
Hits@5 of dense search on 3,000 questions of SQuAD v2 dev fell from 0.864 to 0.857 (heads) or 0.832 (neighbours). The
reason is that all chunks of a document then score the same.

A column that was added as context is marked in its field's metadata, which a part keeps on the disk. An index older
than schema 5 may hold a column of that name that is only metadata, and it stays metadata.
"""

from __future__ import annotations

import pyarrow as pa

from ..._engine.arrow import compute as pc

#: The name of the column.
CONTEXT = "context"
_MARK = {b"pychunk": b"context"}


def is_in(schema: pa.Schema) -> bool:
    """Return whether chunks of a schema have contexts, which is a column that is marked as such."""
    at = schema.get_field_index(CONTEXT)
    return at >= 0 and (schema.field(at).metadata or {}).get(b"pychunk") == _MARK[b"pychunk"]


def marked(table: pa.Table) -> pa.Table:
    """Return a chunk table whose column ``context``, if there is one, is marked as such.

    Raises:
        ValueError: The values are no strings, or null. The message names the first row.

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
            f"the column 'context' of a chunk table must not be null; {column.null_count} are, row {row} first: a "
            "chunk without context has the empty string"
        )
    own = pa.field(CONTEXT, pa.large_string(), metadata=_MARK)
    return table.set_column(table.column_names.index(CONTEXT), own, column.cast(pa.large_string()))


def counted(table: pa.Table) -> pa.ChunkedArray:
    r"""Return the text that BM25 counts for each chunk, which is its context followed by its text.

    Example:
        >>> counted(marked(pa.table({"text": ["Food.", "Sea."], "context": ["Aspirin", ""]}))).to_pylist()
        ['Aspirin\nFood.', '\nSea.']
    """
    if not is_in(table.schema):
        return table["text"]
    text = [table[name].cast(pa.large_string()) for name in (CONTEXT, "text")]
    return pc.binary_join_element_wise(*text, pa.scalar("\n", pa.large_string()))
