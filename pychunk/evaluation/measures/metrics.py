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
    """Return the text in lower case, without punctuation, articles and surplus white space.

    This is the normalisation of SQuAD's evaluation (Rajpurkar et al., 2016).

    Example:
        >>> normalize_answer("The  Norman-conquest, (1066)")
        'normanconquest 1066'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def answer_shares(chunks: Sequence[str], answers: Sequence[str]) -> F64:
    """Return the share of each chunk's words that an answer takes, 0 if it contains no answer; float64[chunks].

    Chunks and answers must be normalised (:func:`normalize_answer`). A chunk contains an answer if the answer's words
    follow each other in it. Of several answers, the one with the largest share counts.

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
    """Return Hits@k: 1 if one of the top k chunks that are ``allowed`` contains an answer, else 0; float64[questions].

    Args:
        shares: The shares from :func:`answer_shares`, float64[questions, k], 0 for chunks that were not retrieved.
        allowed: bool[questions, k]. None allows all. For strict hits, this is the result of :func:`in_paragraph`.

    Example:
        >>> hits(np.array([[0.0, 0.2], [0.1, 0.0]]), np.array([[True, True], [False, True]]))
        array([1., 0.])

    Source: Hits@k of open-domain question answering, as the PIC paper reports it.
    """
    held = shares > 0
    if allowed is not None:
        if allowed.shape != held.shape:
            raise ValueError(f"allowed must have the shape of shares, {shares.shape}; got {allowed.shape}")
        held = held & allowed
    return np.asarray(held.any(axis=1), np.float64)


def in_paragraph(
    documents: npt.NDArray[np.int64], spans: npt.NDArray[np.int64], gold: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return which chunks share a character with the paragraph that their question is about; bool[questions, k].

    Args:
        documents: The document of each retrieved chunk, int64[questions, k], -1 for none.
        spans: The start and end of each chunk in characters, int64[questions, k, 2].
        gold: The document, start and end of the paragraph, int64[questions, 3].
    """
    overlaps = np.minimum(spans[..., 1], gold[:, None, 2]) > np.maximum(spans[..., 0], gold[:, None, 1])
    return np.asarray((documents == gold[:, None, 0]) & overlaps)


def hits_within_words(held: npt.NDArray[np.bool_], words: npt.NDArray[np.integer], budgets: Sequence[int]) -> F64:
    """Return Hits@k with a budget of words in place of k, to compare chunk sizes fairly; float64[questions, budgets].

    Chunks count in the order of the ranking until the budget is spent. A chunk counts only if all of it fits into the
    budget.

    Args:
        held: Whether each retrieved chunk is a hit, bool[questions, depth], best first.
        words: The number of words in each chunk, int[questions, depth], 0 for chunks that were not retrieved.
        budgets: The budgets in words.

    Example:
        >>> hits_within_words(np.array([[False, True]]), np.array([[100, 60]]), [150, 160])
        array([[0., 1.]])
    """
    if held.shape != words.shape:
        raise ValueError(f"words must have the shape of held, {held.shape}; got {words.shape}")
    if (words < 0).any():
        raise ValueError(f"words must not be negative; got {words.min()}")
    spent = np.cumsum(words, axis=1)
    return np.stack([(held & (spent <= budget)).any(axis=1) for budget in budgets], axis=1).astype(np.float64)


def recall_at_k(shares: F64) -> F64:
    """Return 1 if one of the top k chunks contains an answer, else 0; ``shares`` is float64[questions, k].

    Source: The NSP paper's Recall@k, whose wording leaves open what is counted.
    """
    return np.asarray((shares > 0).any(axis=1), np.float64)


def precision_at_k(shares: F64) -> F64:
    """Return the mean share of answer words in the top k chunks; ``shares`` is float64[questions, k].

    Source: The NSP paper's Precision@k.
    """
    return np.asarray(shares.mean(axis=1), np.float64)


def cosine_at_k(answers: npt.NDArray[np.floating], chunks: npt.NDArray[np.floating], top: npt.NDArray[np.int64]) -> F64:
    """Return the mean cosine of the answer and the top k chunks; float64[questions].

    This is Semantic Precision if the text of each chunk is encoded as a whole. ``pychunk eval`` uses the sum of the
    vectors of each chunk's sentences instead, and calls the measure answer cosine.

    Args:
        answers: The unit vectors of the answers, [questions, d].
        chunks: The unit vectors of the chunks, [n, d].
        top: The rows of ``chunks`` that were retrieved, int64[questions, k]. Rows of -1 are not counted.

    Source: The NSP paper's Semantic-Precision@k.
    """
    cosines = np.einsum("qd,qkd->qk", answers.astype(np.float64), chunks[top].astype(np.float64))
    found = top >= 0
    return np.asarray((cosines * found).sum(axis=1) / np.maximum(1, found.sum(axis=1)), np.float64)
