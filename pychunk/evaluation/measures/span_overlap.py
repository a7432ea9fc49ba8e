"""The measures of Chroma's chunking evaluation: how much of the references the chunks hold, and how little else.

Spans are int[n, 2], start and end in characters of one document, or in tokens after :func:`in_tokens`.

Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


class SpanScores(NamedTuple):
    """The token-wise recall, precision and intersection over union of retrieved chunks."""

    recall: float
    precision: float
    iou: float


def in_tokens(spans: npt.ArrayLike, tokens: npt.ArrayLike) -> I64:
    """Convert spans in characters to spans in tokens, int64[n, 2].

    ``tokens`` are the spans of the tokens in characters, int[t, 2], increasing. A token is in a span if its
    first character is. Consecutive chunks therefore share no token.

    Example:
        >>> in_tokens([[0, 7], [7, 12]], tokens=[[0, 3], [4, 9], [10, 12]])
        array([[0, 2],
               [2, 3]])
    """
    starts = _checked(tokens, "tokens")[:, 0]
    return np.searchsorted(starts, _checked(spans, "spans")).astype(np.int64)


def span_scores(chunks: npt.ArrayLike, references: npt.ArrayLike, *, elsewhere: int = 0) -> SpanScores:
    """Return recall, precision and IoU of the chunks retrieved for one question.

    ``elsewhere`` is the total length of the chunks that were retrieved from other documents.

    Text that chunks and references share is counted once, however many chunks hold it. All other text is counted as
    often as it occurs. The denominator of precision is the length of all retrieved chunks, including overlaps and
    chunks of other documents. The denominator of recall is the length of all references. The denominator of IoU is the
    denominator of precision plus the length of the parts of references that no chunk covers. Chunks that repeat each
    other therefore lower precision and IoU.

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
    """Return which chunks share a character (or token) with a reference, bool[chunks].

    If no number of chunks is given, Chroma's evaluation retrieves as many chunks for a question as there are chunks
    that share a character with a reference. Its code also counts a chunk that ends where a reference begins, or the
    other way round. Its paper does not.
    """
    return _covered(_checked(chunks, "chunks"), _union(_references(references))) > 0


def precision_omega(chunks: npt.ArrayLike, references: npt.ArrayLike) -> float:
    """Return the precision if exactly the chunks with a part of a reference were retrieved; ``chunks`` are all chunks.

    This is the best that a retriever can do with these chunks. As in the source, overlapping chunks are counted once,
    and the denominator includes the parts of references that no chunk covers.

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
        raise ValueError(f"{name} must be an array [n, 2] with the start and end of each span; got shape {found.shape}")
    wrong = np.flatnonzero((found[:, 0] < 0) | (found[:, 1] < found[:, 0]))
    if len(wrong):
        raise ValueError(f"{name} must have 0 <= start <= end; got {found[wrong[0]].tolist()} in row {wrong[0]}")
    return found


def _references(spans: npt.ArrayLike) -> I64:
    found = _checked(spans, "references")
    if not (found[:, 1] > found[:, 0]).any():
        raise ValueError(f"references must hold at least one character; got {found.tolist()!s:.80}")
    return found


def _union(spans: I64) -> I64:
    """Return the same positions as sorted spans that neither overlap nor touch."""
    if not len(spans):
        return spans
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    ends = np.maximum.accumulate(spans[:, 1])
    gap = spans[1:, 0] > ends[:-1]
    return np.stack([spans[np.append(True, gap), 0], ends[np.append(gap, True)]], axis=1)


def _covered(spans: I64, union: I64) -> I64:
    """Return how many positions of each span are in the union, int64[n]."""
    if not len(union):
        return np.zeros(len(spans), np.int64)
    before = np.append(0, np.cumsum(union[:, 1] - union[:, 0]))
    # The number of union positions below x is the length of all union spans that begin at or before x. The part of the
    # last of these spans from x on is subtracted.
    begun = np.searchsorted(union[:, 0], spans, side="right")
    below = before[begun] - np.where(begun > 0, np.maximum(0, union[begun - 1, 1] - spans), 0)
    return np.asarray(below[:, 1] - below[:, 0], np.int64)


def _length(lengths: I64) -> int:
    return int(lengths.sum())
