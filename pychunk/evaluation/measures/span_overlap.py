"""How much of the reference spans retrieved chunks hold, and how little else: Chroma's chunking evaluation.

Spans are int[n, 2], start and end in characters of one document, or in tokens after :func:`in_tokens`.

Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


class SpanScores(NamedTuple):
    """Token-wise recall, precision and intersection over union of retrieved chunks."""

    recall: float
    precision: float
    iou: float


def in_tokens(spans: npt.ArrayLike, tokens: npt.ArrayLike) -> I64:
    """Spans in characters as spans in tokens, int64[n, 2]; ``tokens`` int[t, 2] are characters, increasing.

    A token is in a span if its first character is, so chunks that follow on each other share no token.

    Example:
        >>> in_tokens([[0, 7], [7, 12]], tokens=[[0, 3], [4, 9], [10, 12]])
        array([[0, 2],
               [2, 3]])
    """
    starts = _checked(tokens, "tokens")[:, 0]
    return np.searchsorted(starts, _checked(spans, "spans")).astype(np.int64)


def span_scores(chunks: npt.ArrayLike, references: npt.ArrayLike, *, elsewhere: int = 0) -> SpanScores:
    """Recall, precision and IoU of the chunks retrieved for one question.

    ``elsewhere`` is the total length of the chunks that were retrieved from other documents.

    What is shared by chunks and references is counted once, however many chunks hold it. All else is counted as often
    as it occurs: the denominator of precision is the length of every retrieved chunk, those that overlap and those
    of other documents included; that of recall is the length of every reference; that of IoU is precision's, and what
    of each reference no chunk covers. So chunks that repeat each other lower precision and IoU.

    Example:
        >>> span_scores([[0, 10], [10, 20]], [[5, 15], [30, 40]])
        SpanScores(recall=0.5, precision=0.5, iou=0.3333333333333333)
    """
    retrieved, wanted = _checked(chunks, "chunks"), _references(references)
    if elsewhere < 0:
        raise ValueError(f"elsewhere must not be negative; got {elsewhere}")
    shared = _length(_covered(_union(wanted), _union(retrieved)))
    total = _length(retrieved[:, 1] - retrieved[:, 0]) + elsewhere
    lengths = wanted[:, 1] - wanted[:, 0]
    missed = _length(lengths - _covered(wanted, _union(retrieved)))
    return SpanScores(shared / _length(lengths), shared / total if total else 0.0, shared / (total + missed))


def holds_reference(chunks: npt.ArrayLike, references: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which chunks share a character (or token) with a reference, bool[chunks].

    How many those are is how many chunks Chroma's evaluation retrieves for a question if no number is given. (Its code
    also takes a chunk that ends where a reference begins, or the other way round; its paper does not.)
    """
    return _covered(_checked(chunks, "chunks"), _union(_references(references))) > 0


def precision_omega(chunks: npt.ArrayLike, references: npt.ArrayLike) -> float:
    """Precision if exactly the chunks that hold a part of a reference were retrieved; ``chunks`` are all there are.

    The best that a retriever can do with these chunks. Here overlapping chunks are counted once, and what of the
    references no chunk covers is in the denominator too, as in the source.

    Example:
        >>> precision_omega([[0, 10], [10, 20], [20, 30]], [[5, 12]])
        0.35
    """
    every, wanted = _checked(chunks, "chunks"), _references(references)
    shared = _length(_covered(_union(wanted), _union(every)))
    reached = _union(np.concatenate([every[holds_reference(every, wanted)], wanted]))
    return shared / _length(reached[:, 1] - reached[:, 0])


def _checked(spans: npt.ArrayLike, name: str) -> I64:
    found = np.asarray(spans, np.int64)
    if found.size == 0:
        return found.reshape(0, 2)
    if found.ndim != 2 or found.shape[1] != 2:
        raise ValueError(f"{name} must be [n, 2], start and end of each; got shape {found.shape}")
    wrong = np.flatnonzero((found[:, 0] < 0) | (found[:, 1] < found[:, 0]))
    if len(wrong):
        raise ValueError(f"{name} must have 0 <= start <= end; got {found[wrong[0]].tolist()} in row {wrong[0]}")
    return found


def _references(spans: npt.ArrayLike) -> I64:
    found = _checked(spans, "references")
    if not (found[:, 1] > found[:, 0]).any():
        raise ValueError(f"references must hold at least one character; got {found.tolist()}")
    return found


def _union(spans: I64) -> I64:
    """The same positions as spans that are sorted and neither overlap nor touch."""
    if not len(spans):
        return spans
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    ends = np.maximum.accumulate(spans[:, 1])
    gap = spans[1:, 0] > ends[:-1]
    return np.stack([spans[np.append(True, gap), 0], ends[np.append(gap, True)]], axis=1)


def _covered(spans: I64, union: I64) -> I64:
    """How many positions of each span are in the union; int64[n]."""
    if not len(union):
        return np.zeros(len(spans), np.int64)
    before = np.append(0, np.cumsum(union[:, 1] - union[:, 0]))
    # Positions of the union below x: all of the spans that begin by x, less what the last of them has from x on.
    begun = np.searchsorted(union[:, 0], spans, side="right")
    below = before[begun] - np.where(begun > 0, np.maximum(0, union[begun - 1, 1] - spans), 0)
    return np.asarray(below[:, 1] - below[:, 0], np.int64)


def _length(lengths: I64) -> int:
    return int(lengths.sum())
