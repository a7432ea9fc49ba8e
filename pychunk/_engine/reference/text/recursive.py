"""Recursive splitting at separators in plain Python, with positions in characters."""

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
    """Return the spans, in characters, of the pieces of one document. `_core.split_recursive` returns them in bytes.

    ``separators`` are literal strings, the strongest first. ``unit`` is characters, words or tokens. A token counts in
    the span in which it begins, and ``token_starts`` are the positions at which tokens begin.
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
    """Return the pieces of the text [begin, end), with white space at their edges.

    The text is cut at the first separator that occurs in it. Parts that are too long are cut at the next separators.
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
        if measure(*split) < size:  # like LangChain, which cuts further even if the length is exactly `size`
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
    """Merge consecutive splits into pieces, each with as many as fit ``size``.

    The last splits of a piece, up to ``overlap``, also begin the next piece.
    """
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
