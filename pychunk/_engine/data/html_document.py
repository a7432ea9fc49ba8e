"""The result of a walk over the tree of an HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .ragged import Ragged

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class HtmlDocument(NamedTuple):
    """The text, blocks and elements of one page.

    Attributes:
        text: All that the page shows, as Markdown.
        rows: int64[b, 4], one row per block: kind, level, first character, one after the last character.
        facts: int32[b, 5], one row per block: the position of its element in ``parent``, the number of its characters,
            the number of them that are in links, the number of its links, and whether it is hidden.
        parent, last: int32[e], one entry per element; see :class:`pychunk.parsing.html.html_facts.HtmlFacts`.
        words: Hashes of the words in each element's class names and ids.
        first_heading: The text of the first heading of level 1, or "".
    """

    text: str
    rows: npt.NDArray[np.int64]
    facts: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    words: Ragged
    first_heading: str
