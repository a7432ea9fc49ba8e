"""Text that is indexed beside a chunk's own: the column ``context``, whose words find the chunk and are no part of it.

A chunk of a leaflet says *take it with food* and not what; its document's first lines do. A chunk table may so have a
column ``context`` of strings, as :func:`pychunk.augment` makes it. Its words count for BM25, and what a hit shows of
its document (``text``, ``start``, ``end``, ``sentence``) stays the document's.

A context counts once, as text before the chunk's. Of 30 leaflets, with the first 250 characters of each beside its
pages, BM25 of 4-grams ranks the document first for .947 of 262 questions, and for .969 where the context counts twice;
but with the document's own evidence added the right page for .664 and .645, so twice gains nothing there. Vectors are
of the text alone: the context's as one more row of its chunk's sentences takes strict Hits@5 of dense search on 3,000
questions of SQuAD v2 dev from .864 to .857 (heads) or .832 (neighbours), as all chunks of a document then tie.

A column that was added as context is marked in its field's metadata, which a part keeps on the disk: an index of before
schema 5 may hold a column of that name that is no more than metadata, and it stays that.
"""

from __future__ import annotations

import pyarrow as pa

from ..._engine.arrow import compute as pc

#: The column's name.
CONTEXT = "context"
#: The first version of an index in which a context may be: older versions of pychunk would count it out when they write
#: a part anew.
SCHEMA = 5
_MARK = {b"pychunk": b"context"}


def is_in(schema: pa.Schema) -> bool:
    """Whether chunks of a schema have contexts: a column that was marked as such."""
    at = schema.get_field_index(CONTEXT)
    return at >= 0 and (schema.field(at).metadata or {}).get(b"pychunk") == _MARK[b"pychunk"]


def marked(table: pa.Table) -> pa.Table:
    """A chunk table whose column ``context``, if there is one, is known as such from here on.

    Raises:
        ValueError: its values are no strings, or null; names the first row.

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
            f"the column 'context' of a chunk table is text that is indexed beside the chunk's, a string each; it is "
            f"of type {field.type}: cast it, or give the column another name"
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
    """What BM25 counts of each chunk: its context, then its text.

    Example:
        >>> counted(marked(pa.table({"text": ["Food.", "Sea."], "context": ["Aspirin", ""]}))).to_pylist()
        ['Aspirin\\nFood.', '\\nSea.']
    """
    if not is_in(table.schema):
        return table["text"]
    text = [table[name].cast(pa.large_string()) for name in (CONTEXT, "text")]
    return pc.binary_join_element_wise(*text, pa.scalar("\n", pa.large_string()))
