"""Recursive splitting in plain Python, with offsets in characters."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

Measure = Callable[[int, int], int]


def split_recursive(
    text: str,
    size: int,
    overlap: int,
    separators: Sequence[str],
    unit: str = "characters",
    token_starts: Sequence[int] = (),
) -> list[tuple[int, int]]:
    """Return the spans of the pieces of one document. `_core.split_recursive` returns the same in bytes.

    ``separators`` are literal strings, the strongest first. ``unit`` is characters, words or tokens. A span has the
    tokens that start in it.
    """

    def measure(begin: int, end: int) -> int:
        if unit == "characters":
            return end - begin
        if unit == "words":
            return len(text[begin:end].split())
        return bisect_left(token_starts, end) - bisect_left(token_starts, begin)

    def borders(separator: str, begin: int, end: int) -> list[int]:
        pattern = re.compile(re.escape(separator))
        return [m.start() for m in pattern.finditer(text, begin, end) if m.start() < end]

    pieces: list[tuple[int, int]] = []
    for begin, end in _split(0, len(text), list(separators), size, overlap, borders, measure):
        piece = text[begin:end]
        start = begin + len(piece) - len(piece.lstrip())
        stop = begin + len(piece.rstrip())
        if start < stop:
            pieces.append((start, stop))
    return pieces


def _split(
    begin: int,
    end: int,
    ladder: list[str],
    size: int,
    overlap: int,
    borders: Callable[[str, int, int], list[int]],
    measure: Measure,
) -> list[tuple[int, int]]:
    """Return the untrimmed pieces of one section.

    It is cut at the first separator that occurs, and long parts at the next.
    """
    found: list[int] = []
    while ladder and not found:
        rung, ladder = ladder[0], ladder[1:]
        found = borders(rung, begin, end)
        if rung == "":
            ladder = []
    edges = [begin, *(border for border in found if border > begin), end]
    pieces: list[tuple[int, int]] = []
    short: list[tuple[int, int]] = []
    for split in pairwise(edges):
        if measure(*split) < size:  # LangChain also divides a split of exactly `size`
            short.append(split)
            continue
        pieces += _merge(short, size, overlap, measure)
        short = []
        if ladder and found:
            pieces += _split(*split, ladder, size, overlap, borders, measure)
        else:
            pieces.append(split)
    return pieces + _merge(short, size, overlap, measure)


def _merge(splits: list[tuple[int, int]], size: int, overlap: int, measure: Measure) -> list[tuple[int, int]]:
    """Merge splits into greedy runs up to ``size``. The tail of a run, up to ``overlap``, begins the next run."""
    pieces: list[tuple[int, int]] = []
    run: list[tuple[int, int]] = []

    def total() -> int:
        return sum(measure(*split) for split in run)

    for split in splits:
        length = measure(*split)
        if run and total() + length > size:
            pieces.append((run[0][0], run[-1][1]))
            while run and (total() > overlap or total() + length > size or measure(*run[0]) == 0):
                run.pop(0)
        run.append(split)
    if run:
        pieces.append((run[0][0], run[-1][1]))
    return pieces
