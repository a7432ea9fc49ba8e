"""The fitting of a method's groups of sentences to a budget: joining short groups, cutting long ones, and overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..data.columns import CUT_REASONS
from .cohesion import SHORT_CHARACTERS, Break, Cohesion

Group = tuple[int, int]  # sentences [first, last)
Length = Callable[[int, int], int]  # the length of sentences [i, j)
Fits = Callable[[int, int], bool]  # whether sentences [i, j) keep all limits


CUT_SIZE = CUT_REASONS.index("size")
Borders = tuple[list[Cohesion], list[Break]]  # the cohesion and the break at the boundary before each sentence


@dataclass(frozen=True)
class FillRule:
    """The rules for filling groups with consecutive sentences up to a size."""

    borders: Borders | None = None
    by_structure: bool = False
    even: bool = False
    characters: Length | None = None
    #: The smallest size that is tried for even groups: the length of the longest text that is kept together.
    least: int = 0
    #: True if each section begins a new group. Otherwise the boundary before a section is only the strongest one.
    sections: bool = True
    #: A function that returns the length of the tail of the sentence before a boundary. The tail is repeated if the
    #: whole sentence does not fit the overlap.
    tail: Callable[[int], int] | None = None
    #: With ``by_structure``, groups have at least this fraction of the size (1 / full), if there is such a boundary.
    full: int = 2


def fill(first: int, last: int, length: Length, size: int, overlap: int, filling: FillRule) -> list[Group]:
    """Return groups of consecutive whole sentences, each as long as ``size`` allows.

    The length of a group includes the overlap before it. The overlap is short enough for the next sentence to fit.
    """
    cohesion = filling.borders[0] if filling.borders else []
    begins = (Cohesion.WALL, Cohesion.SECTION) if filling.sections else (Cohesion.WALL,)
    sections = [s for s in range(first + 1, last) if cohesion and cohesion[s] in begins]
    groups: list[Group] = []
    before = first  # the first sentence of the previous group, including the text that it repeats
    for begin, end in pairwise([first, *sections, last]):
        if begin == end:
            continue
        if cohesion and cohesion[begin] == Cohesion.WALL:
            before = begin
        found, after = _filled(before, begin, end, length, size, overlap, filling)
        low, high = min(size, max(filling.least, -(-length(begin, end) // len(found)))), size
        while filling.even and low < high:
            middle = (low + high) // 2
            if len(_filled(before, begin, end, length, middle, overlap, filling)[0]) <= len(found):
                high = middle
            else:
                low = middle + 1
        even, last_begin = (
            _filled(before, begin, end, length, high, overlap, filling) if filling.even else (found, after)
        )
        # With ``by_structure``, a smaller size may select another boundary, and so make one of the groups longer.
        shorter = max(length(*group) for group in even) <= max(length(*group) for group in found)
        groups += even if shorter else found
        before = last_begin if shorter else after
    return groups


def _filled(
    before: int, begin: int, end: int, length: Length, size: int, overlap: int, filling: FillRule
) -> tuple[list[Group], int]:
    """Return the groups, and the first sentence of the last group, including the text that it repeats."""
    groups: list[Group] = []
    first, previous = begin, before
    while first < end:
        start = first
        if overlap and length(first, first + 1) <= size:
            while start > previous + 1 and length(start - 1, first) <= overlap and length(start - 1, first + 1) <= size:
                start -= 1
        most = size
        if overlap and start == first and first > previous and filling.tail:
            less = size - filling.tail(first)
            most = less if less > 0 and length(first, first + 1) <= less else size
        last = first + 1
        while last < end and length(start, last + 1) <= most:
            last += 1
        if last < end and filling.borders:
            last = _chosen(start, first, last, end, length, most, filling)
        groups.append((first, last))
        previous, first = start, last
    return groups, previous


def _chosen(start: int, first: int, reach: int, end: int, length: Length, size: int, filling: FillRule) -> int:
    """Return the end of a group that begins at ``first``, at a boundary up to ``reach``.

    An earlier boundary is chosen if otherwise fewer than ``SHORT_CHARACTERS`` would remain for the next group.
    """
    best = _best_border(start, first, reach, length, size, filling)
    if best is None:
        return reach
    if filling.characters is None or filling.characters(best, end) >= SHORT_CHARACTERS:
        return best
    enough = [b for b in range(first + 1, best) if filling.characters(b, end) >= SHORT_CHARACTERS]
    other = _best_border(start, first, enough[-1], length, size, filling) if enough else None
    if other is None or length(other, end) > size or filling.characters(first, other) < SHORT_CHARACTERS:
        return best
    return other


def _best_border(start: int, first: int, reach: int, length: Length, size: int, filling: FillRule) -> int | None:
    """Return the last open boundary up to ``reach``.

    With ``by_structure``, it is the strongest boundary that leaves the group full enough.
    """
    assert filling.borders is not None
    cohesion, breaks = filling.borders
    opened = [b for b in range(first + 1, reach + 1) if not cohesion[b].is_closed]
    if not opened or not filling.by_structure:
        return opened[-1] if opened else None
    full = [b for b in opened if length(start, b) >= size - size // filling.full * (filling.full - 1)]

    def strength(border: int) -> float:
        """Return the strength of a boundary. The beginning of a section is the strongest inside a document."""
        section = cohesion[border] == Cohesion.SECTION and breaks[border] < Break.DOCUMENT
        return Break.PAGE + 0.5 if section else breaks[border]

    return max(full, key=lambda b: (strength(b), b)) if full else opened[-1]


def move_cuts(cohesion: Sequence[Cohesion], sections: str, cuts: dict[int, int]) -> dict[int, int]:
    """Move each cut at a closed boundary to the nearest open boundary, in the direction that the cohesion demands.

    At leading text (``LEAD``) the cut moves back to before this text, at trailing text (``TRAIL``) forward to after it.
    Moved cuts keep their reasons. At each wall there is a cut, with the reason "removed". If ``sections`` is
    ``"named"`` or ``"cut"``, a cut by size that is before a section gets the reason "heading". With ``"cut"``, a cut is
    also added before every other section. With ``"ignored"``, sections change nothing.
    """
    n = len(cohesion)
    settled = {s: why for s, why in cuts.items() if not cohesion[s].is_closed or s == 0}
    for direction, step in ((Cohesion.LEAD, -1), (Cohesion.TRAIL, 1)):
        moving = [s for s in cuts if s > 0 and cohesion[s] == direction]
        for s in sorted(moving, reverse=direction == Cohesion.TRAIL):  # the nearest cut gives the reason
            to = s
            while 0 < to < n and cohesion[to].is_closed:
                to += step
            if 0 < to < n:
                settled.setdefault(to, cuts[s])
    for s in range(1, n):
        if cohesion[s] == Cohesion.WALL:
            settled[s] = CUT_REASONS.index("removed")
        elif cohesion[s] == Cohesion.SECTION:
            by_size = sections != "ignored" and settled.get(s) == CUT_SIZE
            if by_size or (sections == "cut" and s not in settled):
                settled[s] = CUT_REASONS.index("heading")
    return settled


def join_short(
    groups: list[Group],
    length: Length,
    least: int,
    fits: Fits,
    affinities: Sequence[float] | None,
    borders: Borders | None = None,
    *,
    across: bool = False,
) -> list[Group]:
    """Join each group shorter than ``least`` with the group before or after it, if the two fit together.

    If both fit, the group joins the one with the higher affinity, or without affinities, the one across the weaker
    boundary. A group that is long enough also joins a short group before it, if the two fit only after other joins. A
    group joins across the beginning of a section only with ``across``, and only if it cannot join the other neighbour.
    """
    groups = list(groups)
    cohesion, breaks = borders or ([], [])

    def is_section(s: int) -> bool:
        return bool(cohesion) and cohesion[s].begins_section

    def may_cross(s: int) -> bool:
        return not is_section(s) or (across and cohesion[s] != Cohesion.WALL)

    at = 0
    while at < len(groups):
        first, last = groups[at]
        short = length(first, last) < least
        short_before = at > 0 and length(*groups[at - 1]) < least
        before = at > 0 and (short or short_before) and fits(groups[at - 1][0], last)
        before = before and may_cross(first)
        after = short and at + 1 < len(groups) and fits(first, groups[at + 1][1])
        after = after and may_cross(last)
        if before and after:
            if is_section(first) != is_section(last):
                before = not is_section(first)
            elif affinities is not None:
                before = affinities[first - 1] >= affinities[last - 1]
            elif breaks:
                before = breaks[first] <= breaks[last]
        if before:
            groups[at - 1 : at + 1] = [(groups[at - 1][0], last)]
            at -= 1
        elif after:
            groups[at : at + 2] = [(first, groups[at + 1][1])]
        else:
            at += 1
    return groups


def cut_long(
    groups: list[Group],
    fits: Fits,
    affinities: Sequence[float] | None,
    length: Length,
    size: int,
    filling: FillRule,
) -> list[Group]:
    """Cut each group that is too long at its boundary with the lowest affinity, until all parts fit.

    Without affinities, or if all sentences of a group are kept together, :func:`fill` divides the group instead.
    """
    parts: list[Group] = []
    for first, last in groups:
        stack = [(first, last)]
        while stack:
            i, j = stack.pop()
            if j - i == 1 or fits(i, j):
                parts.append((i, j))
                continue
            middle = None
            if affinities is not None:
                middle = min(range(i + 1, j), key=lambda border: (affinities[border - 1], border))
            if middle is None or (filling.borders and filling.borders[0][middle].is_closed):
                parts += fill(i, j, length, size, 0, filling)
            else:
                stack += [(middle, j), (i, middle)]
    return parts


def overlap_starts(
    groups: list[Group],
    length: Length,
    overlap: int,
    fits: Fits,
    is_piece: Sequence[bool],
    borders: Borders | None,
    tail: Callable[[int, int], int | None],
) -> list[tuple[int, int | None]]:
    """Return the overlap of each group as (first sentence, None), or as (first sentence, first character of a tail).

    ``tail`` finds the tail of the sentence before, which is used if the whole sentence does not fit. The overlap never
    covers all of the group before. It does not cross walls, and contains no pieces of sentences.
    """
    cohesion = borders[0] if borders else [Cohesion.OPEN] * len(is_piece)
    starts: list[tuple[int, int | None]] = []
    for first, last in groups:
        start, begin = first, None
        if (
            starts
            and fits(first, last)
            and not is_piece[first]
            and not is_piece[first - 1]
            and cohesion[first] != Cohesion.WALL
        ):
            least = starts[-1][0] + (starts[-1][1] is None)
            while start > least and not is_piece[start - 1] and cohesion[start] != Cohesion.WALL:
                if length(start - 1, first) > overlap or not fits(start - 1, last):
                    break
                start -= 1
            if start == first:
                begin = tail(first, last)
        starts.append((start, begin))
    return starts
