"""Rules for blocks that are kept or removed together: code, introduced lists, headings, terms, tables and captions.

The network judges blocks one by one, and the labelled pages have little code. On 36 pages of manuals, the network took
5 % of the code for noise, and in some lists all items but the last. In PostgreSQL's manual it removed 638 of 4,337
terms whose definitions it kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..._engine.data.blocks import CAPTION, CODE, HEADING, ITEM, PARAGRAPH, TABLE
from .html_facts import Names

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..._engine.data.blocks import Blocks
    from .html_facts import HtmlFacts

    F64 = npt.NDArray[np.float64]
    I8 = npt.NDArray[np.int8]
    I64 = npt.NDArray[np.int64]

#: The roles that a block can have for the blocks around it.
NONE, HEADS, LISTED, TYPED, INTRODUCES, TITLES, NUMBERED = range(7)
_ROLES = np.zeros(256, np.int8)
_ROLES[[HEADING, ITEM, CODE]] = HEADS, LISTED, TYPED
#: The minimum number of words of a line that introduces a list: "Share:" introduces none.
_LEAST = 4
#: The body of a page begins with its first block that is content with at least the probability ``_BODY``. Headings
#: before it are the page's title. People who label text leave the title out, and chunks have it in their heading path
#: if its level is 1. On a page without a heading of level 1, the title is the last heading before the body, at most
#: ``_NEAR`` blocks before it, and it is kept.
_BODY, _NEAR = 0.5, 3
#: A caption with a number is part of the text. On 1,497 labelled pages, 24 of 32 such captions are content, but only a
#: tenth of captions without a number.
_NUMBER = re.compile(
    r"(?:figure|fig\.?|table|chart|listing|example|abbildung|abb\.|tabelle|tableau|figura|tabla|рис\.|рисунок|таблица|"
    r"图|表|図)\s?\d",
    re.IGNORECASE,
)
#: The elements of terms and definitions, whatever kinds the blocks in them have.
_PAIRS = Names(("<dt", "<dd"))
#: The maximum number of blocks in an element that holds a table with its caption and its notes.
_TABLED = 3
#: If the average number of definitions around a block is larger than this, only this number of blocks of each
#: definition is processed.
_NESTED = 16


def roles(blocks: Blocks, text: str, weight: F64) -> I8:
    """Return int8[b]: the role of each block for the blocks around it; ``weight`` is each block's number of words.

    Example:
        >>> from pychunk.parsing.html.page import parse_html
        >>> page = parse_html("<h2>Use</h2><p>Take these two together:<ul><li>One<li>Two</ul><pre>run</pre>")
        >>> roles(page.blocks, page.text, np.array([1.0, 5, 1, 1, 1])).tolist()
        [1, 4, 2, 2, 3]
    """
    found = _ROLES[blocks.kind]
    found[(found == HEADS) & (blocks.level == 1)] = TITLES
    captions = np.flatnonzero(blocks.kind == CAPTION).tolist()
    found[[row for row in captions if _NUMBER.match(text, int(blocks.start[row]))]] = NUMBERED
    before = np.flatnonzero((blocks.kind[:-1] == PARAGRAPH) & (found[1:] == LISTED) & (weight[:-1] >= _LEAST))
    ends = blocks.end[before].tolist()
    introduces = [row for row, end in zip(before.tolist(), ends, strict=True) if text[end - 1] in ":："]
    found[introduces] = INTRODUCES
    return found


def pairs(blocks: Blocks, facts: HtmlFacts) -> I64:
    """Return int64[n, 3]: spans of blocks (first, one past the last), each with the number of its group.

    The spans of a group are kept or removed together; they are consecutive rows of the result. One kind of group is a
    run of terms (``dt``) in a list with their definitions (``dd``). Another kind is a table with the other blocks of
    its element, such as its caption.

    Time: reads the names of the page's elements once, 4 bytes each.

    Example:
        >>> from pychunk.parsing.html.page import parse_html
        >>> page = parse_html("<dl><dt>%ae<dd><p>Author<p>owner<dt>%cd<dd>Date</dl>")
        >>> pairs(page.blocks, page.facts).tolist()
        [[0, 1, 0], [1, 3, 0], [3, 4, 1], [4, 5, 1]]
    """
    rows, which = _PAIRS.find(facts)
    if len(rows):
        order = np.lexsort((rows, facts.parent[rows]))
        rows, which, parent = rows[order], which[order], facts.parent[rows[order]]
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = (parent[1:] != parent[:-1]) | ((which[1:] == 0) & (which[:-1] == 1))
        spans = np.searchsorted(facts.element, np.stack([rows, facts.last[rows]])).astype(np.int64)
        found = np.stack([*spans, np.cumsum(begins) - 1], axis=1)
        found = found[spans[1] > spans[0]]
    else:
        found = np.zeros((0, 3), np.int64)
    tables = np.flatnonzero(blocks.kind == TABLE)
    if not len(tables):
        return found
    own = facts.parent[facts.element[tables]].astype(np.int64)
    first, last = tables, tables + 1
    for _ in range(_TABLED):  # while the table is alone in its element, go to the element around that one
        alone = (last == first + 1) & (own >= 0)
        spans = np.searchsorted(facts.element, np.stack([own, facts.last[own]])).astype(np.int64)
        first, last = np.where(alone, spans[0], first), np.where(alone, spans[1], last)
        own = np.where(alone & (last == first + 1), facts.parent[own], own)
    held = (last > first + 1) & (last <= first + _TABLED)
    first, last = np.where(held, first, tables), np.where(held, last, tables + 1)
    before = np.maximum(tables - 1, 0)
    first = np.where(~held & (tables > 0) & (blocks.kind[before] == CAPTION), before, first)
    several = last > first + 1
    first, many = first[several], (last - first)[several]
    at = _runs(first, many)
    group = np.repeat(np.arange(len(many)), many) + (int(found[-1, 2]) + 1 if len(found) else 0)
    return np.concatenate([found, np.stack([at, at + 1, group], axis=1)])


def _runs(first: I64, many: I64) -> I64:
    """Return the numbers ``first[i]`` up to ``first[i] + many[i]`` for each i, one after the other."""
    return np.asarray(np.arange(many.sum()) + np.repeat(first - np.cumsum(many) + many, many))


def together(content: F64, found: I64, landmark: I8, weight: F64) -> F64:
    """Return float64[b]: content, where each span of a group is at least as likely as the group's likeliest span.

    The likelihood of a span is the mean probability of its blocks, weighted by their words. Blocks whose landmarks
    have another verdict than those of their group's first block do not change.

    Time: each block is processed once for each definition that contains it. If lists are deeply nested, only 16 blocks
    of each definition are processed.

    Args:
        content: The probability that each block is content, float64[b].
        found: The result of :func:`pairs`.
        landmark: The verdict of the landmarks around each block, int8[b] (:func:`.landmarks.landmarks`).
        weight: The number of words of each block, float64[b].

    Example:
        >>> together(np.array([0.25, 0.75, 0.5]), np.array([[0, 1, 0], [1, 3, 0]]), np.zeros(3, np.int8), np.ones(3))
        array([0.625, 0.75 , 0.625])
    """
    if not len(found):
        return content
    first, last, group = found.T
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    lengths = np.diff(np.append(starts, len(group)))
    words = np.concatenate(([0.0], np.cumsum(weight)))
    likely = np.concatenate(([0.0], np.cumsum(content * weight)))
    means = (likely[last] - likely[first]) / np.maximum(words[last] - words[first], 1)
    means = np.where(landmark[first] == np.repeat(landmark[first[starts]], lengths), means, 0)
    best = np.repeat(np.rint(1024 * np.maximum.reduceat(means, starts)) / 1024, lengths)
    many = np.where(means > 0, last - first, 0)
    if many.sum() > _NESTED * (len(content) + len(many)):
        many = np.minimum(many, _NESTED)
    at, best = _runs(first, many), np.repeat(best, many)
    same = landmark[at] == np.repeat(np.repeat(landmark[first[starts]], lengths), many)
    given: F64 = content.copy()
    np.maximum.at(given, at[same], best[same])
    return given


def _listed(content: F64, listed: I64, landmark: I8, weight: F64) -> F64:
    """Return float64[b]: for each list item, the mean of its list's probabilities, weighted by the items' words.

    It is 0 for other blocks, and for items whose landmarks have another verdict than those of the first item.
    """
    first, last = listed.T
    words = np.concatenate(([0.0], np.cumsum(weight)))
    likely = np.concatenate(([0.0], np.cumsum(content * weight)))
    mean = np.rint(1024 * (likely[last] - likely[first]) / np.maximum(words[last] - words[first], 1)) / 1024
    given = np.zeros(len(content))
    at = _runs(first, last - first)
    same = landmark[at] == np.repeat(landmark[first], last - first)
    given[at] = np.where(same, np.repeat(mean, last - first), 0)
    return given


def _put_between(content: F64, which: npt.NDArray[np.bool_], landmark: I8) -> None:
    """Make blocks at least as likely as the less likely of their two neighbours, if no landmark separates them."""
    rows = np.flatnonzero(which[1:-1]) + 1
    for side in (-1, 1):
        rows = rows[landmark[rows] == landmark[rows + side]]
    content[rows] = np.maximum(content[rows], np.minimum(content[rows - 1], content[rows + 1]))


def with_neighbours(
    content: F64, role: I8, landmark: I8, weight: F64, level: npt.NDArray[np.int16], manual: bool = False
) -> F64:
    """Return the probability that each block is content, given its neighbours: float64[b], multiples of 1 / 1024.

    In these rules, "as likely" means "raised to at least the same probability"; no block becomes less likely. The rules
    apply only if no landmark separates the blocks, except for the rule about sections:

    - A line that introduces a list is as likely as the first item, and the items are as likely as the line. On pages of
      manuals, items are also as likely as the mean of their list.
    - Code is as likely as the last block before it that is not code, and as the less likely of its two neighbours.
    - Sections: a heading in the body is as likely as the less likely of two values: the mean of its section, weighted
      by words, and the section's first block. If a deeper heading follows directly, the heading takes that heading's
      value.
    - If no heading is of level 1, the title is as likely as the body's first block.
    - A caption with a number is as likely as the less likely of its two neighbours.

    Args:
        content: The probability that each block is content, float64[b].
        role: The result of :func:`roles`.
        landmark: The verdict of the landmarks around each block, int8[b] (:func:`.landmarks.landmarks`).
        weight: The number of words of each block, float64[b].
        level: int16[b], the levels of headings, 0 for other blocks.
        manual: Whether the page belongs to a manual, which has no teasers. Then every heading, even before the body, is
            as likely as the mean of its section, whatever the section's first block is. The first heading of level 1 is
            as likely as the body's first block.

    Example:
        >>> role = np.array([INTRODUCES, LISTED, LISTED, NONE, HEADS, NONE], np.int8)
        >>> with_neighbours(np.array([0.75, 0.25, 1, 0.25, 0.25, 1]), role, role * 0, np.ones(6), role * 0).tolist()
        [0.75, 0.75, 1.0, 0.25, 1.0, 1.0]
    """
    if not role.any():
        return content
    content = content.copy()
    place = np.arange(len(content))
    listed = np.flatnonzero(np.diff(np.concatenate(([False], role == LISTED, [False])))).reshape(-1, 2)
    if manual and len(listed):
        content = np.maximum(content, _listed(content, listed, landmark, weight))
    rows = np.flatnonzero(role[:-1] == INTRODUCES)
    rows = rows[landmark[rows] == landmark[rows + 1]]
    content[rows] = np.maximum(content[rows], content[rows + 1])
    for kind in (LISTED, TYPED):
        rows = np.flatnonzero(role == kind)
        if len(rows):
            last = np.maximum.accumulate(np.where(role == kind, -1, place))[rows]
            rows, last = rows[last >= 0], last[last >= 0]
            goes = landmark[rows] == landmark[last]
            if kind == LISTED:
                goes &= role[last] == INTRODUCES
            content[rows[goes]] = np.maximum(content[rows[goes]], content[last[goes]])
    _put_between(content, role == NUMBERED, landmark)
    heads = np.flatnonzero((role == HEADS) | (role == TITLES))
    likely = content >= _BODY
    if len(heads) and likely.any():
        body = int(likely.argmax())
        title = int(heads[max(np.searchsorted(heads, body, side="right") - 1, 0)])
        if body - _NEAR <= title <= body and landmark[title] == landmark[body] and not (role == TITLES).any():
            content[title] = max(content[title], content[body])
        titles = np.flatnonzero(role[: body + 1] == TITLES)
        if manual and len(titles) and landmark[titles[0]] == landmark[body]:
            content[titles[0]] = max(content[titles[0]], content[body])
        ends = np.append(heads[1:], len(content))
        words = np.concatenate(([0.0], np.cumsum(weight)))
        kept = np.concatenate(([0.0], np.cumsum(content * weight)))
        share = (kept[ends] - kept[heads + 1]) / np.maximum(words[ends] - words[heads + 1], 1)
        share = np.rint(1024 * share) / 1024
        over = (ends == heads + 1) & (ends < len(content)) & (level[np.minimum(ends, len(content) - 1)] > level[heads])
        step = np.arange(len(heads))
        under = np.minimum.accumulate(np.where(over, len(heads), step)[::-1])[::-1]
        if not manual:
            share = np.minimum(share, content[np.minimum(heads + 1, len(content) - 1)])
        value = share[under]
        if not manual:
            value[heads < body] = 0
        content[heads] = np.maximum(content[heads], value)
    _put_between(content, role == TYPED, landmark)
    return content
