"""The text of nodes without the removed text inside them, whose spans are in the column ``holes``."""

from __future__ import annotations

import pyarrow as pa

from .._engine.arrow import compute as pc

HOLES = "holes"


def texts_without_holes(table: pa.Table) -> pa.ChunkedArray:
    """Return the text of each chunk with a space in place of each of its holes.

    A column ``holes`` that is no list of spans belongs to the user and is ignored.

    Example:
        >>> holes = pa.array([None, [{"start": 15, "end": 21}]])
        >>> table = pa.table({"text": ["Cats", "Cats [edit] purr."], "start": [10, 10], "holes": holes})
        >>> texts_without_holes(table).to_pylist()
        ['Cats', 'Cats   purr.']
    """
    at = table.schema.get_field_index(HOLES)
    if at < 0 or not _are_spans(table.schema.field(at).type) or table[HOLES].null_count == table.num_rows:
        return table["text"]
    has_holes = table[HOLES].is_valid().combine_chunks()
    made = []
    for row in table.select(["text", "start", HOLES]).filter(has_holes).to_pylist():
        text, first, holes = row["text"], row["start"], row[HOLES]
        begins = [0, *(hole["end"] - first for hole in holes)]
        ends = [*(hole["start"] - first for hole in holes), len(text)]
        made.append(" ".join(text[begin:end] for begin, end in zip(begins, ends, strict=True)))
    text = table["text"].combine_chunks()
    return pa.chunked_array([pc.replace_with_mask(text, has_holes, pa.array(made, text.type))])


def _are_spans(kind: pa.DataType) -> bool:
    lists = pa.types.is_large_list(kind) or pa.types.is_list(kind)
    return lists and pa.types.is_struct(kind.value_type) and {each.name for each in kind.value_type} == {"start", "end"}
