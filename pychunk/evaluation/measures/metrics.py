"""Measures of retrieved chunks against known answers, for many questions at once."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """Lower case, without punctuation, articles and surplus white space (SQuAD's evaluation, Rajpurkar et al., 2016).

    Example:
        >>> normalize_answer("The  Norman-conquest, (1066)")
        'normanconquest 1066'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def answer_shares(chunks: Sequence[str], answers: Sequence[str]) -> F64:
    """For each chunk the share of its words that are the answer's, 0 where it does not hold one; float64[chunks].

    Chunks and answers are normalised (:func:`normalize_answer`). An answer is held where its words stand in the chunk
    one after the other; of several answers the one with the largest share counts.

    Example:
        >>> answer_shares(["cats purr at night", "dogs bark"], ["night"])
        array([0.25, 0.  ])
    """
    shares = np.zeros(len(chunks))
    for i, chunk in enumerate(chunks):
        padded, words = f" {chunk} ", max(1, len(chunk.split()))
        for answer in answers:
            if answer and f" {answer} " in padded:
                shares[i] = max(shares[i], len(answer.split()) / words)
    return shares


def hits(shares: F64, allowed: npt.NDArray[np.bool_] | None = None) -> F64:
    """Hits@k: 1 where an answer occurs in one of the top k chunks that is also ``allowed``; float64[questions].

    Args:
        shares: float64[questions, k] of :func:`answer_shares`, 0 where fewer than k were retrieved.
        allowed: bool[questions, k]; None allows all. The strict reading gives :func:`in_paragraph`.

    Example:
        >>> hits(np.array([[0.0, 0.2], [0.1, 0.0]]), np.array([[True, True], [False, True]]))
        array([1., 0.])

    Source: Hits@k of open-domain question answering, as the PIC paper reports it.
    """
    held = shares > 0
    if allowed is not None:
        if allowed.shape != held.shape:
            raise ValueError(f"allowed must be of the shape of shares, {shares.shape}; got {allowed.shape}")
        held = held & allowed
    return np.asarray(held.any(axis=1), np.float64)


def in_paragraph(
    documents: npt.NDArray[np.int64], spans: npt.NDArray[np.int64], gold: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which chunks share a character with the paragraph that their question is about; bool[questions, k].

    Args:
        documents: of each retrieved chunk, int64[questions, k]; -1 where there were fewer.
        spans: its start and end in characters, int64[questions, k, 2].
        gold: document, start and end of the paragraph, int64[questions, 3].
    """
    overlaps = np.minimum(spans[..., 1], gold[:, None, 2]) > np.maximum(spans[..., 0], gold[:, None, 1])
    return np.asarray((documents == gold[:, None, 0]) & overlaps)


def hits_within_words(held: npt.NDArray[np.bool_], words: npt.NDArray[np.integer], budgets: Sequence[int]) -> F64:
    """Hits@k with a budget of words in place of k, the fair comparison of chunk sizes; float64[questions, budgets].

    The ranking is walked down until the budget is spent; a chunk counts only if all of it fits into the budget.

    Args:
        held: whether the chunk is a hit, bool[questions, depth], best first.
        words: in the chunk, int[questions, depth]; 0 where fewer were retrieved.

    Example:
        >>> hits_within_words(np.array([[False, True]]), np.array([[100, 60]]), [150, 160])
        array([[0., 1.]])
    """
    if held.shape != words.shape:
        raise ValueError(f"words must be of the shape of held, {held.shape}; got {words.shape}")
    if (words < 0).any():
        raise ValueError(f"words must not be negative; got {words.min()}")
    spent = np.cumsum(words, axis=1)
    return np.stack([(held & (spent <= budget)).any(axis=1) for budget in budgets], axis=1).astype(np.float64)


def recall_at_k(shares: F64) -> F64:
    """1 where an answer occurs in one of the top k chunks; ``shares`` float64[questions, k]; float64[questions].

    Source: the NSP paper's Recall@k, whose wording leaves open what is counted.
    """
    return np.asarray((shares > 0).any(axis=1), np.float64)


def precision_at_k(shares: F64) -> F64:
    """Words of the answer over words of the chunk, mean over the top k; ``shares`` float64[questions, k].

    Source: the NSP paper's Precision@k.
    """
    return np.asarray(shares.mean(axis=1), np.float64)


def cosine_at_k(answers: npt.NDArray[np.floating], chunks: npt.NDArray[np.floating], top: npt.NDArray[np.int64]) -> F64:
    """Cosine of answer and chunk, mean over the top k; float64[questions].

    Semantic precision, where the chunks' vectors are those of their texts, each encoded as one; ``pychunk eval`` has
    the sums of their sentences' vectors, and calls it answer cosine.

    Args:
        answers: unit vectors [questions, d]. chunks: unit vectors [n, d].
        top: rows of ``chunks`` that were retrieved, int64[questions, k]; -1 where there were fewer, not counted.

    Source: the NSP paper's Semantic-Precision@k.
    """
    cosines = np.einsum("qd,qkd->qk", answers.astype(np.float64), chunks[top].astype(np.float64))
    found = top >= 0
    return np.asarray((cosines * found).sum(axis=1) / np.maximum(1, found.sum(axis=1)), np.float64)
