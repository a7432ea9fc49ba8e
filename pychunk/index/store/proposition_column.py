"""The column ``propositions``: the facts that a chunk states, each of which finds the chunk by a vector of its own.

A chunk table may have a column ``propositions`` with a list of strings for each chunk, as :func:`pychunk.augment` makes
it. An index with vectors of sentences stores a vector of each proposition after those of the chunk's sentences
(:mod:`pychunk.index.proposition_vectors`). A proposition has no span in the document. Its row in the spans of sentences
therefore holds -1, and the position of the proposition in the chunk's list.

A column that was added as propositions is marked in its field's metadata, which a part keeps on the disk. An index
before schema 8 may have a column of that name without the mark. It remains an ordinary metadata column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

#: The name of the column.
PROPOSITIONS = "propositions"
#: The first number of a row of spans that stands for a proposition. The second is the position in the chunk's list.
NO_SPAN = -1
_MARK = {b"pychunk": b"propositions"}
_TYPE = pa.large_list(pa.large_string())


def is_in(schema: pa.Schema) -> bool:
    """Return whether a schema has the column of propositions, marked as such in its metadata."""
    at = schema.get_field_index(PROPOSITIONS)
    return at >= 0 and (schema.field(at).metadata or {}).get(b"pychunk") == _MARK[b"pychunk"]


def marked(table: pa.Table) -> pa.Table:
    """Return a chunk table with its column ``propositions`` marked as such. A column of another type is not marked.

    Example:
        >>> own = marked(pa.table({"text": ["He purrs."], "propositions": [["Felix purrs.", "Felix is a cat."]]}))
        >>> is_in(own.schema), is_in(marked(pa.table({"propositions": [7]})).schema)
        (True, False)
    """
    at = table.schema.get_field_index(PROPOSITIONS)
    if at < 0 or not _holds_strings(table.schema.field(at).type):
        return table
    return table.set_column(at, pa.field(PROPOSITIONS, _TYPE, metadata=_MARK), table[PROPOSITIONS].cast(_TYPE))


def text_of(values: Sequence[str | None] | None, span: tuple[int, int]) -> str | None:
    """Return the proposition for which a row of spans stands, or None if the chunk's list does not have it.

    Example:
        >>> text_of(["Felix purrs.", "Felix is a cat."], (NO_SPAN, 1)), text_of([], (NO_SPAN, 1))
        ('Felix is a cat.', None)
    """
    return values[span[1]] if values and 0 <= span[1] < len(values) else None


def _holds_strings(kind: Any) -> bool:
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return bool(lists) and any(own(kind.value_type) for own in kinds)
