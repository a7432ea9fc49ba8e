"""The parts of a page that HTML itself declares not to be its text: menus, header and footer, asides, dialogs.

The network sees the name of an element as one word among the names of all elements around a block. If a footer holds a
whole privacy policy, the prose outweighs the name. On 1,497 labelled pages, 1.2 % of the 456,000 words in menus,
dialogs and the page's footer are content. Without the rules of this module, the network kept 34,000 of these words. Of
the 122,000 words in the page's header, in asides and in labels of forms, 3.5 % are content.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from .html_facts import Names

if TYPE_CHECKING:
    import numpy.typing as npt

    from .html_facts import HtmlFacts

#: The verdict of a landmark on a block: none, seldom content, never content, or never content because the block links
#: to the pages before and after (:func:`pychunk.parsing.html.manuals.turns`).
NONE, BESIDE, OUTSIDE, PAGER = 0, 1, 2, 3
#: The number by which the odds of content are divided in a landmark that seldom holds content.
SELDOM = 8
#: The names of elements and roles, with their verdicts. A header or footer counts only if no element of ``_OWN`` is
#: around it, because it is otherwise not the page's.
_OF_PAGE = {"<footer": OUTSIDE, "<header": BESIDE}
_ANYWHERE = {"<nav": OUTSIDE, "<dialog": OUTSIDE, "contentinfo": OUTSIDE, "<aside": BESIDE, "<label": BESIDE}
_OWN = ("<article", "<main", "<blockquote")
#: The names by which manuals mark an aside in the text as a part of it. The 1,497 pages have two such blocks.
_NOTES = ("admonition", "callout", "caution", "danger", "footnote", "hint", "important", "note", "tip", "warning")
_NAMES = Names((*_OF_PAGE, *_ANYWHERE, *_OWN, *_NOTES))
_SAYS = {**_OF_PAGE, **_ANYWHERE}


def landmarks(facts: HtmlFacts) -> npt.NDArray[np.int8]:
    """Return int8[b]: for each block of a page, the strictest verdict of the landmarks around it.

    A landmark that contains ``<main>`` has no verdict, because its end tag must be missing. Nor has an aside that is in
    the text and named as a note.

    Time: reads the names of the page's elements once, 4 bytes each, and the blocks of each landmark.

    Source: HTML, "Sections" and "The main element"; ARIA landmark roles.

    Example:
        >>> from pychunk.parsing.html.page import parse_html
        >>> page = parse_html("<nav>Home</nav><main><p>One<footer>Two</footer></main><aside>Three</aside><footer>Four")
        >>> landmarks(page.facts).tolist()
        [2, 0, 0, 1, 2]
    """
    found = np.zeros(len(facts.element), np.int8)
    rows, which = _NAMES.find(facts)
    ends = facts.last[rows]
    first, last = np.searchsorted(facts.element, np.stack([rows, ends])).tolist()
    own_until, notes = -1, set[int]()
    # Each tuple has the element, one past the last row inside, the place of the name, and the name.
    held: list[tuple[int, int, int, str]] = []
    mains: list[int] = []
    for at, (row, end, number) in enumerate(zip(rows.tolist(), ends.tolist(), which.tolist(), strict=True)):
        # The rows ascend, and elements are in preorder.
        name = _NAMES.words[number]
        if name in _OWN:
            own_until = max(own_until, end)
            if name == "<main":
                mains.append(row)
        elif name in _NOTES:
            if row < own_until:
                notes.add(row)
        elif name not in _OF_PAGE or row >= own_until:
            held.append((row, end, at, name))
    for row, end, at, name in held:
        if name == "<aside" and row in notes:
            continue
        main_at = bisect_left(mains, row)
        if main_at == len(mains) or mains[main_at] >= end:
            blocks = found[first[at] : last[at]]
            np.maximum(blocks, _SAYS[name], out=blocks)
    return found


def by_landmarks(content: npt.NDArray[np.float64], found: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    """Return the probability that each block is content, given its landmarks: float64[b], multiples of 1 / 1024.

    Landmarks have no effect if no block would then have a probability of at least 0.5. In that case, the whole page is
    a dialog, or inside a ``<nav>``.

    Example:
        >>> content = np.array([0.75, 0.5, 0.875])
        >>> by_landmarks(content, np.array([NONE, BESIDE, OUTSIDE], np.int8)).tolist()
        [0.75, 0.111328125, 0.0]
        >>> by_landmarks(content, np.array([OUTSIDE] * 3, np.int8)).tolist()
        [0.75, 0.5, 0.875]
    """
    if not found.any():
        return content
    seldom = np.rint(1024 * content / (content + SELDOM * (1 - content))) / 1024
    given = np.where(found == BESIDE, seldom, content)
    given[found >= OUTSIDE] = 0
    return given if (given >= 0.5).any() else content
