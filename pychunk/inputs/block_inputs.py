"""The conversion of blocks and removed spans, which parsers found in each document, from any form that callers pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine import native
from .._engine.data.blocks import BLOCK_KINDS, Blocks
from .._engine.data.ragged import Ragged, offsets_of
from .._engine.data.removed_spans import RemovedSpans

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from . import TextBatch

    I64 = npt.NDArray[np.int64]


def blocks_of(values: Any, texts: TextBatch) -> Blocks:
    """Return the blocks of the documents of a call.

    A document that the call skips has no blocks in the result.

    Args:
        values: :class:`Blocks`, an Arrow column, or for each document a list of (kind, level, start, end) or of dicts.
        texts: The documents.

    Raises:
        ValueError: There is not one list for each document, a kind is unknown, or blocks are out of order or overlap.
        TypeError: A value is not a block.
    """
    if not isinstance(values, Blocks):
        from ..parsing.block_columns import (
            blocks_from_arrow,  # imported here: Arrow looks for pandas when it creates a column's type
        )

        arrow = _arrow(values)
        values = _blocks(values, len(texts)) if arrow is None else blocks_from_arrow(arrow)
    _check_documents("blocks", values.documents, texts)
    found: Blocks = _without_missing(values, texts)
    _check_spans("blocks", found.offsets, found.start, found.end)
    return found


def removed_of(values: Any, texts: TextBatch) -> RemovedSpans:
    """Return the removed spans of the documents of a call, as :func:`blocks_of` does for blocks.

    Args:
        values: :class:`RemovedSpans`, an Arrow column, or for each document a list of (start, end), (start, end,
            reason), (start, end, reason, score) or dicts.
        texts: The documents.
    """
    if not isinstance(values, RemovedSpans):
        arrow = _arrow(values)
        rows = values if arrow is None else arrow.to_pylist()
        values = RemovedSpans.of(
            [[_removed(span) for span in spans] for spans in _lists(rows, len(texts), "removed", ("start", "end"))]
        )
    _check_documents("removed", values.documents, texts)
    found: RemovedSpans = _without_missing(values, texts)
    _check_spans("removed", found.offsets, found.start, found.end)
    return found


def columns_of_parsers(source: Any, said: Mapping[str, Any], structured: Callable[[], bool]) -> dict[str, Any]:
    """Return the caller's arguments, and the columns that readers of structured documents added to a table.

    Such a column is recognized by its type, so a column of another type that happens to be called ``blocks`` is
    ignored. An argument of the caller has precedence. The blocks of plain prose, such as texts of dumps, are used only
    if the method ``structure`` cuts, in which case ``structured`` returns true. Other methods recognize headings and
    list items of prose by its lines, as in text without blocks.
    """
    import pyarrow as pa

    if not isinstance(source, pa.Table) or "blocks" not in source.column_names or said.get("blocks") is not None:
        return dict(said)
    from ..parsing.block_columns import BLOCKS_TYPE, PROSE, REMOVED_TYPE

    types = {"blocks": BLOCKS_TYPE, "removed": REMOVED_TYPE, "page_starts": pa.list_(pa.int64())}
    if source.schema.field("blocks").type != BLOCKS_TYPE:
        return dict(said)
    if PROSE.items() <= (source.schema.metadata or {}).items() and not structured():
        return dict(said)
    found = {
        name: name
        for name, kind in types.items()
        if said.get(name) is None and name in source.column_names and source.schema.field(name).type == kind
    }
    return {**said, **found}


def in_bytes(layout: Any, text: Any, offsets: I64, name: str, first_row: int, threads: int) -> Any:
    """Return blocks or removed spans with their positions in bytes."""

    def bytes_of(characters: I64) -> npt.NDArray[Any]:
        rows = Ragged(characters, layout.offsets)
        found = native.bytes_of_characters(text, offsets, rows, name, first_row=first_row, threads=threads)
        return np.ascontiguousarray(found.values)

    return replace(layout, start=bytes_of(layout.start), end=bytes_of(layout.end))


def _arrow(values: Any) -> pa.Array | pa.ChunkedArray | None:
    import pyarrow as pa

    return values if isinstance(values, (pa.Array, pa.ChunkedArray)) and not pa.types.is_null(values.type) else None


def _lists(values: Any, documents: int, name: str, keys: tuple[str, ...]) -> list[list[Any]]:
    """Return one list for each document.

    For a single document, the caller may pass its list without a list around it.
    """
    rows = list(values)
    first = rows[0] if rows else None
    if documents == 1 and (
        (isinstance(first, Mapping) and keys[0] in first)
        or (isinstance(first, tuple) and first and not isinstance(first[0], (tuple, Mapping)))
    ):
        rows = [rows]
    if len(rows) != documents:
        raise ValueError(f"{name} must hold as many lists as there are documents, {documents}; got {len(rows)}")
    return [[] if row is None else list(row) for row in rows]


def _blocks(values: Any, documents: int) -> Blocks:
    lists = _lists(values, documents, "blocks", ("kind",))
    rows = [_block(block) for blocks in lists for block in blocks]
    kinds, levels, starts, ends, markup = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    return Blocks(
        offsets_of([len(blocks) for blocks in lists]),
        np.array(kinds, np.int8),
        np.array(levels, np.int16),
        np.array(starts, np.int64),
        np.array(ends, np.int64),
        markup=np.array(markup, np.bool_) if any(markup) else None,
    )


def _block(block: Any) -> tuple[int, int, int, int, bool]:
    markup = isinstance(block, Mapping) and bool(block.get("markup"))
    if isinstance(block, Mapping):
        block = (block.get("kind"), block.get("level") or 0, block.get("start"), block.get("end"))
    if not (isinstance(block, (tuple, list)) and len(block) == 4):
        raise TypeError(f"a block must be (kind, level, start, end), or a dict of these; got {str(block)[:60]}")
    kind, *numbers = block
    if kind not in BLOCK_KINDS:
        raise ValueError(
            f"unknown kind of block {kind!r:.80}; the kinds are {', '.join(BLOCK_KINDS)}: choose one of them"
        )
    level, start, end = _whole(numbers, "a block's level, start and end")
    return BLOCK_KINDS.index(kind), level, start, end, markup


def _removed(span: Any) -> tuple[int, int, str, float]:
    if isinstance(span, Mapping):
        span = (span.get("start"), span.get("end"), span.get("reason"), span.get("score"))
    if not (isinstance(span, (tuple, list)) and 2 <= len(span) <= 4):
        raise TypeError(f"a removed span must be (start, end, reason, score), or a dict of these; got {str(span)[:60]}")
    start, end, reason, score = [*span, None, None][:4]
    start, end = _whole([start, end], "a removed span's start and end")
    return start, end, "" if reason is None else str(reason), float("nan") if score is None else float(score)


def _whole(numbers: Sequence[Any], what: str) -> list[int]:
    for number in numbers:
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise TypeError(f"{what} must be whole numbers; got {number!r:.80}")
    return [number.__index__() for number in numbers]


def _check_documents(name: str, documents: int, texts: TextBatch) -> None:
    if documents != len(texts):
        raise ValueError(f"{name} must hold as many lists as there are documents, {len(texts)}; got {documents}")


def _without_missing(layout: Any, texts: TextBatch) -> Any:
    """Return blocks or removed spans without those of skipped documents, which have no text."""
    if not texts.errors:
        return layout.rows(0, layout.documents)
    counts = np.diff(layout.offsets)
    keep = np.ones(len(counts), bool)
    keep[[error.row for error in texts.errors]] = False
    own = np.repeat(keep, counts)
    base = layout.rows(0, layout.documents)
    found: dict[str, Any] = {"offsets": offsets_of(np.where(keep, counts, 0))}
    for name, values in vars(base).items():
        if isinstance(values, np.ndarray) and name != "offsets":
            found[name] = values[own]
        elif isinstance(values, tuple):
            found[name] = tuple(value for value, here in zip(values, own, strict=True) if here)
    return replace(base, **found)


def _check_spans(name: str, offsets: I64, start: I64, end: I64) -> None:
    """Check that each span begins before it ends, and that it does not begin before the previous span ends."""
    before = np.zeros(len(start), np.int64)
    before[1:] = end[:-1]
    before[offsets[:-1][np.diff(offsets) > 0]] = 0
    bad = np.flatnonzero((start < before) | (end <= start))
    if len(bad):
        row = int(np.searchsorted(offsets, bad[0], side="right")) - 1
        raise ValueError(
            f"{name} of document {row} must be in ascending order and start before they end; got "
            f"{int(start[bad[0]])} to {int(end[bad[0]])}"
            f"{f', where the previous ends at {int(before[bad[0]])}' if before[bad[0]] else ''}"
        )
