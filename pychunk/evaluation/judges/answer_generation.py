"""Answers of a model to a dataset's questions, from what each row of an evaluation found, and how right they are."""

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
    """Who answers, from how many hits, of how many words.

    Args:
        llm: the client. k: hits for each question. words: longest text of them that the model is shown.
        judged: whether it is asked of each answer, too, if it means the same as one of the dataset's.
    """

    llm: LLM
    k: int = 10
    words: int | None = 1500
    judged: bool = False

    def check(self, data: Dataset) -> None:
        """That there is something to hold answers against.

        Raises:
            ValueError: questions without answers, says of which; options, where a model is to judge answers.
        """
        lacking = next((row for row, each in enumerate(data.questions) if not each.answers), None)
        if not data.questions or lacking is not None:
            which = "no questions" if lacking is None else f"no answer to question {lacking}"
            raise ValueError(f"answers are held against those of a dataset: {data.name} has {which}")
        if self.judged and _choose(data):
            raise ValueError(f"which option was chosen is counted, not judged: {data.name} is multiple choice")

    def __call__(self, hits: Sequence[Sequence[Any]], data: Dataset) -> tuple[dict[str, F64], Answers]:
        """(values of each measure float64[q], the answers) from the hits of each question.

        Where all questions have options: ``answer accuracy``; else ``answer exact match`` and ``answer F1`` (SQuAD's).
        Where they ask for pages also ``UNLP score``, by the first source that the answer names.
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
        """What the model says of the answers of a row, as :func:`~.answer_judge.judged_rows`; none unless ``judged``.

        A dry run judges the gold answer wherever the answer is not known yet.
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
    """(documents, pages) of the first source of each answer; -1 where it names none."""
    first = [each.sources[0] if each.sources else None for each in found]
    documents = [-1 if part is None else part.document for part in first]
    own = [
        -1
        if part is None
        else part.page
        if part.page is not None
        else int(page_accuracy.pages_at(data.page_starts[part.document], [part.start])[0])
        for part in first
    ]
    return documents, own
