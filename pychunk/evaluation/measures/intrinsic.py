"""Five measures of chunks that need no question, under the names of the Adaptive Chunking paper, each in our own terms.

Each is of one document and gives a :class:`RatioSum`, so that a mean over documents, and its interval, can be made of
sums (:func:`pychunk.evaluation.measures.intervals.of_sums`). Spans are int[n, 2], start and end in characters; chunks
are in order and do not overlap. A sentence is its chunk's whose span holds its first character
(:func:`~.chunk_starts.holders`).

Source of the names: de Moura Júnior, Lelong and Blangero, "Adaptive Chunking: Optimizing Chunking-Method Selection for
RAG" (2026, arXiv 2603.25333). The definitions are ours, and figures cannot be held against those of the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .chunk_starts import holders

I64 = npt.NDArray[np.int64]


class RatioSum(NamedTuple):
    """What a share or a mean is made of: a sum, and over how many."""

    found: float
    of: int


def reference_completeness(refers: npt.ArrayLike, rows: npt.ArrayLike) -> RatioSum:
    """Of sentences that refer back, how many have the sentence before them in their chunk.

    The paper resolves pronouns to nouns with a model. This needs none: a sentence refers back where it begins with a
    pronoun or a connective (:func:`~.chunk_starts.refers_back`), and what it refers to is taken to be in the sentence
    before it. The first sentence of a document has none before it and is not counted.

    Args:
        refers: of each sentence, bool[n]. rows: its chunk, int[n]; -1 where it is in none.

    Example:
        >>> reference_completeness([False, True, True, False], rows=[0, 0, 1, 1])
        Tally(found=1, of=2)
    """
    back, own = np.asarray(refers, bool), np.asarray(rows, np.int64)
    if back.shape != own.shape or back.ndim != 1:
        raise ValueError(f"refers and rows must be of the same sentences; got shapes {back.shape} and {own.shape}")
    counted = back[1:] & (own[1:] >= 0)
    return RatioSum(int((counted & (own[1:] == own[:-1])).sum()), int(counted.sum()))


def intrachunk_cohesion(vectors: npt.NDArray[np.floating], rows: npt.ArrayLike) -> RatioSum:
    """The cosine of each sentence to the mean vector of its chunk, summed; sentences that are alike have cosines of 1.

    Only sentences of chunks that hold two or more: one alone is its own mean and has 1 whatever it says. A sentence is
    part of the mean that it is held against, so that short chunks come out higher: compare at equal length.

    Args:
        vectors: unit vectors of sentences [n, d]; one of zeros is left out. rows: as above.

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
    """The cosine of each chunk's mean vector to that of the text around it, summed over chunks.

    Around it are the ``window`` sentences before its first and the ``window`` after its last, as far as the document
    goes: the same for every method, whatever the length of the neighbours. A document of one chunk has none. It is high
    where chunks still say what they are about, and pulls against cohesion: cuts where the topic changes lower it.

    Args:
        vectors, rows: as in :func:`intrachunk_cohesion`.

    Example:
        >>> vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> contextual_coherence(vectors, rows=[0, 1, 1], window=1)  # each has the other, or a part of it, around it
        Tally(found=1.7071067811865475, of=2)
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
    """How many blocks (:func:`~.plain_text_blocks.find_blocks`) lie whole in one chunk; callers leave out those too
    long for one.

    Example:
        >>> block_integrity([[0, 10], [12, 30]], chunks=[[0, 20], [20, 30]])
        Tally(found=1, of=2)
    """
    spans, held = np.asarray(blocks, np.int64).reshape(-1, 2), np.asarray(chunks, np.int64).reshape(-1, 2)
    rows = holders(spans[:, 0], held)
    whole = (rows >= 0) & (spans[:, 1] <= held[rows, 1]) if len(held) else rows >= 0
    return RatioSum(int(whole.sum()), len(spans))


def size_compliance(sizes: npt.ArrayLike, *, least: int, most: int) -> RatioSum:
    """How many chunks have a size from ``least`` to ``most``, both included; ``sizes`` int[chunks], in any unit.

    A document's only chunk is compliant where it is not above ``most``: nothing is left to join it.

    Example:
        >>> size_compliance([20, 100, 300], least=50, most=250)
        Tally(found=1, of=3)
    """
    if not 0 <= least <= most:
        raise ValueError(f"needed 0 <= least <= most; got least={least}, most={most}")
    counted = np.asarray(sizes, np.int64)
    low = 0 if len(counted) == 1 else least
    return RatioSum(int(((counted >= low) & (counted <= most)).sum()), len(counted))


def _by_chunk(
    vectors: npt.NDArray[np.floating], rows: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Vectors of the sentences that are in a chunk, and where each chunk's begin, with the end of the last one."""
    own = np.asarray(rows, np.int64)
    if vectors.ndim != 2 or own.shape != vectors.shape[:1]:
        raise ValueError(f"needed vectors [n, d] and rows [n]; got shapes {vectors.shape} and {own.shape}")
    if (np.diff(own[own >= 0]) < 0).any():
        raise ValueError("rows must not decrease: sentences and chunks are in order")
    kept = (own >= 0) & (np.abs(vectors).max(axis=1, initial=0) > 0)
    changes = np.flatnonzero(np.diff(own[kept], prepend=-1))
    return vectors[kept].astype(np.float64), np.append(changes, kept.sum()).astype(np.int64)


def _cosines(left: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return np.asarray((left * right).sum(axis=1) / np.maximum(lengths, 1e-12), np.float64)
