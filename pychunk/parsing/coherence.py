"""What goes with its neighbours: code, lists that a line introduces, headings; none is noise by itself.

The network sees blocks one by one, and pages of which people marked the text have little code: of 36 manuals' pages it
took 5 % of the code for noise, and of some lists all items but the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data.blocks import CODE, HEADING, ITEM, PARAGRAPH

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..data.blocks import Blocks

    F64 = npt.NDArray[np.float64]
    I8 = npt.NDArray[np.int8]

#: What a block is to those around it.
NONE, HEADS, LISTED, TYPED, INTRODUCES, TITLES = range(6)
_ROLES = np.zeros(256, np.int8)
_ROLES[[HEADING, ITEM, CODE]] = HEADS, LISTED, TYPED
#: Words of a line that introduces a list, at least: "Share:" introduces none.
_LEAST = 4
#: Before the first block that is content with this probability, headings are the page's title: people who mark text
#: leave it out, and chunks have it in their path if it is of level 1. On a page without one, the title is the heading
#: at most so many blocks before: it is kept.
_BODY, _NEAR = 0.5, 3


def roles(blocks: Blocks, text: str, weight: F64) -> I8:
    """int8[b]: what each block is to those around it; ``weight`` is its words.

    Example:
        >>> from pychunk.parsing.html import parse_html
        >>> page = parse_html("<h2>Use</h2><p>Take these two together:<ul><li>One<li>Two</ul><pre>run</pre>")
        >>> roles(page.blocks, page.text, np.array([1.0, 5, 1, 1, 1])).tolist()
        [1, 4, 2, 2, 3]
    """
    found = _ROLES[blocks.kind]
    found[(found == HEADS) & (blocks.level == 1)] = TITLES
    before = np.flatnonzero((blocks.kind[:-1] == PARAGRAPH) & (found[1:] == LISTED) & (weight[:-1] >= _LEAST))
    ends = blocks.end[before].tolist()
    introduces = [row for row, end in zip(before.tolist(), ends, strict=True) if text[end - 1] in ":："]
    found[introduces] = INTRODUCES
    return found


def with_neighbours(content: F64, role: I8, landmark: I8, weight: F64) -> F64:
    """float64[b], multiples of 1 / 1024: how likely each block is content, given what it goes with.

    Items of a list are as likely as the line that introduces them, code as what is before it, if no landmark parts
    them, and a heading behind the page's title as what it heads is by its words and at its beginning; the title as the
    body's first block where no heading is of level 1. None is less likely than by itself.

    Example:
        >>> role = np.array([INTRODUCES, LISTED, LISTED, NONE, HEADS, NONE], np.int8)
        >>> with_neighbours(np.array([0.75, 0.25, 1, 0.25, 0.25, 1]), role, role * 0, np.ones(6)).tolist()
        [0.75, 0.75, 1.0, 0.25, 1.0, 1.0]
    """
    if not role.any():
        return content
    content = content.copy()
    place = np.arange(len(content))
    for kind in (LISTED, TYPED):
        rows = np.flatnonzero(role == kind)
        if len(rows):
            last = np.maximum.accumulate(np.where(role == kind, -1, place))[rows]
            rows, last = rows[last >= 0], last[last >= 0]
            goes = landmark[rows] == landmark[last]
            if kind == LISTED:
                goes &= role[last] == INTRODUCES
            content[rows[goes]] = np.maximum(content[rows[goes]], content[last[goes]])
    heads = np.flatnonzero((role == HEADS) | (role == TITLES))
    likely = content >= _BODY
    if len(heads) and likely.any():
        body = int(likely.argmax())
        title = int(heads[max(np.searchsorted(heads, body, side="right") - 1, 0)])
        if body - _NEAR <= title <= body and landmark[title] == landmark[body] and not (role == TITLES).any():
            content[title] = max(content[title], content[body])
        ends = np.append(heads[1:], len(content))
        there = (ends > heads + 1) & (heads >= body)
        heads, ends = heads[there], ends[there]
        words = np.concatenate(([0.0], np.cumsum(weight)))
        kept = np.concatenate(([0.0], np.cumsum(content * weight)))
        share = (kept[ends] - kept[heads + 1]) / np.maximum(words[ends] - words[heads + 1], 1)
        content[heads] = np.maximum(content[heads], np.minimum(np.rint(1024 * share) / 1024, content[heads + 1]))
    return content
