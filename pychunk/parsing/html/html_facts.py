"""The facts by which noise in a page is detected, as arrays: the tree of elements, and counts for each block."""

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

    Elements are in preorder, so the elements inside element i are the rows from ``i + 1`` to before ``last[i]``. Each
    block is also a row of this tree, which has the words of the block's inline elements.

    Attributes:
        element: int32[b], the row of each block, ascending.
        text_chars: int32[b], the number of characters without markup; a run of white space counts as one.
        link_chars: int32[b], the number of these characters that are in links.
        links: int16[b], links that begin in the block.
        hidden: bool[b], whether the page hides the block (``hidden``, ``display: none``).
        told: bool[b], whether the page's metadata for search engines has the block's text, as a description or as the
            body of the article.
        parent: int32[e], the element around each element; -1 for the first element.
        last: int32[e], one past the last row inside each element.
        depth: int16[e], the number of elements around each element.
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
    """Return int64[e, 2]: the first block of each element, and one past its last block.

    >>> from pychunk.parsing.html.page import parse_html
    >>> held_blocks(parse_html("<p>Home<div><p>One<p>Two</div>").facts).tolist()[-5:]
    [[1, 3], [1, 2], [1, 2], [2, 3], [2, 3]]
    """
    before = np.zeros(len(facts.parent) + 1, np.int64)
    before[facts.element + 1] = 1
    before = np.cumsum(before)
    return np.stack([before[:-1], before[facts.last]], axis=1)


class Names:
    """A set of words to find among the names of elements; a check of the last bits of a name's hash rules most out.

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
        """Return the n occurrences of the words as (rows of elements, positions in :attr:`words`), int64[n] each.

        Rows are ascending. An element occurs once for each of its names that is one of the words.

        Time: reads 4 bytes for each name once. Then a binary search for each hit, and for one in 4,096 other names.
        """
        names = facts.words.values
        hits = np.flatnonzero(self._maybe[names & self._BITS])
        at = np.minimum(np.searchsorted(self._known, names[hits]), len(self._known) - 1)
        same = self._known[at] == names[hits]
        rows = np.searchsorted(facts.words.offsets, hits[same], side="right") - 1
        return rows, self._order[at[same]]
