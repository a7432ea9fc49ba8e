"""The positions of chunks on pages: where pages begin inside chunks, and the boxes of the blocks in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine.arrow import primitive
from .._engine.data.ragged import offsets_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._engine.data.features import Features

SIDES = ("left", "top", "right", "bottom")


def page_breaks_of(columns: dict[str, Any], features: Features, first_row: int) -> pa.Array | None:
    """Return for each chunk the positions, in characters of its document, at which pages begin inside it.

    The positions ascend. The chunk's first character is on the page in its column ``page``. Character ``i`` of the
    document, if it is in the chunk, is on ``page`` plus the number of positions that are at most ``i``. Most chunks
    have no positions and take 8 bytes. The result is None if the caller passed no pages.
    """
    if features.page_starts is None:
        return None
    documents = columns["document_index"] - first_row
    pages = features.page_starts
    before = np.repeat(features.offsets[:-1], pages.counts)
    begins = pages.flat() + before
    starts = columns["start_byte"] + features.offsets[documents]
    ends = columns["end_byte"] + features.offsets[documents]
    first = np.searchsorted(begins, starts, "right")
    counts = np.maximum(np.searchsorted(begins, ends, "left") - first, 0)
    rows = np.flatnonzero(counts)
    found = [np.empty(0, np.int64)]
    for row, begin, count in zip(rows.tolist(), first[rows].tolist(), counts[rows].tolist(), strict=True):
        text = features.text[starts[row] : ends[row]]
        characters = np.cumsum((text & 0xC0) != 0x80)  # number of characters that begin at or before each byte
        found.append(columns["start"][row] + characters[begins[begin : begin + count] - starts[row]] - 1)
    return pa.LargeListArray.from_arrays(primitive(offsets_of(counts)), primitive(np.concatenate(found)))


def boxes_of(columns: dict[str, Any], features: Features, first_row: int) -> pa.Array | None:
    """Return for each chunk a list with (page, left, top, right, bottom) of each of its blocks, in order.

    The result is None if documents have no blocks or no pages. A block is skipped if its box is unknown. It is also
    skipped if it begins on a page before the chunk's first page, because its box is on that earlier page.
    """
    blocks = features.blocks
    if blocks is None or features.page_starts is None:
        return None
    documents = columns["document_index"] - first_row
    before = np.repeat(features.offsets[:-1], np.diff(blocks.offsets))
    starts = columns["start_byte"] + features.offsets[documents]
    ends = columns["end_byte"] + features.offsets[documents]
    first = np.searchsorted(blocks.end + before, starts, "right")
    counts = np.maximum(np.searchsorted(blocks.start + before, ends, "left") - first, 0)
    found = np.repeat(first - offsets_of(counts)[:-1], counts) + np.arange(counts.sum())
    box = np.full((len(blocks.start), 4), np.nan, np.float32) if blocks.box is None else blocks.box
    page = np.zeros(len(blocks.start), np.int32) if blocks.page is None else blocks.page
    rows = np.repeat(np.arange(len(counts)), counts)
    # A block that is on an earlier page than the chunk began before the chunk, so it is skipped.
    known = ~np.isnan(box[found]).any(axis=1) & (page[found] >= columns["page"][rows])
    rows = rows[known]
    found = found[known]
    values: list[npt.NDArray[Any]] = [page[found], *np.ascontiguousarray(box[found].T)]
    items = pa.StructArray.from_arrays([primitive(value) for value in values], ["page", *SIDES])
    return pa.LargeListArray.from_arrays(primitive(offsets_of(np.bincount(rows, minlength=len(counts)))), items)
