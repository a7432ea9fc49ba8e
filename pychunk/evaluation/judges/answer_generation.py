"""A model's answers to the questions of a dataset, from the hits of each row of an evaluation, and their accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...answers import Answers, from_hits
from ..datasets import Dataset
from ..measures import answer_accuracy, page_accuracy
from ..measures.metrics import F64
from . import answer_judge

if TYPE_CHECKING:
    from ...llm import LLM


@dataclass(frozen=True)
class AnswerSetup:
    """The settings with which a model answers questions.

    Args:
        llm: The client of the model.
        k: The number of hits for each question.
        words: The most words of these hits that the model sees.
        judged: Whether the model also judges if each answer means the same as one of the dataset's answers.
    """

    llm: LLM
    k: int = 10
    words: int | None = 1500
    judged: bool = False

    def check(self, data: Dataset) -> None:
        """Check that the dataset has answers to compare with.

        Raises:
            ValueError: A question has no answer; the message names it. Or a model should judge answers, but the
                questions are multiple choice.
        """
        lacking = next((row for row, each in enumerate(data.questions) if not each.answers), None)
        if not data.questions or lacking is not None:
            which = "no questions" if lacking is None else f"no answer to question {lacking}"
            raise ValueError(f"the dataset must hold an answer to every question, but {data.name} has {which}")
        if self.judged and _choose(data):
            raise ValueError(
                f"multiple-choice answers are counted and need no judge, but {data.name} is multiple choice: "
                "leave out the judge of answers"
            )

    def __call__(self, hits: Sequence[Sequence[Any]], data: Dataset) -> tuple[dict[str, F64], Answers]:
        """Answer each question from its hits, and return (values of each measure as float64[questions], the answers).

        If all questions have options, the measure is ``answer accuracy``. Otherwise, the measures are SQuAD's: ``answer
        exact match`` and ``answer F1``. If the questions ask for pages, there is also ``UNLP score``, for the first
        source that the answer names.
        """
        self.check(data)
        choose = _choose(data)
        found = from_hits(
            [own[: self.k] for own in hits],
            [question.text for question in data.questions],
            [question.options for question in data.questions] if choose else None,
            llm=self.llm,
            words=self.words,
        )
        if choose:
            gold = [question.options.index(question.answers[0]) for question in data.questions]
            right = answer_accuracy.choice_accuracy([each.option for each in found], gold)
            values = {"answer accuracy": right}
        else:
            texts, wanted = [each.text for each in found], [question.answers for question in data.questions]
            right = answer_accuracy.exact_match(texts, wanted)
            values = {"answer exact match": right, "answer F1": answer_accuracy.token_f1(texts, wanted)}
        if data.kind == "pages":
            documents, own = _cited(found, data)
            gold_documents = np.array([question.document for question in data.questions])
            gold_pages = [question.page or 0 for question in data.questions]
            counts = np.array([len(starts) for starts in data.page_starts])[gold_documents]
            values["UNLP score"] = answer_accuracy.unlp_score(right, documents, own, gold_documents, gold_pages, counts)
        return values, found

    def rows(self, name: str, found: Answers, data: Dataset, seed: int = 0) -> list[dict[str, Any]]:
        """Return the judge's verdicts on the answers of a row, as :func:`~.answer_judge.judged_rows` does.

        The list is empty unless ``judged`` is set. A dry run judges the dataset's answer wherever the model's answer is
        not known yet.
        """
        if not self.judged:
            return []
        questions = data.questions
        texts = [each.text for each in found]
        if self.llm.dry_run:
            texts = [text or own.answers[0] for text, own in zip(texts, questions, strict=True)]
        documents = np.array([own.document for own in questions])
        unknown = documents < 0
        documents[unknown] = documents.max(initial=-1) + 1 + np.arange(unknown.sum())
        asked, gold = [own.text for own in questions], [own.answers for own in questions]
        return answer_judge.judged_rows(self.llm, name, asked, texts, gold, documents, seed=seed)


def _choose(data: Dataset) -> bool:
    return all(question.options for question in data.questions)


def _cited(found: Answers, data: Dataset) -> tuple[list[int], list[int]]:
    """Return (documents, pages) of the first source of each answer, -1 if the answer names no source."""
    first = [each.sources[0] if each.sources else None for each in found]
    documents = [-1 if part is None else part.document_index for part in first]
    own = [
        -1
        if part is None
        else part.page
        if part.page is not None
        else int(page_accuracy.pages_at(data.page_starts[part.document_index], [part.start])[0])
        for part in first
    ]
    return documents, own
