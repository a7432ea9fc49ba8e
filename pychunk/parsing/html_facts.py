"""What the noise of a page is seen by: its tree of elements, and what was counted of each block, flat."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..data.ragged import Ragged

    I16 = npt.NDArray[np.int16]
    I32 = npt.NDArray[np.int32]
    Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class HtmlFacts:
    """Facts of the b blocks of one page and of the e elements above them.

    Elements stand in preorder, so those inside element i are rows ``i + 1`` up to ``last[i]``. Each block has a row
    of its own, ``element``, whose words are those of its inline elements.

    Attributes:
        element: int32[b], rising.
        text_chars: int32[b], characters without markup, white space run together.
        link_chars: int32[b], those of them in links.
        links: int16[b], links that begin in the block.
        hidden: bool[b]: the page hides it (``hidden``, ``display: none``).
        told: bool[b]: the page tells search engines the same, in its description or as the body of its article.
        parent: int32[e], the element around it; -1 of the first.
        last: int32[e], one past the last row inside.
        depth: int16[e], elements around it.
        words: uint32 hashes (:func:`word_hash`) of each element's tag and of the words of its class, id, role and
            label; ``words.offsets`` int64[e + 1].
        page: uint32 hashes of what the page says that it is: its type, what made it, names of its body.
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


def word_hash(word: str) -> int:
    """CRC-32 of a word, which is the same everywhere.

    >>> word_hash("nav")
    2022224343
    """
    return zlib.crc32(word.encode("utf-8", "replace"))


_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words_of(names: str) -> list[str]:
    """The words of class names and ids: parts of camelCase and kebab-case, lower case, 2 letters and more, 24 at most.

    >>> words_of("siteNav nav-menu__item x2")
    ['site', 'nav', 'nav', 'menu', 'item']
    """
    return [word.lower() for word in _WORDS.findall(names[:1000]) if len(word) > 1][:24]
