"""Parts of a page that HTML itself says are not its text: menus, the page's own header and footer, asides, dialogs.

The network sees the name of an element as one word among those of all elements around a block, and where a footer
holds a whole privacy policy, prose outweighs it. On 1,497 marked pages 1.2 % of the 456,000 words in menus, dialogs and
the page's footer are content, and 3.5 % of the 122,000 in its header, in asides and in labels of forms; of the former
the network kept 34,000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .html_facts import word_hash

if TYPE_CHECKING:
    import numpy.typing as npt

    from .html_facts import HtmlFacts

#: What a block's landmark says of it: nothing, that it is seldom content, that it is none.
NONE, BESIDE, OUTSIDE = 0, 1, 2
#: What the odds of content are divided by in a landmark that seldom holds any.
SELDOM = 8
#: Names of elements and roles; a header and a footer are those of the page unless something of ``_OWN`` is around them.
_OF_PAGE = {"<footer": OUTSIDE, "<header": BESIDE}
_ANYWHERE = {"<nav": OUTSIDE, "<dialog": OUTSIDE, "contentinfo": OUTSIDE, "<aside": BESIDE, "<label": BESIDE}
_OWN = ("<article", "<main", "<blockquote")
_MAIN = word_hash("<main")

_KNOWN = np.array(sorted(map(word_hash, (*_OF_PAGE, *_ANYWHERE, *_OWN))), np.uint32)
_SAYS = {word_hash(name): says for name, says in {**_OF_PAGE, **_ANYWHERE}.items()}
_HEADS = {word_hash(name) for name in _OF_PAGE}
_AROUND = {word_hash(name) for name in _OWN}
#: Most words are none of these: the first look is at their last bits.
_BITS = 4095
_MAYBE = np.zeros(_BITS + 1, np.bool_)
_MAYBE[_KNOWN & _BITS] = True


def landmarks(facts: HtmlFacts) -> npt.NDArray[np.int8]:
    """int8[b]: what the landmarks around each block of a page say of it, the strictest of them.

    A landmark with ``<main>`` in it says nothing: its end tag is missing.

    Time: the names of the page's elements once, 4 bytes each, and the blocks of each landmark.

    Source: HTML, "Sections" and "The main element"; ARIA landmark roles.

    Example:
        >>> from pychunk.parsing.html import parse_html
        >>> page = parse_html("<nav>Home</nav><main><p>One<footer>Two</footer></main><aside>Three</aside><footer>Four")
        >>> landmarks(page.facts).tolist()
        [2, 0, 0, 1, 2]
    """
    found = np.zeros(len(facts.element), np.int8)
    words = facts.words.values
    hits = np.flatnonzero(_MAYBE[words & _BITS])
    hits = hits[np.isin(words[hits], _KNOWN)]
    rows = (np.searchsorted(facts.words.offsets, hits, side="right") - 1).tolist()
    own_until = -1
    held: list[tuple[int, int, int]] = []  # first element, one past the last, what they say
    mains: list[int] = []
    for row, word in zip(rows, words[hits].tolist(), strict=True):  # in preorder
        end = int(facts.last[row])
        if word in _AROUND:
            own_until = max(own_until, end)
            if word == _MAIN:
                mains.append(row)
        elif word not in _HEADS or row >= own_until:
            held.append((row, end, _SAYS[word]))
    for row, end, says in held:
        main_at = int(np.searchsorted(mains, row))
        if main_at < len(mains) and mains[main_at] < end:
            continue
        first, last = np.searchsorted(facts.element, (row, end))
        np.maximum(found[first:last], says, out=found[first:last])
    return found


def by_landmarks(content: npt.NDArray[np.float64], found: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    """float64[b]: how likely each block is content, multiples of 1 / 1024, given its landmarks, and what was likely.

    Where nothing outside them is as likely as not, they say nothing: the page is one dialog, or all in one ``<nav>``.

    Example:
        >>> content = np.array([0.75, 0.5, 0.875])
        >>> by_landmarks(content, np.array([NONE, BESIDE, OUTSIDE], np.int8)).tolist()
        [0.75, 0.111328125, 0.0]
        >>> by_landmarks(content, np.array([OUTSIDE] * 3, np.int8)).tolist()
        [0.75, 0.5, 0.875]
    """
    seldom = np.rint(1024 * content / (content + SELDOM * (1 - content))) / 1024
    given = np.select([found == OUTSIDE, found == BESIDE], [0.0, seldom], content)
    return given if (given >= 0.5).any() else content
