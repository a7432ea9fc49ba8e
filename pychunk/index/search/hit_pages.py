"""The page that a hit is about, where its chunk lies on several."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from ..lexical.analyzer import Analyzer


def pages_of(page: int, breaks: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """Pages of the first and the last character of a span of a chunk.

    Args:
        page: of the chunk's first character. breaks: first characters of the pages that begin inside the chunk.

    Example:
        >>> pages_of(7, [100, 180], 90, 101)
        (7, 8)
    """
    return page + bisect_right(breaks, start), page + bisect_right(breaks, max(start, end - 1))


def pages_text(page: int, page_end: int | None) -> str:
    """As a reader is told of them.

    Example:
        >>> pages_text(7, 7), pages_text(7, 9)
        ('page 7', 'pages 7 to 9')
    """
    return f"page {page}" if page_end in (None, page) else f"pages {page} to {page_end}"


def by_terms(
    page: int, breaks: Sequence[int], start: int, text: str, weights: Mapping[str, float], analyzer: Analyzer
) -> int:
    """The page whose share of a chunk holds most of a query, the first of equals.

    Args:
        page, breaks: as of :func:`pages_of`. start, text: the chunk's.
        weights: what each term of the query counts, however often it comes.

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
