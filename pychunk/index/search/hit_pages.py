"""The page of a hit whose chunk extends over several pages."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from ..lexical.analyzer import Analyzer


def pages_of(page: int, breaks: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """Return the pages of the first and the last character of a span of a chunk.

    Args:
        page: The page of the chunk's first character.
        breaks: The position in the document at which each further page begins inside the chunk.
        start: The first character of the span, counted in the document.
        end: The character after the last one of the span.

    Example:
        >>> pages_of(7, [100, 180], 90, 101)
        (7, 8)
    """
    return page + bisect_right(breaks, start), page + bisect_right(breaks, max(start, end - 1))


def pages_text(page: int, page_end: int | None) -> str:
    """Return the name of one page or a range of pages, as hits show it.

    Example:
        >>> pages_text(7, 7), pages_text(7, 9)
        ('page 7', 'pages 7 to 9')
    """
    return f"page {page}" if page_end in (None, page) else f"pages {page} to {page_end}"


def by_terms(
    page: int, breaks: Sequence[int], start: int, text: str, weights: Mapping[str, float], analyzer: Analyzer
) -> int:
    """Return the page on which a chunk has the query's terms with the highest total weight; of equals, the first.

    Args:
        page: The page of the chunk's first character.
        breaks: The position in the document at which each further page begins inside the chunk.
        start: The first character of the chunk, counted in the document.
        text: The text of the chunk.
        weights: The weight of each term of the query. A term counts once a page, however often it occurs.
        analyzer: The analyzer of the index.

    Example:
        >>> by_terms(7, [18], 0, "Cats purr softly. Stars burn.", {"stars": 1.0}, Analyzer())
        8
    """
    borders = [0, *(at - start for at in breaks), len(text)]
    worth = []
    for begin, end in itertools.pairwise(borders):
        held = set(analyzer.terms(text[begin:end]))
        worth.append(sum(weight for term, weight in weights.items() if term in held))
    return page + worth.index(max(worth))
