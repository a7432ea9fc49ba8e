"""The blocks of documents: the headings, paragraphs, lists, tables and code that a parser found."""

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

#: The kinds of block, in the order of BlockKind in the core. ``Blocks.kind`` holds positions in this list.
BLOCK_KINDS = ("paragraph", "heading", "item", "table", "code", "quote", "caption", "form", "front_matter", "term")
PARAGRAPH, HEADING, ITEM, TABLE, CODE, QUOTE, CAPTION, FORM, FRONT_MATTER, TERM = range(len(BLOCK_KINDS))


@dataclass(frozen=True)
class Blocks:
    """The blocks of k documents in reading order. Blocks are never nested, and do not overlap.

    Text between two blocks, such as blank lines and marks that belong to no block, belongs to the block before it.

    Attributes:
        offsets: int64[k + 1]; document i has the blocks ``offsets[i]`` up to ``offsets[i + 1]``.
        kind: int8[b], positions in :data:`BLOCK_KINDS`.
        level: int16[b]: 1 to 6 for headings; for list items and quotes how deeply they are nested, from 1; for code
            that introduces the heading after it, such as the comments above a definition, the level of this heading; 0
            for other blocks.
        start, end: int64[b], increasing spans in characters of the document's text, with ``start < end``. They include
            markup that is part of the text: the ``#`` of a heading, the bars of a table, the fences of code.
        source_start, source_end: int64[b], spans in characters of the file from which the block was read. None if the
            document's text is the file itself, or if the parser does not know the positions.
        page: int32[b], page numbers from 1, or None if there are no pages.
        box: float32[b, 4]: left, top, right, bottom in points from the top left of the page. None if there are no
            pages.
        markup: bool[b]: true if the block's text is Markdown source, so that links, emphasis and tags must be removed
            to get the name of a heading. Blocks of HTML and PDF have plain text. None means that no block is source.

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
        """Build blocks from the (kind, level, start, end) of each block of each document."""
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
        """Return the blocks of documents [begin, end). Only the offsets are copied."""
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        own = {name: values[first:last] for name, values in vars(self).items() if values is not None}
        return replace(self, **{**own, "offsets": self.offsets[begin : end + 1] - first})

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1
