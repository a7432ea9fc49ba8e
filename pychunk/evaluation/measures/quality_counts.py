"""Tenets of chunks, counted instead of judged: noise, completeness, context switches, weighted precision.

AutoChunker has a language model judge each chunk. Here what people marked is held against it: the text of a page, the
units that a parser saw, the section that answers a question. Spans are int[n, 2], start and end in characters; chunks
are in order and do not overlap; each function is of one document, and what is a share is a
:class:`~.intrinsic.RatioSum`.

Source of the names: Jain, Aggarwal and Saladi, "AutoChunker: Structured Text Chunking and its Evaluation" (2025). The
definitions are ours but for weighted precision, and figures cannot be held against those of the paper.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .chunk_starts import refers_back
from .intrinsic import RatioSum

Bools = npt.NDArray[np.bool_]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: Words that two texts have in common by more than chance, as runs of them.
RUN = 3
#: The share of noise above which a chunk counts as noisy.
NOISY = 0.2
#: The percentile of a document's cosines under which a pair of neighbours is a break.
BREAK = 5
#: The best relevance there is.
MOST = 4

_WORD = re.compile(r"\w+")


def marked_spans(text: str, marked: str) -> I64:
    """Where a text holds what people marked, int64[n, 2] in characters, in order.

    Words are compared, runs of letters and digits in lower case. The longest run of words that both texts have is
    taken first, each word once, down to runs of three (of fewer where the marked text has no more): so that a second
    copy, in a menu, is not the marked one, and other orders, marks and white space do not matter.

    Time grows with the pairs of equal runs of three, so with the square of the text where that is one run again and
    again.

    Source: greedy string tiling, Wise, "String similarity via greedy string tiling and running Karp-Rabin matching"
    (1993).

    Example:
        >>> text = "Home | About. Cats purr all day. Home"
        >>> [text[a:b] for a, b in marked_spans(text, "# Cats\\npurr all day.")]
        ['Cats purr all day']
    """
    places = [found.span() for found in _WORD.finditer(text)]
    own, wanted = [text[a:b].lower() for a, b in places], _WORD.findall(marked.lower())
    runs = [(-length, i, j) for length, i, j in _common_runs(own, wanted)]
    heapq.heapify(runs)
    least, free, unclaimed = min(RUN, len(wanted)), [True] * len(own), [True] * len(wanted)
    tiles = []
    while runs:
        length, i, j = heapq.heappop(runs)
        parts = _parts([free[i + at] and unclaimed[j + at] for at in range(-length)])
        if parts == [(0, -length)]:
            free[i : i - length] = unclaimed[j : j - length] = [False] * -length
            tiles.append((places[i][0], places[i - length - 1][1]))
            continue
        for first, last in parts:
            if last - first >= least:
                heapq.heappush(runs, (first - last, i + first, j + first))
    return np.array(sorted(tiles), np.int64).reshape(-1, 2)


def _common_runs(own: list[str], wanted: list[str]) -> list[tuple[int, int, int]]:
    """(words, first word here, first word there) of each run that both have and that goes on on neither side."""
    least = min(RUN, len(wanted))
    if not least:
        return []
    there: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for j in range(len(wanted) - least + 1):
        there[tuple(wanted[j : j + least])].append(j)
    found: list[tuple[int, int, int]] = []
    before: dict[int, int] = {}  # by the last place there: how many places in a row are equal
    for i in range(len(own) - least + 2):
        now = {j: before.get(j - 1, 0) + 1 for j in there.get(tuple(own[i : i + least]), ())}
        for j, count in before.items():
            if j + 1 not in now:
                found.append((count + least - 1, i - count, j - count + 1))
        before = now
    return found


def _parts(kept: list[bool]) -> list[tuple[int, int]]:
    """First and last of each run of true values."""
    edges = np.flatnonzero(np.diff(np.array([False, *kept, False], np.int8)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


class Noise(NamedTuple):
    """Of each chunk, int64[chunks]: the characters of its words that are outside the marked text, and all of them."""

    outside: I64
    of: I64

    @property
    def characters(self) -> RatioSum:
        """The share of noise in all chunks together."""
        return RatioSum(int(self.outside.sum()), int(self.of.sum()))

    @property
    def noisy(self) -> Bools:
        """bool[chunks]: whether each is noise by more than 20 %; one without words is not."""
        return np.asarray(self.outside > NOISY * self.of, np.bool_)

    @property
    def chunks(self) -> RatioSum:
        """How many chunks are noise by more than 20 %."""
        return RatioSum(int(self.noisy.sum()), len(self.of))


def noise(text: str, chunks: npt.ArrayLike, marked: npt.ArrayLike) -> Noise:
    """How much of each chunk is outside the marked text, in characters of words: marks and white space are neither.

    Args:
        marked: spans of the text that people marked (:func:`marked_spans`).

    Example:
        >>> text = "Home About Cats purr."
        >>> found = noise(text, [(0, 15), (16, 21)], marked=[(11, 20)])
        >>> found.outside.tolist(), found.of.tolist(), found.characters, found.chunks
        ([9, 0], [13, 4], Tally(found=9, of=17), Tally(found=1, of=2))
    """
    words = _covered(np.array([found.span() for found in _WORD.finditer(text)], np.int64), len(text))
    sums = [np.concatenate([[0], np.cumsum(each)]) for each in (words & ~_covered(marked, len(text)), words)]
    starts, ends = np.asarray(chunks, np.int64).reshape(-1, 2).T
    outside, of = (np.asarray(each[ends] - each[starts], np.int64) for each in sums)
    return Noise(outside, of)


def _covered(spans: npt.ArrayLike, size: int) -> Bools:
    """bool[size]: whether each character is in a span."""
    steps = np.zeros(size + 1, np.int64)
    starts, ends = np.asarray(spans, np.int64).reshape(-1, 2).T
    np.add.at(steps, starts, 1)
    np.add.at(steps, ends, -1)
    return np.asarray(steps[:-1].cumsum() > 0, np.bool_)


def dangling(text: str, chunks: npt.ArrayLike) -> Bools:
    """bool[chunks]: whether each refers back to what was said before it (:func:`~.chunk_starts.refers_back`); the
    first: no.

    Example:
        >>> dangling("It rains. It pours.", [(0, 9), (10, 19)]).tolist()
        [False, True]
    """
    spans = np.asarray(chunks, np.int64).reshape(-1, 2).tolist()
    return np.array([row > 0 and refers_back(text[start:end]) for row, (start, end) in enumerate(spans)], np.bool_)


def cuts_a_unit(chunks: npt.ArrayLike, units: npt.ArrayLike) -> Bools:
    """bool[chunks]: whether each begins or ends inside a unit (a list, a table, a paragraph), which is not whole then.

    Args:
        units: in order, not overlapping; callers leave out those too long for a chunk.

    Example:
        >>> cuts_a_unit([(0, 10), (10, 30), (30, 40)], units=[(0, 10), (11, 25), (26, 40)]).tolist()
        [False, True, True]
    """
    spans, whole = (np.asarray(each, np.int64).reshape(-1, 2) for each in (chunks, units))
    if not len(whole):
        return np.zeros(len(spans), np.bool_)
    rows = np.searchsorted(whole[:, 0], spans, side="left") - 1  # the last unit that begins before each edge
    return np.asarray(((rows >= 0) & (spans < whole[rows, 1])).any(axis=1), np.bool_)


def incomplete(text: str, chunks: npt.ArrayLike, units: npt.ArrayLike) -> Bools:
    """bool[chunks]: whether each begins by referring back, or cuts a unit.

    Example:
        >>> incomplete("It rains. It pours.", [(0, 9), (10, 19)], units=[(0, 9), (10, 19)]).tolist()
        [False, True]
    """
    return dangling(text, chunks) | cuts_a_unit(chunks, units)


def completeness(text: str, chunks: npt.ArrayLike, units: npt.ArrayLike) -> RatioSum:
    """How many chunks are complete: they do not begin by referring back, and cut no unit.

    Example:
        >>> completeness("It rains. It pours.", [(0, 9), (10, 19)], units=[(0, 9), (10, 19)])
        Tally(found=1, of=2)
    """
    found = incomplete(text, chunks, units)
    return RatioSum(int((~found).sum()), len(found))


def breaks_inside(vectors: npt.NDArray[np.floating], rows: npt.ArrayLike, chunks: int) -> Bools:
    """bool[chunks]: whether the lowest cosine of neighbouring sentences in a chunk is under the document's own 5th
    percentile of such cosines, so that one of the document's sharpest turns is inside.

    The percentile is of all pairs of neighbours, those with a cut between them included, interpolated; a document with
    a single pair has no break. Longer chunks hold more pairs: compare at equal length.

    Args:
        vectors: unit vectors of the document's sentences [n, d]; one of zeros is left out.
        rows: the chunk of each sentence, int[n]; -1 where it is in none.

    Example:
        >>> vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> breaks_inside(vectors, [0, 0, 1, 1], 2).tolist(), breaks_inside(vectors, [0, 0, 0, 1], 2).tolist()
        ([False, False], [True, False])
    """
    own = np.asarray(rows, np.int64)
    if vectors.ndim != 2 or own.shape != vectors.shape[:1]:
        raise ValueError(f"needed vectors [n, d] and rows [n]; got shapes {vectors.shape} and {own.shape}")
    there = np.abs(vectors).max(axis=1, initial=0) > 0
    kept, own = vectors[there].astype(np.float64), own[there]
    found = np.zeros(chunks, np.bool_)
    if len(kept) < 2:
        return found
    cosines = (kept[1:] * kept[:-1]).sum(axis=1)
    low = (cosines < np.percentile(cosines, BREAK)) & (own[1:] == own[:-1]) & (own[1:] >= 0)
    found[own[1:][low]] = True
    return found


def equal_headings(rows: npt.ArrayLike, levels: npt.ArrayLike, chunks: int) -> Bools:
    """bool[chunks]: whether a chunk holds two headings of one level, and so two sections beside each other.

    Args:
        rows: the chunk of each heading, int[h]; -1 where it is in none. levels: of each heading, int[h].

    Example:
        >>> equal_headings([0, 0, 1, 1], levels=[1, 2, 2, 2], chunks=2).tolist()
        [False, True]
    """
    own, level = np.asarray(rows, np.int64), np.asarray(levels, np.int64)
    if own.shape != level.shape or own.ndim != 1:
        raise ValueError(f"rows and levels must be of the same headings; got shapes {own.shape} and {level.shape}")
    pairs, counts = np.unique(np.stack([own, level], axis=1)[own >= 0], axis=0, return_counts=True)
    found = np.zeros(chunks, np.bool_)
    found[pairs[counts > 1, 0]] = True
    return found


def context_switch(
    vectors: npt.NDArray[np.floating],
    rows: npt.ArrayLike,
    heading_rows: npt.ArrayLike,
    levels: npt.ArrayLike,
    chunks: int,
) -> RatioSum:
    """How many chunks change their subject: :func:`breaks_inside` or :func:`equal_headings`.

    Example:
        >>> vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> context_switch(vectors, [0, 0, 1], heading_rows=[0, 0], levels=[2, 2], chunks=2)
        Tally(found=1, of=2)
    """
    found = breaks_inside(vectors, rows, chunks) | equal_headings(heading_rows, levels, chunks)
    return RatioSum(int(found.sum()), chunks)


def relevance(
    chunks: npt.ArrayLike, gold: tuple[int, int], same_parent: npt.ArrayLike, same_document: npt.ArrayLike = True
) -> I64:
    """int64[chunks], how much each chunk is the section that was asked for, by its share that is in it.

    4: at least 90 %, 3: at least half, 2: some of it, 1: nothing, but it is of the same parent, 0: nothing.

    Args:
        gold: start and end of the section, in characters of its document.
        same_parent: of each chunk, whether it hangs on the heading that the section hangs on, bool[chunks].
        same_document: whether chunks are of that document, bool[chunks]; default: all.

    Example:
        >>> relevance([(0, 10), (4, 14), (8, 18), (30, 40), (50, 60)], (0, 10), [1, 1, 1, 1, 0]).tolist()
        [4, 3, 2, 1, 0]
    """
    spans = np.asarray(chunks, np.int64).reshape(-1, 2)
    parent, own = (np.broadcast_to(np.asarray(each, bool), len(spans)) for each in (same_parent, same_document))
    held = np.maximum(0, np.minimum(spans[:, 1], gold[1]) - np.maximum(spans[:, 0], gold[0])) * own
    length = spans[:, 1] - spans[:, 0]
    shares = [(held > 0) & (10 * held >= 9 * length), (held > 0) & (2 * held >= length), held > 0, parent]
    return np.asarray(np.select(shares, [4, 3, 2, 1], 0), np.int64)


def weighted_precision(relevance: npt.ArrayLike, k: int) -> float:
    """The relevance of the first k chunks found, 0 to 4 each, as a share of what k perfect ones have.

    Where fewer were found the others count as irrelevant.

    Example:
        >>> weighted_precision([4, 2, 0, 4], k=3)
        0.5

    Source: AutoChunker, section 4.5.2 (there in per cent).
    """
    if k < 1:
        raise ValueError(f"k must be at least 1; got {k}")
    return float(np.asarray(relevance, np.int64)[:k].sum()) / (MOST * k)
