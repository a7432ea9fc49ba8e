"""The reuse of stored vectors for chunks that replace equal ones, so that an update encodes only new texts.

The stored vectors of a chunk that the index encoded by itself depend only on the chunk's text, its context and its
propositions. A copy of their bytes is therefore what encoding the chunk again would store: in every type, with
the vectors of contexts added, and with zeros for texts that the encoder hardly knows. The codes of an approximate index
are made from these bytes when it is saved, so they are never copied.

A transformer, or an encoder of the caller's own, may give a text other last bits in a batch with other texts. The copy
keeps the bits of the first time.

Vectors that came with chunks are not reused. A sentence that two chunks share was encoded as a whole there, and late
chunking reads the whole document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .store import context_column, proposition_column
from .store.part import Part, Rows

I64 = npt.NDArray[np.int64]

#: The columns on which the vectors of a chunk depend.
_READ = ("text", context_column.CONTEXT, context_column.HEADER, proposition_column.PROPOSITIONS)


def kept(table: pa.Table, replaced: Iterable[tuple[Part, I64]]) -> tuple[I64, Rows | None]:
    """Return the chunks of a table that are equal to chunks they replace, and the stored rows of these.

    Args:
        table: The new chunks, as :func:`.chunk_tables.plain` returns them.
        replaced: The chunks that they replace, as (part, numbers of its chunks in rising order).

    Returns:
        (the numbers of the chunks, int64[n]; their n rows, with spans at their new places and a table that holds only
        the column ``start``, or None if n is 0).
    """
    waiting: dict[Any, list[int]] | None = None
    pieces: list[tuple[I64, Rows]] = []
    for part, rows in replaced:
        if waiting is None:
            waiting = {}
            for number, inputs in enumerate(_inputs(table)):
                waiting.setdefault(inputs, []).append(number)
        part.check(_READ)
        mask = np.zeros(len(part), np.bool_)
        mask[rows] = True
        own = part.table.select([name for name in _READ if name in part.table.column_names]).filter(pa.array(mask))
        pairs = [
            (number, row)
            for row, inputs in zip(rows.tolist(), _inputs(own), strict=True)
            for number in waiting.pop(inputs, ())
        ]
        if pairs:
            chunks, same = np.array(pairs, np.int64).T
            pieces.append((chunks, part.vectors_of(same)))
    if not pieces:
        return np.empty(0, np.int64), None
    chunks = np.concatenate([own for own, _ in pieces])
    start = np.asarray(table["start"], np.int64)[chunks]
    return chunks, _moved(_concatenated([rows for _, rows in pieces]), start)


def joined(table: pa.Table, pieces: Sequence[tuple[I64, Rows]]) -> Rows:
    """Return all rows of a table from pieces, each with the numbers of its chunks. Together they hold every chunk."""
    order = np.argsort(np.concatenate([chunks for chunks, _ in pieces]))
    return replace(_concatenated([rows for _, rows in pieces]).choose(order), table=table)


def _inputs(table: pa.Table) -> Iterable[tuple[Any, ...]]:
    """Return, for each chunk, everything on which its vectors depend."""
    contexts, nothing = context_column.contexts(table), [""] * table.num_rows
    facts: list[Any] = [[]] * table.num_rows
    if proposition_column.is_in(table.schema):
        facts = table[proposition_column.PROPOSITIONS].to_pylist()
    texts = nothing if contexts is None else contexts.to_pylist()
    return zip(table["text"].to_pylist(), texts, (tuple(own or ()) for own in facts), strict=True)


def _concatenated(pieces: Sequence[Rows]) -> Rows:
    """Return the rows of pieces one after another, with a table that holds only the column ``start``."""
    table = pa.table({"start": np.concatenate([np.asarray(piece.table["start"], np.int64) for piece in pieces])})
    arrays = {
        name: None if getattr(pieces[0], name) is None else np.concatenate([getattr(each, name) for each in pieces])
        for name in ("spans", "sentences", "pooled")
    }
    sizes = [np.diff(piece.offsets) for piece in pieces if piece.offsets is not None]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64) if sizes else None
    return Rows(table, offsets, **arrays, encoded_by=pieces[0].encoded_by)


def _moved(rows: Rows, start: I64) -> Rows:
    """Return rows whose sentences have moved with their chunks, which now begin at ``start``."""
    if rows.spans is None or rows.offsets is None:
        return rows
    shift = np.repeat(start - np.asarray(rows.table["start"], np.int64), np.diff(rows.offsets))
    shift[rows.spans[:, 0] == proposition_column.NO_SPAN] = 0
    return replace(rows, spans=rows.spans.astype(np.int64) + shift[:, None])
