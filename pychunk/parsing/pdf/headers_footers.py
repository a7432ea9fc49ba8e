"""The headers, footers and page numbers of a PDF: lines at the edges of pages that repeat from page to page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, cast

from .paged_text import PAGE_NUMBER, RUNNING_FOOT, RUNNING_HEAD
from .reading_order import Piece, bands_of, line_of

#: The maximum number of lines that may be removed at each edge of a page, and the number of lines that are compared.
_EDGE, _SEEN = 4, 6
#: Lines are not in one paragraph if their distance is more than ``_GAP`` times the usual distance, or more than
#: ``_LEADING`` font sizes.
_GAP, _LEADING = 1.5, 1.6
#: The minimum number of pages on which a line repeats at the same height, and the greatest difference between heights
#: that count as the same, in points.
_TIMES, _NEAR = 3, 4.0
#: The greatest distance between two successive pages that repeat a line. It is two, because left and right pages have
#: different headers.
_STRIDE = 2
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"(?<!\w)[ivxlc]{1,7}(?!\w)", re.IGNORECASE)
_PAGE_WORD = r"(?:pages?|pp?|pg|seite|s|blatt|стор|стр|с|сторінка|страница|p[áa]g|p[áa]gina|strona|str|sida|side)"
_NUMBER = re.compile(rf"\W*(?:{_PAGE_WORD}\.?\s*)?(?:#(?:\s*(?:/|-|–|\w{{1,5}}\.?)\s*#)?|@)\W*")
#: The characters around page numbers.
_EDGES = " -–—.[]()|/"
#: Repeated lines with different numbers are headings, not headers, if they are larger than the text by this factor.
_LARGER = 1.15


class RemovedLine(NamedTuple):
    """A removed line: the reason, and the share of the document's pages that have a line like it."""

    reason: str
    score: float


class EdgeLine(NamedTuple):
    """A line near the top or bottom of a page; ``rank`` counts from the edge, and ``y`` is its middle in points."""

    page: int
    top: bool
    rank: int
    y: float
    text: str
    size: float
    pieces: list[Piece]


#: The page, whether the line is at its top, and the rank from the edge.
Key = tuple[int, bool, int]
Found = dict[Key, RemovedLine]


def edges_of(page: int, pieces: Sequence[Piece]) -> list[EdgeLine]:
    """Return the lines nearest to the top and the bottom of a page.

    From each edge inwards, the search ends at the first band that holds several lines, one above the other.
    """
    bands = bands_of(pieces)
    found = []
    for top, rows in ((True, bands[:_SEEN]), (False, bands[::-1][:_SEEN])):
        for rank, band in enumerate(rows):
            low, high = min(piece.top for piece in band), max(piece.bottom for piece in band)
            if high - low > 1.8 * max(piece.bottom - piece.top for piece in band):
                break
            line = line_of(band)
            found.append(EdgeLine(page, top, rank, (low + high) / 2, line.text, line.size, band))
    return found


def running(edges: Sequence[EdgeLine], pages: int, size: float) -> Found:
    """Return the lines to remove, by (page, top, rank); ``size`` is the size of the document's text, in points.

    A line is removed if two conditions hold:

    - The line is at the same height on at least 3 pages, or on both pages of a document with 2; only numbers in the
      line may differ. Between one of these pages and the next, at most one page lacks the line.
    - Only removed lines are between the line and the page's edge.

    A line is a page number if it is little more than a number, and this number grows by one from page to page.

    Pages may share more than headers. At most four lines are removed at an edge. If the fifth line repeats as well, the
    lines are a paragraph that pages share. Its lines stay, from the fifth back toward the edge, up to the first wider
    gap or page number. If most pages would have no text left, the lines that differ from page to page stay. The header
    of a table stays, too.

    Example:
        >>> pieces = [Piece(f"- {page} -", 50, 10, 70, 20, 10, 5, 3, 0, 0, False) for page in (7, 8, 9)]
        >>> found = running([edge for page in range(3) for edge in edges_of(page, pieces[page : page + 1])], 3, 10)
        >>> found[1, True, 0].reason
        'page_number'
    """
    near = [edge for edge in edges if edge.rank < _EDGE]
    repeated = _from_the_edge(_repeated(near, pages, size) | _numbered(near, pages, size))
    by_side: dict[tuple[int, bool], list[EdgeLine]] = defaultdict(list)
    for edge in sorted(edges, key=lambda each: each.rank):
        by_side[edge.page, edge.top].append(edge)
    for key in _shared_text(by_side, repeated, _repeated(edges, pages, size)):
        del repeated[key]
    for key in (*_only_text(by_side, repeated, pages, size), *_headers(by_side, repeated)):
        repeated.pop(key, None)
    return _from_the_edge(repeated)


def _from_the_edge(found: Found) -> Found:
    """Return those of the found lines that have only found lines between them and their page's edge."""
    out: Found = {}
    for page, top, rank in sorted(found, key=lambda key: key[2]):
        if rank == 0 or (page, top, rank - 1) in out:
            out[page, top, rank] = found[page, top, rank]
    return out


def _shared_text(by_side: Mapping[tuple[int, bool], Sequence[EdgeLine]], out: Found, repeated: Found) -> Iterator[Key]:
    """Yield the lines of a paragraph that repeats, but is longer than the lines that may be removed."""
    for (page, top), own in by_side.items():
        if len(own) <= _EDGE or (page, top, _EDGE) not in repeated or (page, top, _EDGE - 1) not in out:
            continue
        gaps = [abs(edge.y - before.y) for before, edge in pairwise(own)]
        for rank in reversed(range(_EDGE)):
            if gaps[rank] > _GAP * min(gaps[_EDGE - 1 :]) or out[page, top, rank].reason == PAGE_NUMBER:
                break
            yield page, top, rank


def _headers(by_side: Mapping[tuple[int, bool], Sequence[EdgeLine]], out: Found) -> Iterator[Key]:
    """Yield table headers: lines whose pieces are each right above a piece of the first line that stays."""
    for (page, top), own in by_side.items():
        for edge, below in pairwise(own) if top else ():
            if (page, top, edge.rank) not in out or (page, top, below.rank) in out:
                continue
            cells, under = (sorted(each.pieces, key=lambda piece: piece.left) for each in (edge, below))
            near = below.y - edge.y <= _GAP * _LEADING * below.size and len(cells) == len(under) > 1
            if near and all(
                cell.left < row.right and row.left < cell.right for cell, row in zip(cells, under, strict=True)
            ):
                yield page, top, edge.rank


def _only_text(by_side: Mapping[tuple[int, bool], Sequence[EdgeLine]], out: Found, pages: int, size: float) -> set[Key]:
    """Return the lines that must stay, because most pages would otherwise have no text, or only headings."""
    bare: list[list[EdgeLine]] = []
    for page in {page for page, _ in by_side}:
        above, below = by_side.get((page, True), ()), by_side.get((page, False), ())
        if {edge.y for edge in above} != {edge.y for edge in below}:
            continue  # there is more text between them
        both = [*above, *below]
        gone = {edge.y for edge in both if (page, edge.top, edge.rank) in out}
        if gone and all(edge.y in gone or edge.size > _LARGER * size for edge in both):
            bare.append([edge for edge in both if edge.y in gone])
    if 2 * len(bare) <= pages:
        return set()
    times = Counter(text for own in bare for text in {edge.text for edge in own})
    numbers = {(e.page, e.y) for own in bare for e in own if _reason(out, e) == PAGE_NUMBER}
    lines = [[edge for edge in own if (edge.page, edge.y) not in numbers] for own in bare]
    varied = any(times[edge.text] == 1 for own in lines for edge in own)
    keep: set[Key] = set()
    for own in lines:
        stays = {edge.y for edge in own if not varied or times[edge.text] == 1}
        for edge in sorted(own, key=lambda each: each.y) + sorted(own, key=lambda each: -each.y):
            if any(abs(edge.y - y) <= _LEADING * edge.size for y in stays):
                stays.add(edge.y)
        keep |= {(edge.page, edge.top, edge.rank) for edge in own if edge.y in stays}
    return keep


def _reason(out: Found, edge: EdgeLine) -> str:
    found = out.get((edge.page, edge.top, edge.rank))
    return "" if found is None else found.reason


def _repeated(edges: Sequence[EdgeLine], pages: int, size: float) -> Found:
    """Return the lines that repeat at the same height on enough pages, except that their numbers may differ."""
    alike: dict[tuple[bool, str], list[EdgeLine]] = defaultdict(list)
    for edge in edges:
        alike[edge.top, _normal(edge.text)].append(edge)
    found: Found = {}
    for (top, text), same in alike.items():
        if _NUMBER.fullmatch(text):
            continue
        for group in _at_one_height(same):
            for run in _successive(group):
                count = len({edge.page for edge in run})
                if count < min(_TIMES, max(2, pages)):
                    continue
                if run[0].size > _LARGER * size and len({edge.text for edge in run}) > 1:
                    continue
                for edge in run:
                    reason = RUNNING_HEAD if top else RUNNING_FOOT
                    found[edge.page, top, edge.rank] = RemovedLine(reason, count / pages)
    return found


def _numbered(edges: Sequence[EdgeLine], pages: int, size: float) -> Found:
    """Return the lines that begin or end with their page's number, if the number stands alone or the rest repeats."""
    shifts: dict[tuple[bool, int], list[EdgeLine]] = defaultdict(list)
    for edge in edges:
        for value in {_first(edge.text), _last(edge.text)} - {None}:
            shifts[edge.top, cast(int, value) - edge.page].append(edge)
    found: Found = {}
    for (top, _), same in shifts.items():
        for group in _at_one_height(same):
            count = len({edge.page for edge in group})
            if count < min(_TIMES, max(2, pages)):
                continue
            alone = {edge.page for edge in group if _NUMBER.fullmatch(_normal(edge.text))}
            if len(alone) < count and group[0].size > _LARGER * size:
                continue
            texts = {edge.text for edge in group}
            if 2 * len(alone) < count and len({_DIGITS.sub("", text) for text in texts}) > max(2, count // 2):
                continue  # these are sentences that happen to hold the number
            for edge in group:
                reason = PAGE_NUMBER if edge.page in alone else RUNNING_HEAD if top else RUNNING_FOOT
                found[edge.page, top, edge.rank] = RemovedLine(reason, count / pages)
            if alone:  # pages before the first one may have numbers of another kind
                for edge in edges:
                    near = edge.top == top and group[0].y - _NEAR <= edge.y <= group[-1].y + _NEAR
                    if near and _NUMBER.fullmatch(_normal(edge.text)):
                        found.setdefault((edge.page, top, edge.rank), RemovedLine(PAGE_NUMBER, count / pages))
    return found


def _first(text: str) -> int | None:
    """Return the number at the beginning of a line, Arabic or Roman."""
    words = text.strip(_EDGES).split()
    return _number(words[0]) if words else None


def _last(text: str) -> int | None:
    words = text.strip(_EDGES).split()
    if len(words) > 2 and words[-2].casefold() in ("/", "of", "von", "de", "из", "з", "із"):
        return _number(words[-3])
    return _number(words[-1]) if words else None


def _number(word: str) -> int | None:
    word = word.strip(_EDGES)
    if re.fullmatch(r"\d{1,6}(?:/\d{1,6})?", word):
        return int(word.partition("/")[0])
    return _value(word) if _ROMAN.fullmatch(word) else None


def _normal(text: str) -> str:
    """Return a line with ``#`` for each number; a line that is only a Roman number becomes ``@``."""
    text = _DIGITS.sub("#", " ".join(text.casefold().split()))
    return "@" if _ROMAN.fullmatch(text.strip(" -–—.")) else text


def _at_one_height(edges: Sequence[EdgeLine]) -> list[list[EdgeLine]]:
    found: list[list[EdgeLine]] = []
    for edge in sorted(edges, key=lambda each: each.y):
        if found and edge.y - found[-1][-1].y <= _NEAR:
            found[-1].append(edge)
        else:
            found.append([edge])
    return found


def _successive(edges: Sequence[EdgeLine]) -> list[list[EdgeLine]]:
    found: list[list[EdgeLine]] = []
    for edge in sorted(edges, key=lambda each: each.page):
        if found and edge.page - found[-1][-1].page <= _STRIDE:
            found[-1].append(edge)
        else:
            found.append([edge])
    return found


def _value(roman: str) -> int:
    """Return the value of a Roman number; other characters are ignored.

    >>> _value("xiv")
    14
    """
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}.get(letter, 0) for letter in roman.casefold()]
    values = [value for value in values if value]
    return sum(-value if value < max(values[i + 1 :], default=0) else value for i, value in enumerate(values))
