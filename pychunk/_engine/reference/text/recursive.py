"""Recursive splitting in plain Python; every offset is in characters of a str."""

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
    """Spans of the pieces of one document, as `_core.split_recursive` gives them in bytes.

    ``separators`` are literal strings, strongest first. ``unit`` is characters, words or tokens; a span holds the
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
    """Untrimmed pieces of one section: cut at the first rung that occurs, descend into what is too long."""
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
        if measure(*split) < size:  # LangChain descends into a split of exactly `size`, too
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
    """Greedy runs of splits up to `size`; the tail of a run, up to `overlap`, begins the next one."""
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
