"""Are answers right: by SQuAD's measures, of multiple-choice questions, and by the UNLP 2026 shared task's score."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import page_accuracy
from .metrics import F64

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
#: What the answer, its document and its page count in the UNLP task's score.
UNLP_WEIGHTS = (0.5, 0.25, 0.25)


def normalised(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, single spaces: what SQuAD compares.

    >>> normalised("The Cat's  toy, an (old) one."), normalised("Another theme")
    ('cats toy old one', 'another theme')
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answers: Sequence[str], gold: Sequence[Sequence[str]]) -> F64:
    """1 where the answer is one of the gold ones, normalised; float64[questions].

    A question without gold answers is right where nothing is answered.

    Example:
        >>> exact_match(["The moon.", "the Sun", ""], [["Moon", "a star"], ["stars"], []])
        array([1., 0., 1.])

    Source: Rajpurkar et al., SQuAD (2016); with questions without an answer, 2018.
    """
    return np.array([_best(answer, own, _equal) for answer, own in checked_pairs(answers, gold)], np.float64)


def token_f1(answers: Sequence[str], gold: Sequence[Sequence[str]]) -> F64:
    """Harmonic mean of precision and recall of the answer's tokens, normalised, by the best gold one; float64[q].

    A token counts as often as it comes in both. Of an empty answer, or an empty gold one, it is 1 where both are.

    Example:
        >>> token_f1(["the old cat", "dog"], [["cat", "an old grey cat"], ["cats"]]).round(3).tolist()
        [0.8, 0.0]

    Source: as :func:`exact_match`.
    """
    return np.array([_best(answer, own, _f1) for answer, own in checked_pairs(answers, gold)], np.float64)


def choice_accuracy(options: Sequence[int | None], gold: Sequence[int]) -> F64:
    """1 where the chosen option is the gold one, 0 where another or none was chosen; float64[questions].

    Args:
        options: places of options, None where none was chosen. gold: the right places.

    Raises:
        ValueError: not as many of one as of the other.

    Example:
        >>> choice_accuracy([2, None, 1], [2, 0, 0])
        array([1., 0., 0.])
    """
    if len(options) != len(gold):
        raise ValueError(f"there are {len(options)} answers and {len(gold)} gold ones: one for each question")
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
    """Half for the answer, a quarter for its document, a quarter for how near its page is; float64[questions].

    Args:
        right: of each question 1 where its answer is right, else 0.
        documents, found_pages, gold_documents, gold_pages, page_counts: as of
            :func:`pychunk.evaluation.measures.page_accuracy.accuracy_page`; -1 where no source was named.

    Raises:
        ValueError: not as many of one as of the other.

    Example:
        >>> unlp_score([1, 1, 0], [0, 1, 2], [3, 3, 1], [0, 2, 2], [1, 3, 1], [4, 4, 9]).tolist()
        [0.875, 0.5, 0.5]

    Source: the UNLP 2026 shared task.
    """
    answered = np.asarray(right, np.float64)
    by_document = page_accuracy.accuracy_doc(documents, gold_documents)
    by_page = page_accuracy.accuracy_page(documents, found_pages, gold_documents, gold_pages, page_counts)
    if answered.shape != by_document.shape:
        raise ValueError(f"the shapes must be equal; got {answered.shape} and {by_document.shape}")
    answer, document, page = UNLP_WEIGHTS
    return np.asarray(answer * answered + document * by_document + page * by_page, np.float64)


def checked_pairs(answers: Sequence[str], gold: Sequence[Sequence[str]]) -> list[tuple[str, Sequence[str]]]:
    """Each answer with its gold ones.

    Raises:
        ValueError: not as many of one as of the other; gold answers that are no lists.
    """
    if len(answers) != len(gold):
        raise ValueError(f"there are {len(answers)} answers and {len(gold)} lists of gold ones: one for each question")
    wrong = next((row for row, own in enumerate(gold) if isinstance(own, str)), None)
    if wrong is not None:
        raise ValueError(f"gold answers are lists of texts; of question {wrong} got {gold[wrong]!r:.60}")
    return list(zip(answers, gold, strict=True))


def _best(answer: str, gold: Sequence[str], measure: Any) -> float:
    usable = [each for each in gold if normalised(each)] or [""]  # as the authors' script has it
    return max(float(measure(normalised(answer), normalised(each))) for each in usable)


def _equal(answer: str, gold: str) -> float:
    return float(answer == gold)


def _f1(answer: str, gold: str) -> float:
    own, wanted = answer.split(), gold.split()
    if not own or not wanted:
        return float(own == wanted)
    same = sum((Counter(own) & Counter(wanted)).values())
    return 2 * same / (len(own) + len(wanted)) if same else 0.0
