"""Chunks judged by a model, yes or no: noise, completeness, context switches, relevance to a task.

Beside each judge stands what is counted without one (:mod:`.tenets`), and how far both agree (:mod:`.agreement`).

Source of the tenets: Jain, Aggarwal and Saladi, "AutoChunker: Structured Text Chunking and its Evaluation" (2025). The
prompts are ours (``pychunk/llm/prompts``), and figures cannot be held against those of the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..measures.intervals import Interval, by_documents
from ..measures.intrinsic import RatioSum
from .agreement import Agreement, cohen_kappa

if TYPE_CHECKING:
    from ...llm import LLM

I64 = npt.NDArray[np.int64]

#: The judges, and whether the better chunks are those of which they say yes.
JUDGES = {"noise": False, "completeness": True, "context_switch": False, "task": True}
#: What chunks are for where nobody says it.
PURPOSE = "to answer questions about what the documents say"


@dataclass(frozen=True)
class ChunkVerdicts:
    """What a judge said of chunks.

    Attributes:
        name: of the judge.
        verdicts: int64[chunks]: 1 yes, 0 no, -1 an abstention.
        documents: of each chunk, int64[chunks].
        faults: why there are abstentions, counted; see :class:`pychunk.llm.verdicts.Verdicts`.
        asked_again: chunks of calls whose first answer was of no use.
        facts: what verdicts depend on besides the text: model, parameters, prompt.
        reasons: why calls had no answer of use, each once, at most five.
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
        """How many have a yes, of how many that have a verdict."""
        return RatioSum(int((self.verdicts == 1).sum()), int((self.verdicts >= 0).sum()))

    @property
    def abstained(self) -> int:
        """Chunks without a verdict."""
        return int((self.verdicts < 0).sum())

    def share(self, *, level: float = 0.95, seed: int = 0) -> Interval:
        """The share of yes among verdicts, its interval over documents; NaN without a verdict."""
        values = np.where(self.verdicts >= 0, self.verdicts, np.nan)
        return by_documents(values, self.documents, level=level, seed=seed)

    def agreement(self, counted: npt.ArrayLike, *, level: float = 0.95, seed: int = 0) -> Agreement:
        """Cohen's kappa with what was counted without a model, bool[chunks], its interval over documents.

        What is counted must mean the same: that a chunk is noisy, complete, changes its subject, serves the task.
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
    """Ask a model of each chunk whether it is so; many chunks a call, calls in parallel, answers from the cache.

    Chunks of all documents are shown in an order drawn with ``seed``, so that their place says nothing; verdicts are
    in the order of ``texts``. A chunk of more than 8,000 characters is shown by its beginning and its end. How answers
    are read, and what is asked again: :class:`pychunk.llm.verdicts.Judge`.

    Args:
        llm: the client; with ``dry_run=True`` nothing is asked, every verdict is an abstention, and ``llm.account``
            says what it would take.
        name: ``"noise"`` (yes: it holds noise), ``"completeness"`` (yes: it is complete), ``"context_switch"`` (yes:
            its subject changes) or ``"task"`` (yes: it serves the task).
        texts: the chunks, such as ``chunks.texts``.
        documents: of each chunk, for intervals, such as ``chunks.table["document"]``; default: each chunk is one.
        task: of ``"task"``: what the chunks are for.
        together, window_tokens: chunks a call, and their tokens at most, as estimated.
        seed: of the order; None: as they are.
        language: of the prompt.

    Raises:
        ValueError: no such judge; as many documents as chunks are needed.
        TypeError: chunks that are no texts.
        LLMError: no endpoint, a wrong key, a limit; see :meth:`pychunk.llm.LLM.ask_many`.

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
        raise ValueError(f"no judge {name!r}; there are {', '.join(JUDGES)}")
    rows = documents_of(len(texts), documents, "chunk")
    stage = f"judge {name}"
    asking = Judge(llm, f"judge_{name}", stage=stage, language=language, together=together, window_tokens=window_tokens)
    found = asking(texts, about=f"Purpose: {task}" if name == "task" else "", seed=seed)
    return ChunkVerdicts(
        name, found.values, rows, found.faults, found.asked_again, {**asking.facts, "seed": seed}, found.reasons
    )


def documents_of(count: int, documents: npt.ArrayLike | None, of: str) -> npt.NDArray[np.int64]:
    """int64[count]: the document of each chunk or question, named ``of``; each is one of its own where none is said.

    Raises:
        ValueError: they are not as many.
    """
    rows = np.arange(count) if documents is None else np.asarray(documents, np.int64)
    if rows.shape != (count,):
        raise ValueError(f"documents must be one a {of}; got shape {rows.shape} for {count} {of}s")
    return rows


def checked_texts(texts: Sequence[str]) -> list[str]:
    """Chunks as a list of texts; an Arrow column becomes one.

    Raises:
        TypeError: they are none.
    """
    found = texts.to_pylist() if hasattr(texts, "to_pylist") else texts
    if isinstance(found, str) or not all(isinstance(text, str) for text in found):
        raise TypeError("texts must be a list of texts, such as chunks.texts")
    return list(found)
