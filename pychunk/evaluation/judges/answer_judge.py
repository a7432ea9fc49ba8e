"""Answers judged by a model: whether one means the same as a gold one, yes or no, beside SQuAD's measures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..measures.answer_accuracy import checked_pairs, exact_match, token_f1
from .agreement import Agreement
from .chunk_judge import ChunkVerdicts, documents_of

if TYPE_CHECKING:
    from ...llm import LLM

#: Token F1 from which an answer counts as right beside the judge.
ENOUGH = 0.5


@dataclass(frozen=True)
class JudgedAnswers(ChunkVerdicts):
    """What a judge said of answers; as :class:`~.chunk_judge.ChunkVerdicts`, of answers in place of chunks.

    Attributes:
        asked: bool[answers], those that the model was shown. Of the others, questions without an answer or without a
            gold one, nothing has to be asked: there the verdict is whether both are empty.
    """

    asked: npt.NDArray[np.bool_] = field(kw_only=True)

    def agreement(self, counted: npt.ArrayLike, *, level: float = 0.95, seed: int = 0) -> Agreement:
        """Cohen's kappa with what is counted, bool[answers], over those that the model was shown."""
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
    """Ask a model of each answer whether it means the same as one of the gold ones; many answers a call.

    Answers are shown in an order drawn with ``seed``, each as JSON on one line, so that no text of an answer is taken
    for a gold one. How verdicts are read, and what is asked again: :class:`pychunk.llm.verdicts.Judge`.

    Args:
        llm: the client; with ``dry_run=True`` nothing is asked, and what would be has no verdict.
        questions, answers, gold: as of :func:`~.answers.exact_match`, with the questions.
        documents: that each question is about, for intervals; default: each question is of its own.
        together, window_tokens, seed, language: as in :func:`~.chunk_judge.judge`.

    Raises:
        ValueError: not as many of one as of the other; gold answers that are no lists.
        LLMError: no endpoint, a wrong key, a limit; see :meth:`pychunk.llm.LLM.ask_many`.

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
        raise ValueError(f"there are {len(questions)} questions and {len(pairs)} answers: one for each")
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
    """Rows in the form that :mod:`.report` shows under ``judged``: one beside exact match, one beside token F1.

    Args:
        name: of the row. Others: as of :func:`judge_answers`.
    """
    found = judge_answers(llm, questions, answers, gold, documents, seed=seed)
    beside = {
        "exact match": exact_match(answers, gold) == 1,
        f"F1 >= {ENOUGH}": token_f1(answers, gold) >= ENOUGH,
    }
    return [
        {
            "name": name,
            "judge": f"answers, beside {measure}",
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
