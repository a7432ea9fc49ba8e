"""Hits with what they stand in: the subtree of headings that hangs on them, or the section that they are part of.

Chunks of ``structure`` stand in preorder, so that a subtree is a run of rows (AutoChunker, "context-aware retrieval").
Two subtrees are apart, or one holds the other: of those that several hits bring the outermost is returned, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .hits import Hit, Passage

if TYPE_CHECKING:
    from .searcher import Searcher

I64 = npt.NDArray[np.int64]
WAYS = ("subtree", "section")
Region = tuple[int, int]  # rows [first, last)


@dataclass(frozen=True)
class Outline:
    """The trees of headings of all documents, by row: how many rows a subtree has, and the row that each hangs on.

    A chunk of a document without a tree is a subtree of its own, and hangs on none.
    """

    size: I64
    parent: I64

    @classmethod
    def of(cls, table: pa.Table) -> Outline:
        """Of an index's table; ValueError where none of its chunks has a tree."""
        if "subtree" not in table.column_names:
            raise ValueError(
                "these chunks have no tree of headings to expand hits by: index documents with method 'structure', or "
                "pass expand= a number of neighbours"
            )
        rows = np.arange(table.num_rows, dtype=np.int64)
        size, parent, chunk = (
            np.asarray(table.column(name).cast(pa.int64()).fill_null(empty), np.int64)
            for name, empty in (("subtree", 1), ("parent", -1), ("chunk", 0))
        )
        return cls(size, np.where(parent < 0, -1, rows - chunk + parent))

    def region(self, row: int, way: str, path: Sequence[str] | None, path_above: Sequence[str] | None) -> Region:
        """Rows of the subtree of a chunk; by ``section`` of the chunk that begins its section.

        ``path``, ``path_above``: the headings over the chunk, and over the one that it hangs on, which begins the same
        section where they are equal.
        """
        if way == "section" and self.parent[row] >= 0 and path == path_above:
            row = int(self.parent[row])
        return row, row + int(self.size[row])


def merged(hits: Sequence[Hit], regions: Sequence[Region]) -> list[tuple[Hit, Region]]:
    """Hits, best first, with their rows; of rows inside others the outermost, for the best hit among them."""
    found: list[tuple[Hit, Region]] = []
    for hit, (first, last) in zip(hits, regions, strict=True):
        if any(a <= first and last <= b for _, (a, b) in found):
            continue
        inside = [i for i, (_, (a, b)) in enumerate(found) if first <= a and b <= last]
        if not inside:
            found.append((hit, (first, last)))
            continue
        found[inside[0]] = found[inside[0]][0], (first, last)  # they are in order: the first is the best
        found = [each for i, each in enumerate(found) if i not in inside[1:]]
    return found


def within(passages: Sequence[Passage], own: int, words: int) -> list[Passage]:
    """Those that fit, in reading order: the hit's own chunk, which always stays, those behind it, then those before.

    Example:
        >>> chunks = [Passage(i, 0, 0, "one two three") for i in range(4)]
        >>> [each.chunk for each in within(chunks, 1, 10)]
        [1, 2, 3]
    """
    at = next(i for i, each in enumerate(passages) if each.chunk == own)
    counts = [len(each.text.split()) for each in passages]
    first, last, left = at, at + 1, words - counts[at]
    while last < len(passages) and counts[last] <= left:
        left -= counts[last]
        last += 1
    while first > 0 and last == len(passages) and counts[first - 1] <= left:
        first -= 1
        left -= counts[first]
    return list(passages[first:last])


def with_context(searcher: Searcher, hits: Sequence[Hit], way: str, *, parents: bool = False) -> list[Hit]:
    """Hits, each with the passages of its subtree or section, and of the chunks above it on request."""
    outline = searcher.outline
    regions = []
    for hit in hits:
        above = int(outline.parent[hit.row])
        path_above = searcher.path(above) if way == "section" and above >= 0 else None
        regions.append(outline.region(hit.row, way, hit.path, path_above))
    return [
        replace(hit, around=searcher.passages([*_above(outline, first, parents), *range(first, last)]))
        for hit, (first, last) in merged(hits, regions)
    ]


def _above(outline: Outline, row: int, wanted: bool) -> list[int]:
    """Rows of the chunks that a chunk hangs on, outermost first."""
    found: list[int] = []
    while wanted and (row := int(outline.parent[row])) >= 0:
        found.insert(0, row)
    return found


def up_to(hits: Sequence[Hit], words: int) -> Iterator[Hit]:
    """Hits in order, of at most so many words in all, each with as many of its passages as still fit.

    A hit whose own chunk is longer than what is left is passed over: later ones may be shorter.
    """
    left = words
    for hit in hits:
        passages = hit.around or (Passage(hit.chunk, hit.start, hit.end, hit.text),)
        kept = within(passages, hit.chunk, left)
        spent = sum(len(each.text.split()) for each in kept)
        if spent > left:
            continue
        left -= spent
        yield replace(hit, around=tuple(kept))
