"""The merging of documents that several rows of a table hold: rows that share an id become one text."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.arrow import compute as pc
from ..chunks.text_ids import text_ids, words_of
from .chunk_tables import keys
from .scoring.level_rows import has_levels

I64 = npt.NDArray[np.int64]

#: The separator between the texts of two rows of a document.
BETWEEN = "\n\n"
#: Groups of columns that count from the beginning of a row's text, as (columns, last, more). The highest value of the
#: column ``last`` shows where the row's text ends. This value plus ``more`` is added to the columns of the next row of
#: the same document. Lines and pages count from 1. The blank line between rows begins no new page.
_COUNTED = (
    (("start", "end"), "end", len(BETWEEN)),
    (("start_byte", "end_byte"), "end_byte", len(BETWEEN)),
    (("line", "end_line"), "end_line", BETWEEN.count("\n") - 1),
    (("page", "page_end"), "page_end", -1),
    (("chunk_index", "parent"), "chunk_index", 1),
)


def merged(table: pa.Table) -> pa.Table:
    """Return a chunk table in which all chunks of one id belong to one document.

    The document's text consists of the texts of its rows in their order, each up to the end of its last chunk, with a
    blank line between them. Spans, lines, pages and the positions of chunks count in this text, and chunk ids are
    computed from it. The document gets the ``document_index`` of its first row that has chunks. Other columns keep the
    values of each row.

    Args:
        table: Chunks with ids. Chunks with the same ``document_index`` and ``document_id`` form a row.

    Raises:
        ValueError: There are no ids, the chunks are nodes of levels, or a chunk of a row occurs twice. Or the chunks
            have boxes on pages, whose page numbers would be wrong.

    Example:
        >>> import pychunk
        >>> rows = ["Cats purr. They sleep.", "Dogs bark."]
        >>> found = merged(pychunk.segment(rows, "paragraph", ids=["pets", "pets"]).table)
        >>> found.select(["document_index", "chunk_index", "start", "end", "text"]).to_pylist()[1]
        {'document_index': 0, 'chunk_index': 1, 'start': 24, 'end': 34, 'text': 'Dogs bark.'}
    """
    if "document_id" not in table.column_names:
        raise ValueError("on_duplicate='merge' joins rows by their ids, but these have no ids: segment with ids=")
    code = np.asarray(keys(table).dictionary_encode().indices, np.int64)
    number, chunk = (np.asarray(table[name], np.int64) for name in ("document_index", "chunk_index"))
    row = _in_order(code * (len(code) + 1) + _in_order(number))
    if code.max(initial=0) == row.max(initial=0):  # There are as many rows as documents.
        return table
    if has_levels(table.schema):
        raise ValueError(
            "on_duplicate='merge' takes chunks, and these are nodes of levels. Each row has nodes of its own, so a "
            "document would have one document node for each row: join the texts of its rows, with a blank line "
            "between, before segment_levels()"
        )
    order = np.lexsort((chunk, row, code))
    if (order[1:] < order[:-1]).any():
        table = table.take(pa.array(order))
        code, row, chunk = code[order], row[order], chunk[order]
    _check_chunks(table, row, chunk, order)
    begins = np.append(True, row[1:] != row[:-1])
    first = np.flatnonzero(begins)  # The first chunk of each row.
    size = np.diff(np.append(first, len(row)))
    heads = np.append(True, code[first][1:] != code[first][:-1])  # The rows that begin a document.
    rows = np.diff(np.append(np.flatnonzero(heads), len(first)))  # The number of rows of each document.
    several = np.repeat(np.repeat(rows > 1, rows), size)
    if "boxes" in table.column_names and table.filter(pa.array(several))["boxes"].is_valid().to_numpy().any():
        raise ValueError(
            "on_duplicate='merge' joins only texts, and these chunks have boxes on pages: give each row an id of its "
            "own"
        )
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
    begin = np.maximum.accumulate(np.where(heads, first, 0))  # The first chunk of each row's document.
    table = _with(table, "document_index", table["document_index"].take(pa.array(np.repeat(begin, size))))
    if "text_id" in table.column_names:
        table = _with(table, "text_id", _text_ids(table, several))
    return _with(table, "chunk_id", _chunk_ids(table, several))


def _in_order(values: I64) -> I64:
    """Return a number for each value, the same for equal values, counted in the order of first appearance."""
    _, first, code = np.unique(values, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[code.ravel()], np.int64)


def _check_chunks(table: pa.Table, row: I64, chunk: I64, order: I64) -> None:
    same = np.flatnonzero((row[1:] == row[:-1]) & (chunk[1:] == chunk[:-1]))
    if len(same):
        at = int(same[0])
        a, b = sorted(order[at : at + 2].tolist())
        raise ValueError(
            f"rows {a} and {b} of the chunks are both chunk {chunk[at]} of document {table['document_index'][at]}, "
            f"{table['document_id'][at].as_py()!r}: call a Segmenter on each batch, with "
            "first_document= one more than the last document_index of the batch before"
        )


def _before(values: I64, heads: npt.NDArray[np.bool_]) -> I64:
    """Return for each value the sum of the earlier values of its document. ``heads``: where a document begins."""
    before = np.cumsum(values) - values
    base: I64 = before - before[np.maximum.accumulate(np.where(heads, np.arange(len(heads)), 0))]
    return base


def _with(table: pa.Table, name: str, values: pa.ChunkedArray | pa.Array) -> pa.Table:
    at = table.column_names.index(name)
    return table.set_column(at, table.schema.field(at), values.cast(table.schema.field(at).type))


def _moved(column: pa.ChunkedArray, shift: I64) -> pa.Array:
    """Return sentences with spans shifted by a number for each chunk."""
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
    """Return lists of character positions shifted by a number for each chunk. Null stays null."""
    lists = column.combine_chunks()
    sizes = np.asarray(pc.list_value_length(lists).fill_null(0), np.int64)
    values = pc.add(lists.flatten(), pa.array(np.repeat(shift, sizes)))
    offsets = pa.array(np.append(0, np.cumsum(sizes)))
    return pa.LargeListArray.from_arrays(offsets, values, mask=lists.is_null() if lists.null_count else None)


def _chunk_ids(table: pa.Table, several: npt.NDArray[np.bool_]) -> pa.Array:
    """Return chunk ids computed from id, span and text, as the engine does, for documents of several rows."""
    found = table["chunk_id"].to_pylist()
    own = table.select(["start", "end", "text"]).append_column("document_id", keys(table)).filter(pa.array(several))
    for at, each in zip(np.flatnonzero(several).tolist(), own.to_pylist(), strict=True):
        words = words_of(each["document_id"]) + struct.pack("<qq", each["start"], each["end"]) + words_of(each["text"])
        found[at] = native.hash128(words)
    return pa.array(found, pa.large_string())


def _text_ids(table: pa.Table, several: npt.NDArray[np.bool_]) -> pa.Array:
    """Return text ids that count equal texts in whole documents, for documents of several rows."""
    found = table["text_id"].to_pylist()
    own = pa.array(several)
    names, texts = keys(table).filter(own).to_pylist(), table["text"].filter(own).to_pylist()
    for at, made in zip(np.flatnonzero(several).tolist(), text_ids(zip(names, names, texts, strict=True)), strict=True):
        found[at] = made
    return pa.array(found, pa.large_string())
