"""Documents of several rows: chunks of the rows that have one id, as chunks of one text."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.arrow import compute as pc
from .chunk_tables import keys
from .scoring.level_rows import has_levels

I64 = npt.NDArray[np.int64]

#: What stands between the texts of two rows of a document.
BETWEEN = "\n\n"
#: Columns that count from where a row's text begins, the one of them that says how far it goes, and how much further
#: the next row begins. Lines and pages count from 1; a blank line begins no page.
_COUNTED = (
    (("start", "end"), "end", len(BETWEEN)),
    (("start_byte", "end_byte"), "end_byte", len(BETWEEN)),
    (("line", "line_end"), "line_end", BETWEEN.count("\n") - 1),
    (("page", "page_end"), "page_end", -1),
    (("chunk", "parent"), "chunk", 1),
)


def merged(table: pa.Table) -> pa.Table:
    """A chunk table in which all chunks of one id are of one document.

    The document's text is that of its rows in their order, each up to the end of its last chunk, with a blank line
    between. Spans, lines, pages and places count in it, and chunk ids are those that it gives; the document has the
    number of its first row that is not blank. Other columns stay what they were of each row.

    Args:
        table: chunks with ids; a row is what has one ``document`` and one ``id``.

    Raises:
        ValueError: no ids; nodes of levels; one chunk of a row twice; boxes on pages, which other numbers of pages
            would belie.

    Example:
        >>> import pychunk
        >>> rows = ["Cats purr. They sleep.", "Dogs bark."]
        >>> found = merged(pychunk.segment(rows, "paragraph", ids=["pets", "pets"]).table)
        >>> found.select(["document", "chunk", "start", "end", "text"]).to_pylist()[1]
        {'document': 0, 'chunk': 1, 'start': 24, 'end': 34, 'text': 'Dogs bark.'}
    """
    if "id" not in table.column_names:
        raise ValueError("on_duplicate='merge' joins rows of one id, and these have none: segment with ids=")
    code = np.asarray(keys(table).dictionary_encode().indices, np.int64)
    number, chunk = (np.asarray(table[name], np.int64) for name in ("document", "chunk"))
    row = _in_order(code * (len(code) + 1) + _in_order(number))
    if code.max(initial=0) == row.max(initial=0):  # as many rows as documents
        return table
    if has_levels(table.schema):
        raise ValueError(
            "on_duplicate='merge' takes chunks, and these are nodes of levels, each row's own, so that a document "
            "would be a node a row: join the texts of its rows, with a blank line between, before segment(levels=...)"
        )
    order = np.lexsort((chunk, row, code))
    if (order[1:] < order[:-1]).any():
        table = table.take(pa.array(order))
        code, row, chunk = code[order], row[order], chunk[order]
    _check_chunks(table, row, chunk, order)
    begins = np.append(True, row[1:] != row[:-1])
    first = np.flatnonzero(begins)  # the first chunk of each row
    size = np.diff(np.append(first, len(row)))
    heads = np.append(True, code[first][1:] != code[first][:-1])  # rows that begin a document
    rows = np.diff(np.append(np.flatnonzero(heads), len(first)))  # of each document
    several = np.repeat(np.repeat(rows > 1, rows), size)
    if "boxes" in table.column_names and table.filter(pa.array(several))["boxes"].is_valid().to_numpy().any():
        raise ValueError("on_duplicate='merge' joins texts alone, and these chunks have boxes on pages")
    for names, last, more in _COUNTED:
        if last not in table.column_names:
            continue
        reached = np.asarray(table[last].cast(pa.int64()).fill_null(-more))
        shift = np.repeat(_before(np.maximum.reduceat(reached, first) + more, heads), size)
        for name in names:
            if name in table.column_names:
                table = _with(table, name, pc.add(table[name].cast(pa.int64()), pa.array(shift)))
        if last == "end" and "sentences" in table.column_names:
            table = _with(table, "sentences", _moved(table["sentences"], shift))
        if last == "end" and "page_breaks" in table.column_names:
            table = _with(table, "page_breaks", _later(table["page_breaks"], shift))
    begin = np.maximum.accumulate(np.where(heads, first, 0))  # of each row's document
    table = _with(table, "document", table["document"].take(pa.array(np.repeat(begin, size))))
    return _with(table, "chunk_id", _chunk_ids(table, several))


def _in_order(values: I64) -> I64:
    """A number for each value, in the order of their first appearance."""
    _, first, code = np.unique(values, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[code.ravel()], np.int64)


def _check_chunks(table: pa.Table, row: I64, chunk: I64, order: I64) -> None:
    same = np.flatnonzero((row[1:] == row[:-1]) & (chunk[1:] == chunk[:-1]))
    if len(same):
        at = int(same[0])
        a, b = sorted(order[at : at + 2].tolist())
        raise ValueError(
            f"rows {a} and {b} of the chunks are both chunk {chunk[at]} of document {table['document'][at]}, "
            f"{table['id'][at].as_py()!r}: number documents on from one batch to the next (first_document=)"
        )


def _before(values: I64, heads: npt.NDArray[np.bool_]) -> I64:
    """The sum of the values before each one, from the last head on."""
    before = np.cumsum(values) - values
    base: I64 = before - before[np.maximum.accumulate(np.where(heads, np.arange(len(heads)), 0))]
    return base


def _with(table: pa.Table, name: str, values: pa.ChunkedArray | pa.Array) -> pa.Table:
    at = table.column_names.index(name)
    return table.set_column(at, table.schema.field(at), values.cast(table.schema.field(at).type))


def _moved(column: pa.ChunkedArray, shift: I64) -> pa.Array:
    """Sentences whose spans begin later, by a number for each chunk."""
    parts, done = [], 0
    for lists in column.chunks:
        offsets = np.asarray(lists.offsets, np.int64)
        start, end, vector = lists.flatten().flatten()
        own = pa.array(np.repeat(shift[done : done + len(lists)], np.diff(offsets)))
        items = pa.StructArray.from_arrays([pc.add(start, own), pc.add(end, own), vector], ["start", "end", "vector"])
        parts.append(pa.LargeListArray.from_arrays(pa.array(offsets - offsets[0]), items))
        done += len(lists)
    return pa.chunked_array(parts, parts[0].type)


def _later(column: pa.ChunkedArray, shift: I64) -> pa.Array:
    """Lists of characters that come later, by a number for each chunk; null stays null."""
    lists = column.combine_chunks()
    sizes = np.asarray(pc.list_value_length(lists).fill_null(0), np.int64)
    values = pc.add(lists.flatten(), pa.array(np.repeat(shift, sizes)))
    offsets = pa.array(np.append(0, np.cumsum(sizes)))
    return pa.LargeListArray.from_arrays(offsets, values, mask=lists.is_null() if lists.null_count else None)


def _chunk_ids(table: pa.Table, several: npt.NDArray[np.bool_]) -> pa.Array:
    """As the engine makes them of id, span and text, where a document has several rows."""
    found = table["chunk_id"].to_pylist()
    own = table.select(["start", "end", "text"]).append_column("id", keys(table)).filter(pa.array(several))
    for at, each in zip(np.flatnonzero(several).tolist(), own.to_pylist(), strict=True):
        words = _words(each["id"]) + struct.pack("<qq", each["start"], each["end"]) + _words(each["text"])
        found[at] = native.hash128(words)
    return pa.array(found, pa.large_string())


def _words(text: str) -> bytes:
    """The 128 bits of a text's hash, as a hash of hashes reads them."""
    return int(native.hash128(text.encode()), 16).to_bytes(16, "little")
