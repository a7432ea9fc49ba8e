"""The function diff(): which chunks of a table are new in another, which stayed, moved or are gone."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import compute as pc
from .._engine.arrow import with_current_names
from .text_ids import with_text_ids

I64 = npt.NDArray[np.int64]

#: What happened to a chunk, in the order of :attr:`Differences.counts`.
CHANGES = ("kept", "moved", "added", "removed")
KEPT, MOVED, ADDED, REMOVED = range(4)
#: The columns that both tables must have. The column text_id is computed if a table lacks it.
NEEDED = ("document_index", "start", "end", "text")


@dataclass(frozen=True, eq=False, repr=False)
class Differences:
    """The differences of two tables of chunks.

    Attributes:
        table: The chunks of the new table in their order, then those that were removed, in the order of the old table.
            Columns: ``change`` (``kept``, ``moved``, ``added`` or ``removed``), ``document_id`` (if there are ids),
            ``text_id``, ``old_row``, ``old_start``, ``old_end``, ``row``, ``start``, ``end`` and ``text``. Values that
            a chunk does not have in one of the tables are null.
        notes: What the tables say about themselves and differs, such as the method or the version, one line for each.
    """

    table: pa.Table
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The number of chunks for each change."""
        found = np.bincount(self.table["change"].combine_chunks().indices, minlength=len(CHANGES))
        return dict(zip(CHANGES, found.tolist(), strict=True))

    @property
    def changed(self) -> float:
        """The share of the chunks that changed: added ones of the new table or removed ones of the old, the larger."""
        counts = self.counts
        there = counts["kept"] + counts["moved"]
        return max(counts[name] / (there + counts[name]) if counts[name] else 0.0 for name in ("added", "removed"))

    def ids(self, change: str) -> list[str]:
        """Return the text ids of the chunks with a change: those in the new table, or in the old one if removed."""
        if change not in CHANGES:
            raise ValueError(f"change must be one of {', '.join(CHANGES)}; got {change!r:.80}")
        chosen = pc.equal(self.table["change"].cast(pa.string()), change)
        found: list[str] = self.table["text_id"].filter(chosen).to_pylist()
        return found

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        return f"<Differences: {counts}>"


def diff(old: Any, new: Any) -> Differences:
    """Compare two tables of chunks by the ids of their texts.

    A chunk is kept if the new table has its ``text_id``, wherever the chunk is now. It has moved if its order among the
    kept chunks of its document has changed, or if its text is in another document. Of a text that two documents
    exchange, both chunks have moved.

    Args:
        old: The earlier chunks: the result of :func:`pychunk.segment`, or a table that was read from a file.
        new: The later chunks.

    Returns:
        The changes, chunk by chunk.

    Raises:
        ValueError: A table is no table of chunks, because it lacks one of their columns.

    Example:
        >>> import pychunk
        >>> old = pychunk.segment(["Cats purr. Dogs bark."], "sentence", ids=["a"], keep_together=False)
        >>> new = pychunk.segment(["Birds sing. Cats purr."], "sentence", ids=["a"], keep_together=False)
        >>> pychunk.diff(old, new)
        <Differences: 1 kept, 0 moved, 1 added, 1 removed>
    """
    return compared(old, new)


def compared(old: Any, new: Any, *, across: bool = True) -> Differences:
    """Compare two tables of chunks. See :func:`diff`.

    With ``across=False``, a text that is in another document now is removed there and added here, as its ``text_id``
    is another one.
    """
    tables = _alike(*(_checked(name, each) for name, each in (("old", old), ("new", new))))
    before, after = (_numbered(table["text_id"]) for table in tables)
    row_of = {key: row for row, key in enumerate(before)}
    old_row = np.array([row_of.get(key, -1) for key in after], np.int64)
    change = np.where(old_row < 0, ADDED, KEPT).astype(np.int8)
    gone = np.setdiff1d(np.arange(len(before)), old_row[old_row >= 0])
    change[_out_of_order(old_row, np.asarray(tables[1]["document_index"], np.int64))] = MOVED
    if across:
        old_row, gone = _with_moved(tables, change, old_row, gone)
    change = np.append(change, np.full(len(gone), REMOVED, np.int8))
    rows = np.append(np.arange(len(after)), np.full(len(gone), -1, np.int64))
    notes = tuple(_notes(*(facts_of(table) for table in tables)))
    return Differences(_table(tables, change, np.append(old_row, gone), rows), notes)


def _checked(name: str, chunks: Any) -> pa.Table:
    table = getattr(chunks, "table", chunks)
    if not isinstance(table, pa.Table):
        raise TypeError(f"{name} must be the result of pychunk.segment or a pyarrow.Table; got {type(table).__name__}")
    table = with_current_names(table)
    for column in NEEDED:
        if column not in table.column_names:
            raise ValueError(
                f"the {name} chunks must have the columns {', '.join(NEEDED)}; {column!r} is missing: pass chunks as "
                "pychunk.segment returns them"
            )
        if table[column].null_count:
            raise ValueError(f"the {name} chunks have nulls in the column {column!r}: fill them, or drop their rows")
    types = {name: pa.int64() for name in ("document_index", "start", "end")}
    types |= {name: pa.large_string() for name in ("text", "text_id")}
    own = [name for name in (*types, "document_id") if name in table.column_names]
    columns = {name: table[name].cast(types.get(name, table[name].type)) for name in own}
    return with_text_ids(pa.table(columns, metadata=table.schema.metadata))


def _alike(old: pa.Table, new: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the tables with ids of one type: files of some kinds hold numbers as text."""
    if not all("document_id" in table.column_names for table in (old, new)):
        return old, new
    if old["document_id"].type == new["document_id"].type:
        return old, new
    one, other = (
        table.set_column(
            table.column_names.index("document_id"), "document_id", table["document_id"].cast(pa.large_string())
        )
        for table in (old, new)
    )
    return one, other


def _numbered(ids: pa.ChunkedArray) -> list[tuple[str, int]]:
    """Return each text id with the number of equal ones before it. Without document ids, documents may share texts."""
    seen: dict[str, int] = {}
    found = []
    for each in ids.to_pylist():
        number = seen.get(each, 0)
        seen[each] = number + 1
        found.append((each, number))
    return found


def _out_of_order(old_row: I64, document: I64) -> I64:
    """Return the kept rows outside a longest run of each document's rows that kept their order."""
    kept = np.flatnonzero(old_row >= 0)
    found = []
    for rows in np.split(kept, np.flatnonzero(np.diff(document[kept])) + 1):
        places = old_row[rows]
        if (np.diff(places) < 0).any():
            found.append(rows[~_longest_increasing(places)])
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _longest_increasing(values: I64) -> npt.NDArray[np.bool_]:
    """Return which values belong to a longest increasing subsequence."""
    tails: list[int] = []  # The lowest last value of an increasing subsequence of each length.
    at: list[int] = []  # Where each of these values is.
    before = np.full(len(values), -1, np.int64)
    for i, value in enumerate(values.tolist()):
        length = bisect_left(tails, value)
        before[i] = at[length - 1] if length else -1
        tails[length : length + 1] = [value]
        at[length : length + 1] = [i]
    chosen = np.zeros(len(values), np.bool_)
    i = at[-1] if at else -1
    while i >= 0:
        chosen[i] = True
        i = int(before[i])
    return chosen


def _with_moved(
    tables: tuple[pa.Table, pa.Table], change: npt.NDArray[np.int8], old_row: I64, gone: I64
) -> tuple[I64, I64]:
    """Pair added chunks with removed ones of the same text, and mark them as moved. Return old rows, and rows gone."""
    texts: dict[str, deque[int]] = {}
    for row, text in zip(gone.tolist(), tables[0]["text"].take(pa.array(gone)).to_pylist(), strict=True):
        texts.setdefault(text, deque()).append(row)
    new = np.flatnonzero(change == ADDED)
    taken = []
    for row, text in zip(new.tolist(), tables[1]["text"].take(pa.array(new)).to_pylist(), strict=True):
        if texts.get(text):
            old_row[row] = texts[text].popleft()
            change[row] = MOVED
            taken.append(old_row[row])
    return old_row, np.setdiff1d(gone, np.array(taken, np.int64))


def _table(tables: tuple[pa.Table, pa.Table], change: npt.NDArray[np.int8], old_row: I64, row: I64) -> pa.Table:
    before, after = (pa.array(rows, mask=rows < 0) for rows in (old_row, row))

    def of_either(name: str) -> pa.ChunkedArray:
        return pc.coalesce(tables[1][name].take(after), tables[0][name].take(before))

    columns: dict[str, Any] = {"change": pa.DictionaryArray.from_arrays(pa.array(change), pa.array(CHANGES))}
    if all("document_id" in table.column_names for table in tables):
        columns["document_id"] = of_either("document_id")
    columns |= {"text_id": of_either("text_id"), "old_row": before}
    columns |= {f"old_{name}": tables[0][name].take(before) for name in ("start", "end")}
    columns |= {"row": after, **{name: tables[1][name].take(after) for name in ("start", "end")}}
    return pa.table({**columns, "text": of_either("text")})


def facts_of(table: pa.Table) -> dict[str, Any]:
    """Return what the metadata of a table says about the method, its options, models and the version.

    The name of the engine is left out, because both engines cut alike. Options have the prefix ``options.``.
    """
    found: dict[str, Any] = json.loads((table.schema.metadata or {}).get(b"pychunk", b"{}"))
    options = found.pop("options", None) or {}
    found.pop("backend", None)
    return found | {f"options.{name}": value for name, value in options.items()}


def _notes(one: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each fact of two tables that differs."""
    if bool(one) != bool(other):
        yield f"the {'new' if one else 'old'} chunks do not say how they were made"
        return
    for name in dict.fromkeys([*one, *other]):
        if one.get(name) != other.get(name):
            yield f"{name}: {_said(one.get(name))} in the old chunks, {_said(other.get(name))} in the new"


def _said(value: Any) -> str:
    return "nothing" if value in (None, "") else f"{value}"
