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


def semantic_precision_at_k(
    answers: npt.NDArray[np.floating], chunks: npt.NDArray[np.floating], top: npt.NDArray[np.int64]
) -> F64:
    """Cosine of answer and chunk, mean over the top k; float64[questions].

    Args:
        answers: unit vectors [questions, d]. chunks: unit vectors [n, d].
        top: rows of ``chunks`` that were retrieved, int64[questions, k]; -1 where there were fewer, not counted.

    Source: the NSP paper's Semantic-Precision@k.
    """
    cosines = np.einsum("qd,qkd->qk", answers.astype(np.float64), chunks[top].astype(np.float64))
    found = top >= 0
    return np.asarray((cosines * found).sum(axis=1) / np.maximum(1, found.sum(axis=1)), np.float64)
