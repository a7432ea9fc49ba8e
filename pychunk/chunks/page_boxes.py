"""Where on their pages chunks stand: where pages begin inside them, and the boxes of the blocks that they hold."""

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
    """For each chunk that the engine returned the first characters of the pages that begin inside it, rising.

    Its first character is on ``page``, so that character ``i`` of its document is on ``page`` plus as many pages as
    ``breaks <= i``. Most chunks have none and take 8 bytes. None where no pages were given.
    """
    if features.page_starts is None:
        return None
    documents = columns["document"] - first_row
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
        characters = np.cumsum((text & 0xC0) != 0x80)  # those that have begun by each byte
        found.append(columns["start"][row] + characters[begins[begin : begin + count] - starts[row]] - 1)
    return pa.LargeListArray.from_arrays(primitive(offsets_of(counts)), primitive(np.concatenate(found)))


def boxes_of(columns: dict[str, Any], features: Features, first_row: int) -> pa.Array | None:
    """For each chunk that the engine returned a list of (page, left, top, right, bottom) of its blocks, in their order.

    None where documents have no blocks or no pages. A block is left out if its box is not known, or if it begins on a
    page before the chunk: its box is of that page.
    """
    blocks = features.blocks
    if blocks is None or features.page_starts is None:
        return None
    documents = columns["document"] - first_row
    before = np.repeat(features.offsets[:-1], np.diff(blocks.offsets))
    starts = columns["start_byte"] + features.offsets[documents]
    ends = columns["end_byte"] + features.offsets[documents]
    first = np.searchsorted(blocks.end + before, starts, "right")
    counts = np.maximum(np.searchsorted(blocks.start + before, ends, "left") - first, 0)
    found = np.repeat(first - offsets_of(counts)[:-1], counts) + np.arange(counts.sum())
    box = np.full((len(blocks.start), 4), np.nan, np.float32) if blocks.box is None else blocks.box
    page = np.zeros(len(blocks.start), np.int32) if blocks.page is None else blocks.page
    rows = np.repeat(np.arange(len(counts)), counts)
    known = ~np.isnan(box[found]).any(axis=1) & (page[found] >= columns["page"][rows])  # or the chunk goes on with it
    rows = rows[known]
    found = found[known]
    values: list[npt.NDArray[Any]] = [page[found], *np.ascontiguousarray(box[found].T)]
    items = pa.StructArray.from_arrays([primitive(value) for value in values], ["page", *SIDES])
    return pa.LargeListArray.from_arrays(primitive(offsets_of(np.bincount(rows, minlength=len(counts)))), items)
