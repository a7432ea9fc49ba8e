"""The facts by which noise in a page is detected, as arrays: the tree of elements, and counts for each block."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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
    _found: dict[int, tuple[I64, I64]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # Another process may give words other numbers.
        return {**vars(self), "_found": {}}

    def named(self, count: int) -> tuple[I64, I64]:
        """Return the occurrences of the first ``count`` words of all :class:`Names`: (rows of elements, numbers)."""
        if count not in self._found:
            known, order, maybe = _table(count)
            names = self.words.values
            hits = np.flatnonzero(maybe[names & _BITS])
            at = np.minimum(known.searchsorted(names[hits]), len(known) - 1)
            same = known[at] == names[hits]
            rows = self.words.offsets.searchsorted(hits[same], side="right") - 1
            self._found[count] = rows, order[at[same]]
        return self._found[count]


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
    """A set of words to find among the names of elements.

    Each rule has its own set. The names of a page are searched once for the words of all sets.

    Attributes:
        words: The words, each once; :meth:`find` returns positions in this tuple.

    Example:
        >>> from pychunk.parsing.html.page import parse_html
        >>> found, which = Names(("nav", "<p")).find(parse_html("<div class=nav><p>Home").facts)
        >>> which.tolist()
        [0, 1]
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(dict.fromkeys(words))
        with _LOCK:
            self._numbers = [_EVERY.setdefault(word, len(_EVERY)) for word in self.words]
        self._positions = np.empty(0, np.int64)

    def find(self, facts: HtmlFacts) -> tuple[I64, I64]:
        """Return the n occurrences of the words as (rows of elements, positions in :attr:`words`), int64[n] each.

        Rows are ascending. An element occurs once for each of its names that is one of the words.

        Time: once for a page, reads 4 bytes for each name. A binary search follows for each hit, and for one in 4,096
        other names.
        """
        count, positions = len(_EVERY), self._positions
        if len(positions) < count:
            positions = np.full(count, -1, np.int64)
            positions[self._numbers] = np.arange(len(self.words))
            self._positions = positions  # only now may another thread see it
        rows, numbers = facts.named(count)
        found = positions[numbers]
        return rows[found >= 0], found[found >= 0]


#: The words of all sets, with their numbers.
_EVERY: dict[str, int] = {}
_LOCK = threading.Lock()
#: The last bits of a name's hash, by which most other names are ruled out.
_BITS = 4095


@functools.lru_cache(maxsize=1)
def _table(count: int) -> tuple[npt.NDArray[np.uint32], I64, Bools]:
    """Return the hashes of the first ``count`` words, ascending; their numbers; which last bits are those of a word."""
    hashes = np.array([word_hash(word) for word in list(_EVERY)[:count]], np.uint32)
    order = np.argsort(hashes)
    maybe = np.zeros(_BITS + 1, np.bool_)
    maybe[hashes & _BITS] = True
    return hashes[order], order, maybe
