"""Measures of right answers: SQuAD's, accuracy on multiple-choice questions, and the score of the UNLP 2026 task."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._util.counting import counted
from . import page_accuracy
from .metrics import F64

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
#: The weights of the answer, its document and its page in the UNLP task's score.
UNLP_WEIGHTS = (0.5, 0.25, 0.25)


def normalised(text: str) -> str:
    """Return the text as SQuAD compares it: lower case, no ASCII punctuation, no English articles, single spaces.

    >>> normalised("The Cat's  toy, an (old) one."), normalised("Another theme")
    ('cats toy old one', 'another theme')
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answers: Sequence[str], gold: Sequence[Sequence[str]]) -> F64:
    """Return 1 for each answer that equals one of its gold answers after normalisation, else 0; float64[questions].

    If a question has no gold answer, an empty answer is right.

    Example:
        >>> exact_match(["The moon.", "the Sun", ""], [["Moon", "a star"], ["stars"], []])
        array([1., 0., 1.])

    Source: Rajpurkar et al., SQuAD (2016); with questions without an answer, 2018.
    """
    return np.array([_best(answer, own, _equal) for answer, own in checked_pairs(answers, gold)], np.float64)


def token_f1(answers: Sequence[str], gold: Sequence[Sequence[str]]) -> F64:
    """Return the highest token F1 of each answer with any of its gold answers; float64[questions].

    F1 is the harmonic mean of precision and recall of the normalised tokens. A token counts as often as both texts
    contain it. If either text is empty, F1 is 1 if both are, else 0.

    Example:
        >>> token_f1(["the old cat", "dog"], [["cat", "an old grey cat"], ["cats"]]).round(3).tolist()
        [0.8, 0.0]

    Source: See :func:`exact_match`.
    """
    return np.array([_best(answer, own, _f1) for answer, own in checked_pairs(answers, gold)], np.float64)


def choice_accuracy(options: Sequence[int | None], gold: Sequence[int]) -> F64:
    """Return 1 for each question whose chosen option is the gold one, else 0; float64[questions].

    Args:
        options: The number of the option chosen for each question, None for none.
        gold: The number of the right option of each question.

    Raises:
        ValueError: The numbers of options and gold options differ.

    Example:
        >>> choice_accuracy([2, None, 1], [2, 0, 0])
        array([1., 0., 0.])
    """
    if len(options) != len(gold):
        raise ValueError(
            f"options and gold must have one entry for each question; got the lengths {len(options)} and {len(gold)}"
        )
    return np.array(
        [float(each is not None and each == right) for each, right in zip(options, gold, strict=True)], np.float64
    )


def unlp_score(
    right: npt.ArrayLike,
    documents: npt.ArrayLike,
    found_pages: npt.ArrayLike,
    gold_documents: npt.ArrayLike,
    gold_pages: npt.ArrayLike,
    page_counts: npt.ArrayLike,
) -> F64:
    """Return the score of each question: a half for the answer, a quarter for its document, a quarter for its page.

    The quarter for the page decreases with its distance from the gold page.

    Args:
        right: 1 for each question with a right answer, else 0.
        documents: The document that each answer names, int[questions], -1 for none.
        found_pages: The page that each answer names, int[questions], -1 for none.
        gold_documents: The right document, int[questions].
        gold_pages: The right page, int[questions].
        page_counts: The number of pages of the right document, int[questions].

    Returns:
        float64[questions].

    Raises:
        ValueError: The arrays differ in length.

    Example:
        >>> unlp_score([1, 1, 0], [0, 1, 2], [3, 3, 1], [0, 2, 2], [1, 3, 1], [4, 4, 9]).tolist()
        [0.875, 0.5, 0.5]

    Source: The UNLP 2026 shared task.
    """
    answered = np.asarray(right, np.float64)
    by_document = page_accuracy.accuracy_doc(documents, gold_documents)
    by_page = page_accuracy.accuracy_page(documents, found_pages, gold_documents, gold_pages, page_counts)
    if answered.shape != by_document.shape:
        raise ValueError(
            f"right and documents must cover the same questions; got shapes {answered.shape} and {by_document.shape}"
        )
    answer, document, page = UNLP_WEIGHTS
    return np.asarray(answer * answered + document * by_document + page * by_page, np.float64)


def checked_pairs(answers: Sequence[str], gold: Sequence[Sequence[str]]) -> list[tuple[str, Sequence[str]]]:
    """Return each answer with its gold answers.

    Raises:
        ValueError: The numbers of answers and of lists of gold answers differ, or gold answers are not lists.
    """
    if len(answers) != len(gold):
        raise ValueError(
            f"gold must have one list for each answer; got {counted(len(gold), 'list')} for "
            f"{counted(len(answers), 'answer')}"
        )
    wrong = next((row for row, own in enumerate(gold) if isinstance(own, str)), None)
    if wrong is not None:
        raise ValueError(f"gold answers must be lists of texts; question {wrong} has {gold[wrong]!r:.60}")
    return list(zip(answers, gold, strict=True))


def _best(answer: str, gold: Sequence[str], measure: Any) -> float:
    usable = [each for each in gold if normalised(each)] or [""]  # as in the authors' script
    return max(float(measure(normalised(answer), normalised(each))) for each in usable)


def _equal(answer: str, gold: str) -> float:
    return float(answer == gold)


def _f1(answer: str, gold: str) -> float:
    own, wanted = answer.split(), gold.split()
    if not own or not wanted:
        return float(own == wanted)
    same = sum((Counter(own) & Counter(wanted)).values())
    return 2 * same / (len(own) + len(wanted)) if same else 0.0
