"""Blocks of documents with structure: what a parser saw of headings, lists, tables and code, flat beside the text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .ragged import offsets_of

if TYPE_CHECKING:
    import numpy.typing as npt

    I8 = npt.NDArray[np.int8]
    I16 = npt.NDArray[np.int16]
    I32 = npt.NDArray[np.int32]
    I64 = npt.NDArray[np.int64]
    F32 = npt.NDArray[np.float32]

#: What a block is; ``Blocks.kind`` holds positions in this list (BlockKind of the core, in this order).
BLOCK_KINDS = ("paragraph", "heading", "item", "table", "code", "quote", "caption", "form", "front_matter", "term")
PARAGRAPH, HEADING, ITEM, TABLE, CODE, QUOTE, CAPTION, FORM, FRONT_MATTER, TERM = range(len(BLOCK_KINDS))


@dataclass(frozen=True)
class Blocks:
    """Blocks of k documents in reading order: leaves, which do not overlap.

    Text between two blocks (blank lines, marks that belong to none) goes with the block before it.

    Attributes:
        offsets: int64[k + 1]; document i has blocks ``offsets[i]`` up to ``offsets[i + 1]``.
        kind: int8[b], positions in :data:`BLOCK_KINDS`.
        level: int16[b]: of headings 1 to 6; of list items how deep the list is nested, from 1; of quotes the same;
            else 0.
        start, end: int64[b], characters of the document's canonical text, ``start < end``, rising. Markup that is part
            of the canonical text (the ``#`` of a heading, the bars of a table, the fences of code) is inside.
        source_start, source_end: int64[b], characters of the file that the block was read from; None where the
            canonical text is the file, or where parsers do not know it.
        page: int32[b], from 1; None where there are no pages.
        box: float32[b, 4], left, top, right, bottom in points from the page's top left; None where there are no pages.
        markup: bool[b]: the text is source, whose links, emphasis and tags are no part of a heading's name; None if
            none is. Blocks of Markdown are; those of HTML and PDF are text as it is read.

    Example:
        >>> blocks = Blocks.of([[("heading", 1, 0, 7), ("paragraph", 0, 9, 14)]])
        >>> blocks.documents, blocks.kind.tolist(), blocks.end.tolist()
        (1, [1, 0], [7, 14])
    """

    offsets: I64
    kind: I8
    level: I16
    start: I64
    end: I64
    source_start: I64 | None = None
    source_end: I64 | None = None
    page: I32 | None = None
    box: F32 | None = None
    markup: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, documents: list[list[tuple[str, int, int, int]]]) -> Blocks:
        """From (kind, level, start, end) of each block of each document."""
        rows = [row for blocks in documents for row in blocks]
        kinds, levels, starts, ends = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(
            offsets_of([len(blocks) for blocks in documents]),
            np.array([BLOCK_KINDS.index(kind) for kind in kinds], np.int8),
            np.array(levels, np.int16),
            np.array(starts, np.int64),
            np.array(ends, np.int64),
        )

    def rows(self, begin: int, end: int) -> Blocks:
        """Those of documents [begin, end) alone; nothing but offsets is copied."""
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        own = {name: values[first:last] for name, values in vars(self).items() if values is not None}
        return replace(self, **{**own, "offsets": self.offsets[begin : end + 1] - first})

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1
