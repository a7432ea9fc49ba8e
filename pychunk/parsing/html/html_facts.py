"""The facts by which noise in a page is detected: its tree of elements, and counts of each block, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._engine.data.html_tags import word_hash

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..._engine.data.ragged import Ragged

    I16 = npt.NDArray[np.int16]
    I32 = npt.NDArray[np.int32]
    I64 = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class HtmlFacts:
    """The facts of the b blocks of one page and of the e elements above them.

    Elements are in preorder, so those inside element i are the rows ``i + 1`` up to ``last[i]``. Each block has a row
    of its own, ``element``, whose words are those of its inline elements.

    Attributes:
        element: int32[b], ascending.
        text_chars: int32[b], characters without markup, with runs of white space as one.
        link_chars: int32[b], the number of them in links.
        links: int16[b], links that begin in the block.
        hidden: bool[b], whether the page hides the block (``hidden``, ``display: none``).
        told: bool[b], whether the page gives search engines the same text, as its description or its article's body.
        parent: int32[e], the element around each; -1 for the first.
        last: int32[e], one past the last row inside.
        depth: int16[e], the number of elements around each.
        words: uint32 hashes (``word_hash``) of each element's tag and of the words of its class, id, role and label;
            ``words.offsets`` int64[e + 1].
        page: uint32 hashes of what the page declares itself to be: its type, its generator, the names of its body.
    """

    element: I32
    text_chars: I32
    link_chars: I32
    links: I16
    hidden: Bools
    told: Bools
    parent: I32
    last: I32
    depth: I16
    words: Ragged
    page: npt.NDArray[np.uint32]


def held_blocks(facts: HtmlFacts) -> I64:
    """Return int64[e, 2]: the first block of each element, and one past the last.

    >>> from pychunk.parsing.html.page import parse_html
    >>> held_blocks(parse_html("<p>Home<div><p>One<p>Two</div>").facts).tolist()[-5:]
    [[1, 3], [1, 2], [1, 2], [2, 3], [2, 3]]
    """
    before = np.zeros(len(facts.parent) + 1, np.int64)
    before[facts.element + 1] = 1
    before = np.cumsum(before)
    return np.stack([before[:-1], before[facts.last]], axis=1)


class Names:
    """A set of words to find among the names of elements; a check of each name's last bits rules most names out.

    Attributes:
        words: The words, each once; :meth:`find` returns positions in this tuple.

    Example:
        >>> from pychunk.parsing.html.page import parse_html
        >>> found, which = Names(("nav", "<p")).find(parse_html("<div class=nav><p>Home").facts)
        >>> which.tolist()
        [0, 1]
    """

    _BITS = 4095

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(dict.fromkeys(words))
        hashes = np.array(list(map(word_hash, self.words)), np.uint32)
        self._order = np.argsort(hashes)
        self._known = hashes[self._order]
        self._maybe = np.zeros(self._BITS + 1, np.bool_)
        self._maybe[hashes & self._BITS] = True

    def find(self, facts: HtmlFacts) -> tuple[I64, I64]:
        """Return the rows of elements named with one of the words, and the positions of the words: int64[n] each.

        Rows are ascending; an element has a row for each of its names.

        Time: 4 bytes of each name once, and a search for one name in 4,096, plus the hits.
        """
        names = facts.words.values
        hits = np.flatnonzero(self._maybe[names & self._BITS])
        at = np.minimum(np.searchsorted(self._known, names[hits]), len(self._known) - 1)
        same = self._known[at] == names[hits]
        rows = np.searchsorted(facts.words.offsets, hits[same], side="right") - 1
        return rows, self._order[at[same]]
