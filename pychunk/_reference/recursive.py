"""Recursive splitting in plain Python; every offset is in characters of a str."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

SPACES = re.compile(r"\s+")  # for str, exactly the characters of str.isspace
#: Without FS, GS and RS, which end sentences but are no lines (csrc/utf8.h).
NEWLINE = re.compile("\r\n|[\n-\r\x85\u2028\u2029]")
Measure = Callable[[int, int], int]
LADDER = ["blank line", "line", "sentence", "word", "character"]


def split_recursive(
    text: str,
    size: int,
    overlap: int = 0,
    separators: Sequence[str] | None = None,
    unit: str = "characters",
    sentence_starts: Sequence[int] = (),
    token_starts: Sequence[int] = (),
) -> list[tuple[int, int]]:
    """Spans of the pieces of one document, as `_core.split_recursive` gives them in bytes.

    ``separators`` are literal strings, strongest first; None is the ladder blank line, line, sentence, word,
    character. ``unit`` is characters, words or tokens; a span holds the tokens that start in it.
    """
    own = separators is None

    def measure(begin: int, end: int) -> int:
        if unit == "characters":
            return end - begin
        if unit == "words":
            return len(text[begin:end].split())
        return bisect_left(token_starts, end) - bisect_left(token_starts, begin)

    def tail(begin: int, end: int) -> int:
        """White space at the end of a split, which our ladder does not count where a piece ends."""
        return end - begin - len(text[begin:end].rstrip()) if own and unit == "characters" else 0

    def own_borders(rung: str, begin: int, end: int) -> list[int]:
        if rung == "character":
            return list(range(begin, end))
        if rung == "sentence":
            return [start for start in sentence_starts if begin < start < end]
        needed = {"blank line": 2, "line": 1, "word": 0}[rung]
        runs = SPACES.finditer(text, begin, end)
        return [run.end() for run in runs if len(NEWLINE.findall(run[0])) >= needed and run.end() < end]

    def matches(separator: str, begin: int, end: int) -> list[int]:
        pattern = re.compile(re.escape(separator))
        return [m.start() for m in pattern.finditer(text, begin, end) if m.start() < end]

    borders = own_borders if own else matches
    ladder = LADDER if own else separators
    begin, end = (len(text) - len(text.lstrip()), len(text.rstrip())) if own else (0, len(text))
    raw = _split(begin, end, list(ladder or ()), size, overlap, borders, measure, tail, size + 1 if own else size)

    pieces: list[tuple[int, int]] = []
    for begin, end in raw:
        piece = text[begin:end]
        start = begin + len(piece) - len(piece.lstrip())
        stop = begin + len(piece.rstrip())
        if start < stop and not (own and pieces and stop <= pieces[-1][1]):
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
    tail: Measure,
    too_long: int,
) -> list[tuple[int, int]]:
    """Untrimmed pieces of one section: cut at the first rung that occurs, descend into what is too long."""
    found: list[int] = []
    while ladder and not found:
        rung, ladder = ladder[0], ladder[1:]
        found = borders(rung, begin, end)
        if rung in ("", "character"):
            ladder = []
    edges = [begin, *(border for border in found if border > begin), end]
    pieces: list[tuple[int, int]] = []
    short: list[tuple[int, int]] = []
    for split in pairwise(edges):
        if measure(*split) - tail(*split) < too_long:
            short.append(split)
            continue
        pieces += _merge(short, size, overlap, measure, tail)
        short = []
        if ladder and found:
            pieces += _split(*split, ladder, size, overlap, borders, measure, tail, too_long)
        else:
            pieces.append(split)
    return pieces + _merge(short, size, overlap, measure, tail)


def _merge(
    splits: list[tuple[int, int]], size: int, overlap: int, measure: Measure, tail: Measure
) -> list[tuple[int, int]]:
    """Greedy runs of splits up to `size`; the tail of a run, up to `overlap`, begins the next one."""
    pieces: list[tuple[int, int]] = []
    run: list[tuple[int, int]] = []

    def total() -> int:
        return sum(measure(*split) for split in run)

    for split in splits:
        length = measure(*split)
        fits = size + tail(*split)
        if run and total() + length > fits:
            pieces.append((run[0][0], run[-1][1]))
            while run and (total() > overlap or total() + length > fits or measure(*run[0]) == 0):
                run.pop(0)
        run.append(split)
    if run:
        pieces.append((run[0][0], run[-1][1]))
    return pieces
