"""AutoChunker's criteria of chunks, counted instead of judged: noise, completeness, context switches, precision.

AutoChunker lets a language model judge each chunk by these criteria, which it calls tenets. Here, chunks are compared
with what people marked: the text of a page, the units that a parser saw, the section that answers a question. Spans are
int[n, 2], start and end in characters. Chunks are in order and do not overlap. Each function measures one document, and
returns shares as :class:`~.intrinsic.RatioSum`.

Source of the names: Jain, Aggarwal and Saladi, "AutoChunker: Structured Text Chunking and its Evaluation" (2025). The
definitions are ours except for weighted precision, so the figures are not comparable with the paper's.
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

#: The shortest run of words that two texts have in common by more than chance.
RUN = 3
#: The share of noise above which a chunk counts as noisy.
NOISY = 0.2
#: The percentile of a document's cosines of neighbouring sentences below which a pair counts as a sharp turn.
BREAK = 5
#: The highest relevance.
MOST = 4

_WORD = re.compile(r"\w+")


def marked_spans(text: str, marked: str) -> I64:
    r"""Return the spans of a text that people marked, int64[n, 2] in characters, in order.

    The function compares words: runs of letters and digits in lower case. It first takes the longest run of words
    that both texts have, then the next longest, and uses each word once. The shortest runs that it takes have three
    words, or fewer if the whole marked text has fewer. A second copy of the words, such as in a menu, is therefore not
    returned. The order of passages, punctuation and white space do not matter.

    The time grows with the number of pairs of equal runs of three. If a text repeats one run again and again, the time
    is quadratic.

    Source: greedy string tiling, Wise, "String similarity via greedy string tiling and running Karp-Rabin matching"
    (1993).

    Example:
        >>> text = "Home | About. Cats purr all day. Home"
        >>> [text[a:b] for a, b in marked_spans(text, "# Cats\npurr all day.")]
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
    """Return (length, first word in ``own``, first in ``wanted``) of each maximal run of words that both contain."""
    least = min(RUN, len(wanted))
    if not least:
        return []
    there: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for j in range(len(wanted) - least + 1):
        there[tuple(wanted[j : j + least])].append(j)
    found: list[tuple[int, int, int]] = []
    # By the last position in `wanted`: the number of consecutive positions at which runs are equal.
    before: dict[int, int] = {}
    for i in range(len(own) - least + 2):
        now = {j: before.get(j - 1, 0) + 1 for j in there.get(tuple(own[i : i + least]), ())}
        for j, count in before.items():
            if j + 1 not in now:
                found.append((count + least - 1, i - count, j - count + 1))
        before = now
    return found


def _parts(kept: list[bool]) -> list[tuple[int, int]]:
    """Return (first, end) of each run of true values."""
    edges = np.flatnonzero(np.diff(np.array([False, *kept, False], np.int8)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


class Noise(NamedTuple):
    """The number of word characters of each chunk outside the marked text, and in total, int64[chunks] each."""

    outside: I64
    of: I64

    @property
    def characters(self) -> RatioSum:
        """The share of noise in all chunks together."""
        return RatioSum(int(self.outside.sum()), int(self.of.sum()))

    @property
    def noisy(self) -> Bools:
        """The chunks with more than 20 % noise, bool[chunks]; a chunk without words is not noisy."""
        return np.asarray(self.outside > NOISY * self.of, np.bool_)

    @property
    def chunks(self) -> RatioSum:
        """The number of chunks with more than 20 % noise, and the number of chunks."""
        return RatioSum(int(self.noisy.sum()), len(self.of))


def noise(text: str, chunks: npt.ArrayLike, marked: npt.ArrayLike) -> Noise:
    """Return how much of each chunk is outside the marked text, in characters of words.

    Punctuation and white space count neither as noise nor as text.

    Args:
        text: The text of the document.
        chunks: The spans of the chunks.
        marked: The spans of the text that people marked (:func:`marked_spans`).

    Example:
        >>> text = "Home About Cats purr."
        >>> found = noise(text, [(0, 15), (16, 21)], marked=[(11, 20)])
        >>> found.outside.tolist(), found.of.tolist(), found.characters, found.chunks
        ([9, 0], [13, 4], RatioSum(found=9, of=17), RatioSum(found=1, of=2))
    """
    words = _covered(np.array([found.span() for found in _WORD.finditer(text)], np.int64), len(text))
    sums = [np.concatenate([[0], np.cumsum(each)]) for each in (words & ~_covered(marked, len(text)), words)]
    starts, ends = np.asarray(chunks, np.int64).reshape(-1, 2).T
    outside, of = (np.asarray(each[ends] - each[starts], np.int64) for each in sums)
    return Noise(outside, of)


def _covered(spans: npt.ArrayLike, size: int) -> Bools:
    """Return whether each character is in a span, bool[size]."""
    steps = np.zeros(size + 1, np.int64)
    starts, ends = np.asarray(spans, np.int64).reshape(-1, 2).T
    np.add.at(steps, starts, 1)
    np.add.at(steps, ends, -1)
    return np.asarray(steps[:-1].cumsum() > 0, np.bool_)


def dangling(text: str, chunks: npt.ArrayLike) -> Bools:
    """Return whether each chunk refers back to what was said before it, bool[chunks].

    :func:`~.chunk_starts.refers_back` decides. The first chunk never counts.

    Example:
        >>> dangling("It rains. It pours.", [(0, 9), (10, 19)]).tolist()
        [False, True]
    """
    spans = np.asarray(chunks, np.int64).reshape(-1, 2).tolist()
    return np.array([row > 0 and refers_back(text[start:end]) for row, (start, end) in enumerate(spans)], np.bool_)


def cuts_a_unit(chunks: npt.ArrayLike, units: npt.ArrayLike) -> Bools:
    """Return whether each chunk begins or ends inside a unit, bool[chunks], so that the unit is not whole.

    Args:
        chunks: The spans of the chunks.
        units: The spans of lists, tables and paragraphs, in order and not overlapping. The caller must leave out units
            that are too long for a chunk.

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
    """Return whether each chunk begins by referring back or cuts a unit, bool[chunks].

    Example:
        >>> incomplete("It rains. It pours.", [(0, 9), (10, 19)], units=[(0, 9), (10, 19)]).tolist()
        [False, True]
    """
    return dangling(text, chunks) | cuts_a_unit(chunks, units)


def completeness(text: str, chunks: npt.ArrayLike, units: npt.ArrayLike) -> RatioSum:
    """Count the chunks that are complete: they do not begin by referring back, and cut no unit.

    Example:
        >>> completeness("It rains. It pours.", [(0, 9), (10, 19)], units=[(0, 9), (10, 19)])
        RatioSum(found=1, of=2)
    """
    found = incomplete(text, chunks, units)
    return RatioSum(int((~found).sum()), len(found))


def breaks_inside(vectors: npt.NDArray[np.floating], rows: npt.ArrayLike, chunks: int) -> Bools:
    """Return which chunks have one of their document's sharpest turns inside them, bool[chunks].

    A chunk has such a turn if two neighbouring sentences in it have a cosine below the 5th percentile of the document's
    cosines of neighbouring sentences. The percentile is interpolated over all pairs of neighbours, including pairs with
    a cut between them. A document with a single pair has no turn. Longer chunks hold more pairs, so compare methods at
    equal chunk length.

    Args:
        vectors: The unit vectors of the document's sentences, [n, d]. Vectors of zeros are left out.
        rows: The chunk of each sentence, int[n], -1 for none.
        chunks: The number of chunks.

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
    """Return whether each chunk holds two headings of one level, and therefore two sections; bool[chunks].

    Args:
        rows: The chunk of each heading, int[h], -1 for none.
        levels: The level of each heading, int[h].
        chunks: The number of chunks.

    Example:
        >>> equal_headings([0, 0, 1, 1], levels=[1, 2, 2, 2], chunks=2).tolist()
        [False, True]
    """
    own, level = np.asarray(rows, np.int64), np.asarray(levels, np.int64)
    if own.shape != level.shape or own.ndim != 1:
        raise ValueError(
            f"rows and levels must have one entry for each heading; got shapes {own.shape} and {level.shape}"
        )
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
    """Count the chunks that change their subject, by :func:`breaks_inside` or :func:`equal_headings`.

    Example:
        >>> vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> context_switch(vectors, [0, 0, 1], heading_rows=[0, 0], levels=[2, 2], chunks=2)
        RatioSum(found=1, of=2)
    """
    found = breaks_inside(vectors, rows, chunks) | equal_headings(heading_rows, levels, chunks)
    return RatioSum(int(found.sum()), chunks)


def relevance(
    chunks: npt.ArrayLike, gold: tuple[int, int], same_parent: npt.ArrayLike, same_document: npt.ArrayLike = True
) -> I64:
    """Return the relevance of each chunk to the section that was asked for, int64[chunks].

    The grade depends on the share of the chunk that is in the section: 4 for at least 90 %, 3 for at least half, 2 for
    less. A chunk outside the section gets 1 if it has the same parent heading as the section, else 0.

    Args:
        chunks: The spans of the chunks.
        gold: The start and end of the section, in characters of its document.
        same_parent: Whether each chunk is under the same parent heading as the section, bool[chunks].
        same_document: Whether each chunk is in the section's document, bool[chunks]; default: all are.

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
    """Return the sum of the first k grades, from 0 to 4 each, as a share of 4 k, the highest possible sum.

    If fewer than k chunks were found, the missing ones count as irrelevant.

    Example:
        >>> weighted_precision([4, 2, 0, 4], k=3)
        0.5

    Source: AutoChunker, section 4.5.2 (there in per cent).
    """
    if k < 1:
        raise ValueError(f"k must be at least 1; got {k}")
    return float(np.asarray(relevance, np.int64)[:k].sum()) / (MOST * k)
