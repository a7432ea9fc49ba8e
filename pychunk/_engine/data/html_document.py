"""A page of HTML as a walk over its tree leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .ragged import Ragged

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class HtmlDocument(NamedTuple):
    """The outcome of a walk over one page.

    Attributes:
        text: Markdown of all that the page shows.
        rows: int64[b, 4], of each block: kind, level, first character, one past the last.
        facts: int32[b, 5], of each block: its element, characters, those in links, links, whether it is hidden.
        parent, last: int32[e], of each element; see :class:`pychunk.parsing.html.html_facts.HtmlFacts`.
        words: hashes of each element's names.
        first_heading: of level 1, else "".
    """

    text: str
    rows: npt.NDArray[np.int64]
    facts: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    words: Ragged
    first_heading: str
