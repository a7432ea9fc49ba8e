"""A judge of chunks: a model says whether they hold noise, are complete, change their subject or serve a task.

Each judge can be compared with a count made without a model (:mod:`.quality_counts`). :mod:`.agreement` measures how
far verdicts and counts agree.

Source of the criteria: Jain, Aggarwal and Saladi, "AutoChunker: Structured Text Chunking and its Evaluation" (2025).
The prompts are our own (``pychunk/llm/prompts``), so the figures are not comparable with the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..._util.counting import counted
from ..measures.intervals import Interval, by_documents
from ..measures.intrinsic import RatioSum
from .agreement import Agreement, cohen_kappa

if TYPE_CHECKING:
    from ...llm import LLM

I64 = npt.NDArray[np.int64]

#: The judges, and whether a yes means that the chunk is good.
JUDGES = {"noise": False, "completeness": True, "context_switch": False, "task": True}
#: The purpose of chunks if the caller names none.
PURPOSE = "to answer questions about what the documents say"


@dataclass(frozen=True)
class ChunkVerdicts:
    """The verdicts of a judge on chunks.

    Attributes:
        name: The name of the judge.
        verdicts: int64[chunks]: 1 for yes, 0 for no, -1 for an abstention.
        documents: The document of each chunk, int64[chunks].
        faults: The number of abstentions for each reason; see :class:`pychunk.llm.verdicts.Verdicts`.
        asked_again: The number of chunks in calls whose first answer was unusable.
        facts: What the verdicts depend on in addition to the text: model, parameters, prompt.
        reasons: Why calls had no usable answer, each reason once, at most five.
    """

    name: str
    verdicts: I64
    documents: I64
    faults: Mapping[str, int]
    asked_again: int
    facts: Mapping[str, object]
    reasons: tuple[str, ...] = ()

    @property
    def tally(self) -> RatioSum:
        """The number of chunks with a yes, and the number with a verdict."""
        return RatioSum(int((self.verdicts == 1).sum()), int((self.verdicts >= 0).sum()))

    @property
    def abstained(self) -> int:
        """The number of chunks without a verdict."""
        return int((self.verdicts < 0).sum())

    def share(self, *, level: float = 0.95, seed: int = 0) -> Interval:
        """Return the share of yes among the verdicts with its interval over documents, NaN if there is no verdict."""
        values = np.where(self.verdicts >= 0, self.verdicts, np.nan)
        return by_documents(values, self.documents, level=level, seed=seed)

    def agreement(self, counted: npt.ArrayLike, *, level: float = 0.95, seed: int = 0) -> Agreement:
        """Return Cohen's kappa of the judge's verdicts and verdicts counted without a model, and its interval.

        ``counted``, bool[chunks], must mean the same as the judge's verdicts: that a chunk holds noise, is complete,
        changes its subject, or serves the task. The interval is over documents.
        """
        return cohen_kappa(self.verdicts, counted, self.documents, level=level, seed=seed)


def judge(
    llm: LLM,
    name: str,
    texts: Sequence[str],
    documents: npt.ArrayLike | None = None,
    *,
    task: str = PURPOSE,
    together: int = 10,
    window_tokens: int = 4000,
    seed: int | None = 0,
    language: str = "en",
) -> ChunkVerdicts:
    """Ask a model for a verdict on each chunk, with many chunks in a call, calls in parallel, and cached answers.

    The model sees the chunks of all documents in an order drawn with ``seed``, so that their position tells it nothing.
    The verdicts are in the order of ``texts``. If a chunk has more than 8,000 characters, the model sees only its
    beginning and its end. :class:`pychunk.llm.verdicts.Judge` describes how answers are read and what is asked again.

    Args:
        llm: The client. With ``dry_run=True`` it asks nothing, every verdict is an abstention, and ``llm.account``
            holds an estimate of the cost.
        name: The judge. For ``"noise"``, a yes means that the chunk holds noise. For ``"completeness"``, it means that
            the chunk is complete, for ``"context_switch"`` that its subject changes, for ``"task"`` that it serves the
            task.
        texts: The chunks, such as ``chunks.texts``.
        documents: The document of each chunk, for intervals, such as ``chunks.table["document_index"]``. By default,
            each chunk is a document of its own.
        task: The purpose of the chunks, for ``"task"``.
        together: The most chunks in a call.
        window_tokens: The most tokens of the chunks in a call, as estimated.
        seed: The seed of the order. None keeps the order of ``texts``.
        language: The language of the prompt.

    Raises:
        ValueError: There is no such judge, or the number of documents is not the number of chunks.
        TypeError: The chunks are not texts.
        LLMError: There is no endpoint, the key is wrong, or a limit is reached; see :meth:`pychunk.llm.LLM.ask_many`.

    Example:
        >>> from pychunk.llm import LLM
        >>> llm = LLM("http://127.0.0.1:8099/v1", "test", cache=False, dry_run=True)
        >>> found = judge(llm, "noise", ["Home | About", "Cats purr."])
        >>> found.verdicts.tolist(), found.abstained, llm.account.total.calls
        ([-1, -1], 2, 1)
    """
    from ...llm.verdicts import Judge

    texts = checked_texts(texts)
    if name not in JUDGES:
        raise ValueError(f"no judge {name!r:.80}; choose one of {', '.join(JUDGES)}")
    rows = documents_of(len(texts), documents, "chunk")
    stage = f"judge {name}"
    asking = Judge(llm, f"judge_{name}", stage=stage, language=language, together=together, window_tokens=window_tokens)
    found = asking(texts, about=f"Purpose: {task}" if name == "task" else "", seed=seed)
    return ChunkVerdicts(
        name, found.values, rows, found.faults, found.asked_again, {**asking.facts, "seed": seed}, found.reasons
    )


def documents_of(count: int, documents: npt.ArrayLike | None, of: str) -> npt.NDArray[np.int64]:
    """Return the document of each chunk or question as int64[count], by default a document of its own for each.

    ``of`` is the word for the error, ``"chunk"`` or ``"question"``.

    Raises:
        ValueError: The number of documents is not ``count``.
    """
    rows = np.arange(count) if documents is None else np.asarray(documents, np.int64)
    if rows.shape != (count,):
        raise ValueError(
            f"documents must have one entry for each {of}; got shape {rows.shape} for {counted(count, of)}"
        )
    return rows


def checked_texts(texts: Sequence[str]) -> list[str]:
    """Return the chunks as a list of texts; an Arrow column becomes a list.

    Raises:
        TypeError: The chunks are not texts.
    """
    found = texts.to_pylist() if hasattr(texts, "to_pylist") else texts
    wrong = [found] if isinstance(found, str) else [text for text in found if not isinstance(text, str)]
    if wrong:
        raise TypeError(
            f"texts must be a list of texts, such as chunks.texts; got {wrong[0]!r:.80}"
            f"{'' if isinstance(found, str) else ' in it'}"
        )
    return list(found)
