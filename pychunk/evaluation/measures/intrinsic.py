"""Five measures of chunks that need no question, named as in the Adaptive Chunking paper but with our own definitions.

Each measures one document and returns a :class:`RatioSum`. A mean over documents and its interval can be computed from
these sums (:func:`pychunk.evaluation.measures.intervals.of_sums`). Spans are int[n, 2], start and end in characters.
Chunks are in order and do not overlap. A sentence belongs to the chunk whose span holds its first character
(:func:`~.chunk_starts.holders`).

Source of the names: de Moura Júnior, Lelong and Blangero, "Adaptive Chunking: Optimizing Chunking-Method Selection for
RAG" (2026, arXiv 2603.25333). The definitions are ours, so the figures are not comparable with the paper's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .chunk_starts import holders

I64 = npt.NDArray[np.int64]


class RatioSum(NamedTuple):
    """The numerator and denominator of a share or a mean."""

    found: float
    of: int


def reference_completeness(refers: npt.ArrayLike, rows: npt.ArrayLike) -> RatioSum:
    """Count the sentences that refer back, and those among them whose chunk contains the previous sentence.

    The paper resolves pronouns to nouns with a model. This measure needs none: a sentence refers back if it begins with
    a pronoun or a connective (:func:`~.chunk_starts.refers_back`). Its referent is assumed to be in the sentence
    before. The first sentence of a document has no sentence before it and is not counted.

    Args:
        refers: Whether each sentence refers back, bool[n].
        rows: The chunk of each sentence, int[n], -1 for none.

    Example:
        >>> reference_completeness([False, True, True, False], rows=[0, 0, 1, 1])
        RatioSum(found=1, of=2)
    """
    back, own = np.asarray(refers, bool), np.asarray(rows, np.int64)
    if back.shape != own.shape or back.ndim != 1:
        raise ValueError(
            f"refers and rows must have one entry for each sentence; got shapes {back.shape} and {own.shape}"
        )
    counted = back[1:] & (own[1:] >= 0)
    return RatioSum(int((counted & (own[1:] == own[:-1])).sum()), int(counted.sum()))


def intrachunk_cohesion(vectors: npt.NDArray[np.floating], rows: npt.ArrayLike) -> RatioSum:
    """Sum the cosine of each sentence to the mean vector of its chunk; equal sentences have cosines of 1.

    Only chunks of two or more sentences count, because a single sentence is its own mean and always has a cosine of 1.
    A sentence is part of the mean with which it is compared, so short chunks score higher. Compare methods at equal
    chunk length.

    Args:
        vectors: The unit vectors of the sentences, [n, d]. Vectors of zeros are left out.
        rows: The chunk of each sentence, int[n], -1 for none.

    Example:
        >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
        >>> tally = intrachunk_cohesion(vectors, rows=[0, 0, 1])  # two at 45 degrees to their mean, and one alone
        >>> round(tally.found / tally.of, 4)
        0.7071
    """
    sentences, borders = _by_chunk(vectors, rows)
    sums = np.add.reduceat(sentences, borders[:-1], axis=0) if len(sentences) else sentences
    lengths = np.diff(borders)
    cosines = _cosines(sentences, np.repeat(sums, lengths, axis=0))
    counted = np.repeat(lengths > 1, lengths)
    return RatioSum(float(cosines[counted].sum()), int(counted.sum()))


def contextual_coherence(vectors: npt.NDArray[np.floating], rows: npt.ArrayLike, *, window: int = 10) -> RatioSum:
    """Sum the cosine of each chunk's mean vector to the mean vector of the text around the chunk.

    The text around a chunk is the ``window`` sentences before its first sentence and the ``window`` sentences after its
    last one, as far as the document has them. Its size does not depend on the length of the neighbouring chunks. A
    document of one chunk has no such text. The measure is high if chunks are about the same as the text around them.
    Cuts where the topic changes lower it, but raise cohesion.

    Args:
        vectors: The unit vectors of the sentences, [n, d]. See :func:`intrachunk_cohesion`.
        rows: The chunk of each sentence, int[n], -1 for none.
        window: The number of sentences on either side.

    Example:
        >>> vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> contextual_coherence(vectors, rows=[0, 1, 1], window=1)  # each has the other, or a part of it, around it
        RatioSum(found=1.7071067811865475, of=2)
    """
    if window < 1:
        raise ValueError(f"window must be at least 1; got {window}")
    sentences, borders = _by_chunk(vectors, rows)
    if len(borders) < 3:
        return RatioSum(0.0, 0)
    before = np.concatenate([np.zeros((1, sentences.shape[1])), sentences.cumsum(axis=0)])
    begins, ends = borders[:-1], borders[1:]
    own = before[ends] - before[begins]
    around = before[begins] - before[np.maximum(0, begins - window)]
    around += before[np.minimum(len(sentences), ends + window)] - before[ends]
    return RatioSum(float(_cosines(own, around).sum()), len(begins))


def block_integrity(blocks: npt.ArrayLike, chunks: npt.ArrayLike) -> RatioSum:
    """Count the blocks (:func:`~.plain_text_blocks.find_blocks`), and those that are whole in one chunk.

    The caller must leave out blocks that are too long for one chunk.

    Example:
        >>> block_integrity([[0, 10], [12, 30]], chunks=[[0, 20], [20, 30]])
        RatioSum(found=1, of=2)
    """
    spans, held = np.asarray(blocks, np.int64).reshape(-1, 2), np.asarray(chunks, np.int64).reshape(-1, 2)
    rows = holders(spans[:, 0], held)
    whole = (rows >= 0) & (spans[:, 1] <= held[rows, 1]) if len(held) else rows >= 0
    return RatioSum(int(whole.sum()), len(spans))


def size_compliance(sizes: npt.ArrayLike, *, least: int, most: int) -> RatioSum:
    """Count the chunks whose size is from ``least`` to ``most``, both included; ``sizes`` is int[chunks] in any unit.

    The only chunk of a document complies if it is not above ``most``, because there is nothing to join it with.

    Example:
        >>> size_compliance([20, 100, 300], least=50, most=250)
        RatioSum(found=1, of=3)
    """
    if not 0 <= least <= most:
        raise ValueError(f"needed 0 <= least <= most; got least={least}, most={most}")
    counted = np.asarray(sizes, np.int64)
    low = 0 if len(counted) == 1 else least
    return RatioSum(int(((counted >= low) & (counted <= most)).sum()), len(counted))


def _by_chunk(
    vectors: npt.NDArray[np.floating], rows: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return the vectors of the sentences in chunks, without zero vectors, and the row at which each chunk begins.

    The second array ends with the number of these vectors.
    """
    own = np.asarray(rows, np.int64)
    if vectors.ndim != 2 or own.shape != vectors.shape[:1]:
        raise ValueError(f"needed vectors [n, d] and rows [n]; got shapes {vectors.shape} and {own.shape}")
    falls = np.flatnonzero(np.diff(own[own >= 0]) < 0)
    if len(falls):
        first, second = own[own >= 0][falls[0] : falls[0] + 2]
        raise ValueError(
            f"rows must not decrease, because sentences and chunks are in order; got {second} after {first}"
        )
    kept = (own >= 0) & (np.abs(vectors).max(axis=1, initial=0) > 0)
    changes = np.flatnonzero(np.diff(own[kept], prepend=-1))
    return vectors[kept].astype(np.float64), np.append(changes, kept.sum()).astype(np.int64)


def _cosines(left: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return np.asarray((left * right).sum(axis=1) / np.maximum(lengths, 1e-12), np.float64)
