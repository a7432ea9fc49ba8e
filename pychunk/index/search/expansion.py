"""The expansion of hits to the subtree of headings below them, or to the section that they are part of.

The chunks of method ``structure`` are in preorder, so a subtree is a range of rows (AutoChunker, "context-aware
retrieval"). Two subtrees are disjoint, or one contains the other. Of nested subtrees, only the outermost is returned.

Subtrees are ranked by their evidence, a sum to which each hit inside the subtree adds exp((score - best) / T). Here T
is ``SPREAD`` times the difference between the scores of the best and the last hit. A section with three good hits
therefore comes before a section that has only the best hit.

A budget of words goes first to the subtrees with the highest evidence divided by length to the power of ``LENGTH``. The
power is below 1 because a subtree that does not fit is returned in part. This is the greedy solution of a knapsack
problem.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .heading_outline import Outline, Region
from .hits import Hit, Passage

if TYPE_CHECKING:
    from .searcher import Searcher

I64 = npt.NDArray[np.int64]
WAYS = ("subtree", "section")
#: The values were chosen by bench/structure/section_hits.py --split validation. There, sections return 0.664 of the
#: wanted text within 1,000 words, and 0.630 if sections are ranked by their best hit's score instead. With SPREAD from
#: 0.2 to 0.4 and LENGTH from 0.5 to 1 they return 0.649 to 0.677. Within 150 words, however, a LENGTH of 1 returns less
#: than the ranking by the best hit's score.
SPREAD = 0.3
LENGTH = 0.75


@dataclass(frozen=True)
class Expansion:
    """A hit with the rows that it brings, and the evidence for them."""

    hit: Hit
    rows: Region
    evidence: float


def ranked(hits: Sequence[Hit], regions: Sequence[Region]) -> list[Expansion]:
    """Return expansions ranked by evidence. ``hits`` are best first, and ``regions`` has the rows of each hit.

    Of nested regions the outermost is kept, with the best hit inside it.
    """
    outermost: list[Region] = []
    inside: dict[Region, list[int]] = {}  # The positions of the hits in each outermost region.
    for i in sorted(range(len(regions)), key=lambda i: (regions[i][0], -regions[i][1], i)):
        if not outermost or regions[i][0] >= outermost[-1][1]:
            outermost.append(regions[i])
        inside.setdefault(outermost[-1], []).append(i)
    scores = [hit.score for hit in hits]
    best = max(scores, default=0.0)
    unit = SPREAD * (best - min(scores, default=0.0))
    # Equal scores give equal evidence.
    worth = [math.exp((score - best) / unit) if unit > 0 else 1.0 for score in scores]
    own = sorted((min(numbers), rows, sum(worth[i] for i in sorted(numbers))) for rows, numbers in inside.items())
    found = [Expansion(hits[first], rows, evidence) for first, rows, evidence in own]
    # The sort is stable, so among equal evidence the better hit comes first.
    return sorted(found, key=lambda each: -each.evidence)


def needed(regions: Sequence[Region], k: int) -> int | None:
    """Return how many regions, in this order, it takes until the outermost of them are k. None: there are fewer.

    Example:
        >>> needed([(0, 3), (1, 2), (5, 6), (8, 9)], 2)
        3
    """
    begins: list[int] = []  # The outermost regions so far, which are disjoint, by their first rows.
    ends: list[int] = []
    for count, (begin, end) in enumerate(regions, 1):
        at = bisect_right(begins, begin)
        if at == 0 or ends[at - 1] < end:
            first = bisect_left(begins, begin)
            last = bisect_left(begins, end)
            begins[first:last], ends[first:last] = [begin], [end]
        if len(begins) == k:
            return count
    return None


def within(passages: Sequence[Passage], own: int, words: float) -> list[Passage]:
    """Return the passages that fit into a number of words, in reading order.

    The hit's own chunk, whose ``chunk_index`` is ``own``, always stays. The passages after it are added first. If all
    of them fit, the passages before it are added, from the nearest on.

    Example:
        >>> chunks = [Passage(i, 0, 0, "one two three") for i in range(4)]
        >>> [each.chunk_index for each in within(chunks, 1, 10)]
        [1, 2, 3]
    """
    at = next(i for i, each in enumerate(passages) if each.chunk_index == own)
    counts = [len(each.text.split()) for each in passages]
    first, last, left = at, at + 1, words - counts[at]
    while last < len(passages) and counts[last] <= left:
        left -= counts[last]
        last += 1
    while first > 0 and last == len(passages) and counts[first - 1] <= left:
        first -= 1
        left -= counts[first]
    return list(passages[first:last])


def regions_of(searcher: Searcher, hits: Sequence[Hit], way: str, parents: bool = False) -> list[Region]:
    """Return the rows of the subtree or section of each hit; in an index of levels, see :meth:`.Nodes.region`."""
    if _has_nodes(searcher):
        return _regions_of_nodes(searcher, hits, way, parents)
    outline = searcher.outline
    regions = []
    for hit in hits:
        above = int(outline.parent[hit.row])
        path_above = searcher.path(above) if way == "section" and above >= 0 else None
        regions.append(outline.region(hit.row, way, hit.path, path_above))
    return regions


def with_context(
    searcher: Searcher,
    hits: Sequence[Hit],
    way: str,
    *,
    k: int,
    parents: bool = False,
    words: int | None = None,
    names: Sequence[str] = (),
) -> list[Hit]:
    """Return up to k hits, each with the passages of its subtree or section, and with ``parents`` the chunks above it.

    The function uses the best hits, as many as it takes to find k regions that are not nested. With ``words``, only
    passages that fit into this number of words together are returned. In an index of levels, a node is its own subtree,
    because it has the text of all nodes below it. Its section is returned as nodes of one level. That is the coarsest
    of the levels that the hit belongs to, or if ``names`` has any levels, the coarsest among those in ``names``. A node
    that is in no section is returned alone.
    """
    regions = regions_of(searcher, hits, way, parents)
    count = needed(regions, k)
    found = ranked(hits[:count], regions[:count])
    if _has_nodes(searcher):
        rows = [searcher.nodes.inside(each.hit.row, each.rows, names).tolist() for each in found]
    else:
        rows = [[*_above(searcher.outline, each.rows[0], parents), *range(*each.rows)] for each in found]
    made = [replace(each.hit, around=searcher.passages(own)) for each, own in zip(found, rows, strict=True)]
    documents = searcher.documents_of(made)
    if words is None:
        return up_to(made, math.inf, documents=documents)
    worth = [each.evidence / max(1, words_of(hit.around)) ** LENGTH for each, hit in zip(found, made, strict=True)]
    return up_to(made, words, sorted(range(len(made)), key=lambda i: -worth[i]), documents)


def _has_nodes(searcher: Searcher) -> bool:
    return bool(searcher.levels) and "subtree" not in searcher.schema.names


def _regions_of_nodes(searcher: Searcher, hits: Sequence[Hit], way: str, parents: bool) -> list[Region]:
    if parents:
        raise ValueError(
            "parents= needs a tree of headings, which an index of levels does not have: leave parents= out, or "
            "search a coarser level"
        )
    if way == "section" and "section" not in searcher.levels:
        raise ValueError(
            f"expansion='section' needs the level 'section'; this index has {', '.join(searcher.levels)}: pass "
            "expansion='subtree', or build an index with this level"
        )
    return [searcher.nodes.region(hit.row, "section" if way == "section" else None) for hit in hits]


def _above(outline: Outline, row: int, wanted: bool) -> list[int]:
    """Return the rows of the chunks above a chunk, outermost first."""
    found: list[int] = []
    while wanted and (row := int(outline.parent[row])) >= 0:
        found.insert(0, row)
    return found


def words_of(passages: Sequence[Passage]) -> int:
    """Return the number of words of all passages together."""
    return sum(len(each.text.split()) for each in passages)


def up_to(
    hits: Sequence[Hit], words: float, first: Sequence[int] | None = None, documents: Sequence[int] | None = None
) -> list[Hit]:
    """Return the hits that fit into a number of words, in their order, each with as many of its passages as fit.

    Args:
        hits: The hits of a query.
        words: The most words.
        first: The order in which hits receive words, as positions among the hits. None: from the first hit to the last.
            A hit whose own chunk does not fit is left out, and the next hits are tried.
        documents: A number for the document of each hit. If it is passed, a passage that another hit already brought is
            not returned again.
    """
    kept: dict[int, tuple[Passage, ...]] = {}
    taken: set[tuple[int, int]] = set()
    for i in range(len(hits)) if first is None else first:
        hit = hits[i]
        own: Sequence[Passage] = hit.around or (Passage.of(hit),)
        if documents is not None:
            own = [each for each in own if (documents[i], each.chunk_index) not in taken]
        fitting = within(own, hit.chunk_index, words)
        if words_of(fitting) <= words:
            kept[i] = tuple(fitting)
            words -= words_of(fitting)
            taken.update((documents[i], each.chunk_index) for each in fitting if documents is not None)
    return [replace(hits[i], around=kept[i]) for i in sorted(kept)]
