"""From a method's groups of sentences to chunks that fit: join what is short, cut what is long, overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Group = tuple[int, int]  # sentences [first, last)
Length = Callable[[int, int], int]  # of sentences [i, j)
Fits = Callable[[int, int], bool]


def greedy(sentences: int, length: Length, size: int, overlap: int) -> list[Group]:
    """Runs of whole sentences up to `size`, each begun with the overlap that leaves room for the next sentence."""
    groups: list[Group] = []
    first = previous = 0
    while first < sentences:
        start = first
        if overlap and length(first, first + 1) <= size:
            while start > previous and length(start - 1, first) <= overlap and length(start - 1, first + 1) <= size:
                start -= 1
        last = first + 1
        while last < sentences and length(start, last + 1) <= size:
            last += 1
        groups.append((first, last))
        previous, first = start, last
    return groups


def join_short(
    groups: list[Group], tokens: Length, min_tokens: int, fits: Fits, affinities: Sequence[float] | None
) -> list[Group]:
    """While a group is short it joins across the border with the higher cosine, if the two fit together.

    A group that is long enough joins a short one before it, too, where joining others has made it fit.
    """
    groups = list(groups)
    at = 0
    while at < len(groups):
        first, last = groups[at]
        short = tokens(first, last) < min_tokens
        short_before = at > 0 and tokens(*groups[at - 1]) < min_tokens
        before = at > 0 and (short or short_before) and fits(groups[at - 1][0], last)
        after = short and at + 1 < len(groups) and fits(first, groups[at + 1][1])
        if before and after and affinities is not None:
            before = affinities[first - 1] >= affinities[last - 1]
        if before:
            groups[at - 1 : at + 1] = [(groups[at - 1][0], last)]
            at -= 1
        elif after:
            groups[at : at + 2] = [(first, groups[at + 1][1])]
        else:
            at += 1
    return groups


def cut_long(groups: list[Group], fits: Fits, affinities: Sequence[float] | None) -> list[Group]:
    """Groups that do not fit are cut at their lowest border, or without vectors at the last border that fits."""
    parts: list[Group] = []
    for first, last in groups:
        stack = [(first, last)]
        while stack:
            i, j = stack.pop()
            if j - i == 1 or fits(i, j):
                parts.append((i, j))
            elif affinities is not None:
                middle = min(range(i + 1, j), key=lambda border: (affinities[border - 1], border))
                stack += [(middle, j), (i, middle)]
            else:
                middle = i + 1
                while fits(i, middle + 1):
                    middle += 1
                stack += [(middle, j), (i, middle)]
    return parts


def overlap_starts(
    groups: list[Group], length: Length, overlap: int, fits: Fits, is_piece: Sequence[bool]
) -> list[int]:
    """First sentence of each group with what it repeats from the group before; pieces of sentences repeat nothing."""
    starts: list[int] = []
    for first, last in groups:
        start = first
        if starts and overlap and fits(first, last) and not is_piece[first]:
            while start > starts[-1] and not is_piece[start - 1]:
                if length(start - 1, first) > overlap or not fits(start - 1, last):
                    break
                start -= 1
        starts.append(start)
    return starts
