"""A judge of answers: a model says whether an answer means the same as a gold answer.

Its verdicts are compared with SQuAD's measures.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._util.counting import counted
from ..measures.answer_accuracy import checked_pairs, exact_match, token_f1
from .agreement import Agreement
from .chunk_judge import ChunkVerdicts, documents_of

if TYPE_CHECKING:
    from ...llm import LLM

#: The token F1 from which an answer counts as right when the judge's verdicts are compared with token F1.
ENOUGH = 0.5


@dataclass(frozen=True)
class JudgedAnswers(ChunkVerdicts):
    """The verdicts of a judge on answers, like :class:`~.chunk_judge.ChunkVerdicts` on chunks.

    Attributes:
        asked: Whether the model saw each answer, bool[answers]. It sees no empty answer, and no answer to a question
            without a gold answer. The verdict is then 1 if both are missing, else 0.
    """

    asked: npt.NDArray[np.bool_] = field(kw_only=True)

    def agreement(self, counted: npt.ArrayLike, *, level: float = 0.95, seed: int = 0) -> Agreement:
        """Return Cohen's kappa of the judge's verdicts and ``counted``, bool[answers], over answers the model saw."""
        return super().agreement(np.where(self.asked, np.asarray(counted, np.int64), -1), level=level, seed=seed)


def judge_answers(
    llm: LLM,
    questions: Sequence[str],
    answers: Sequence[str],
    gold: Sequence[Sequence[str]],
    documents: npt.ArrayLike | None = None,
    *,
    together: int = 10,
    window_tokens: int = 4000,
    seed: int | None = 0,
    language: str = "en",
) -> JudgedAnswers:
    """Ask a model whether each answer means the same as one of the gold answers, with many answers in a call.

    The model sees the answers in an order drawn with ``seed``. Each answer is JSON on one line, so that no text of an
    answer can pass for a gold answer. :class:`pychunk.llm.verdicts.Judge` describes how verdicts are read and what is
    asked again.

    Args:
        llm: The client. With ``dry_run=True`` it asks nothing, and each answer that it would ask about has no verdict.
        questions: The questions.
        answers: The answer to each question.
        gold: The gold answers of each question, as in :func:`~.answer_accuracy.exact_match`.
        documents: The document that each question is about, for intervals. By default, each question has a document of
            its own.
        together: The most answers in a call.
        window_tokens: The most tokens of the answers in a call, as estimated.
        seed: The seed of the order. None keeps the order of ``questions``.
        language: The language of the prompt.

    Raises:
        ValueError: The numbers of questions, answers and gold answers differ, or gold answers are not lists.
        LLMError: There is no endpoint, the key is wrong, or a limit is reached; see :meth:`pychunk.llm.LLM.ask_many`.

    Example:
        >>> from pychunk.llm import LLM
        >>> llm = LLM("http://127.0.0.1:8099/v1", "test", cache=False, dry_run=True)
        >>> found = judge_answers(llm, ["What purrs?", "What barks?"], ["A cat.", ""], [["cats"], ["dogs"]])
        >>> found.verdicts.tolist(), found.asked.tolist(), llm.account.total.calls
        ([-1, 0], [True, False], 1)
    """
    from ...llm.verdicts import Judge

    pairs = checked_pairs(answers, gold)
    if len(questions) != len(pairs):
        raise ValueError(
            f"there must be one answer for each question; got {counted(len(pairs), 'answer')} for "
            f"{counted(len(questions), 'question')}"
        )
    rows = documents_of(len(questions), documents, "question")
    known = [[each for each in own if each.strip()] for _, own in pairs]
    asked = np.array([bool(answer.strip() and own) for (answer, _), own in zip(pairs, known, strict=True)], bool)
    verdicts = np.array(
        [not answer.strip() and not own for (answer, _), own in zip(pairs, known, strict=True)], np.int64
    )
    shown = [
        json.dumps({"question": question, "right answers": own, "answer": answer}, ensure_ascii=False)
        for question, (answer, _), own, wanted in zip(questions, pairs, known, asked, strict=True)
        if wanted
    ]
    asking = Judge(
        llm,
        "judge_answers",
        stage="judge answers",
        language=language,
        together=together,
        window_tokens=window_tokens,
    )
    found = asking(shown, seed=seed)
    verdicts[asked] = found.values
    facts = {**asking.facts, "seed": seed}
    return JudgedAnswers("answers", verdicts, rows, found.faults, found.asked_again, facts, found.reasons, asked=asked)


def judged_rows(
    llm: LLM,
    name: str,
    questions: Sequence[str],
    answers: Sequence[str],
    gold: Sequence[Sequence[str]],
    documents: npt.ArrayLike | None = None,
    *,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Judge answers and return two rows as :mod:`.report` shows them under ``judged``.

    One row compares the judge with exact match, the other with token F1.

    Args:
        llm: The client, as in :func:`judge_answers`.
        name: The name of the row.
        questions: The questions.
        answers: The answer to each question.
        gold: The gold answers of each question.
        documents: The document that each question is about, for intervals. By default, each question has a document of
            its own.
        seed: The seed of the order and of the intervals.
    """
    found = judge_answers(llm, questions, answers, gold, documents, seed=seed)
    beside = {
        "exact match": exact_match(answers, gold) == 1,
        f"F1 >= {ENOUGH}": token_f1(answers, gold) >= ENOUGH,
    }
    return [
        {
            "name": name,
            "judge": f"answers, compared with {measure}",
            "better": "more",
            "share": found.share(seed=seed)._asdict(),
            "asked": int(found.asked.sum()),
            "abstained": found.abstained,
            "faults": dict(found.faults),
            "reasons": list(found.reasons),
            "counted": float(right.mean()) if len(right) else None,
            "kappa": found.agreement(right, seed=seed).kappa._asdict(),
        }
        for measure, right in beside.items()
    ]
