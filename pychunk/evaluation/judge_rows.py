"""Rows of a report: a model's verdicts on chunks, verdicts counted without a model, and the agreement of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .datasets import Dataset, Question
from .judges.chunk_judge import JUDGES, PURPOSE, judge
from .judges.dataset_counts import counted
from .judges.retrieval_judge import judge_retrieval
from .retrieval_setups import Strategy, named
from .runner import retrieve
from .systems import Encoder, SystemChunks

if TYPE_CHECKING:
    from ..llm import LLM

#: The names of the judges of chunks, and of the judge of search results.
NAMES = (*JUDGES, "retrieval")
#: The cutoffs of weighted precision, as in the AutoChunker paper; the largest is the number of hits to grade.
CUTOFFS = (1, 3, 5)


def judged_rows(
    llm: LLM,
    judges: Sequence[str],
    chunked: SystemChunks,
    data: Dataset,
    encoder: Encoder,
    modes: Sequence[str | Strategy] = (),
    options: Mapping[str, Any] | None = None,
    *,
    most: int = 200,
    task: str = PURPOSE,
    seed: int = 0,
    step: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Judge chunks and return rows in the form that :mod:`.report` shows under ``judged``.

    Args:
        llm: The client.
        judges: Names from :data:`NAMES`.
        chunked: The chunks of the system.
        data: The dataset.
        encoder: The encoder of the evaluation.
        modes: The strategies by which ``"retrieval"`` searches chunks, or their names.
        options: The options of the index and the search for ``"retrieval"``, as in :func:`~.runner.retrieve`.
        most: The number of chunks that each judge sees, drawn with ``seed``. For retrieval, one question is made from
            each of these chunks.
        task: The purpose of the chunks.
        seed: The seed of samples and intervals.
        step: A function that receives a description of each step.

    Raises:
        ValueError: There is no such judge.
        LLMError: There is no endpoint, the key is wrong, or a limit is reached; see :meth:`pychunk.llm.LLM.ask_many`.
    """
    unknown = [name for name in judges if name not in NAMES]
    if unknown:
        raise ValueError(f"no judge {unknown[0]!r:.80}; choose one of {', '.join(NAMES)}")
    texts, rows = chunked.table["text"].to_pylist(), []
    drawn = np.sort(np.random.default_rng(seed).choice(len(texts), min(most, len(texts)), replace=False))
    documents = np.asarray(chunked.table["document_index"], np.int64)
    for name in judges:
        step(f"{chunked.name}, judge of {name}")
        if name == "retrieval":
            for mode in modes:
                rows += _retrieval(llm, chunked, data, encoder, mode, options or {}, most, seed)
            continue
        found = judge(llm, name, [texts[row] for row in drawn], documents[drawn], task=task, seed=seed)
        own = counted(name, chunked, drawn, data, encoder)
        agreed = None if own is None else found.agreement(own, seed=seed)
        rows.append(
            {
                "name": chunked.name,
                "judge": name,
                "better": "more" if JUDGES[name] else "less",
                "share": found.share(seed=seed)._asdict(),
                "asked": len(drawn),
                "abstained": found.abstained,
                "faults": dict(found.faults),
                "reasons": list(found.reasons),
                "counted": None if own is None or not len(own) else float(own.mean()),
                "kappa": None if agreed is None else agreed.kappa._asdict(),
            }
        )
    return rows


def _retrieval(
    llm: LLM,
    chunked: SystemChunks,
    data: Dataset,
    encoder: Encoder,
    mode: str | Strategy,
    options: Mapping[str, Any],
    most: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Return a row for each of :data:`CUTOFFS`."""

    def search(queries: Sequence[str], k: int) -> Any:
        asked = replace(data, kind="answers", questions=[Question(text, -1) for text in queries])
        vectors = None if named(mode).mode == "sparse" else encoder.asked(queries)
        return retrieve(chunked, asked, encoder, mode, vectors, options).rows[:, :k]

    found = judge_retrieval(llm, chunked.table, search, sample=most, k=CUTOFFS[-1], seed=seed)
    by_count = replace(found.graded, grades=found.counted)
    return [
        {
            "name": f"{chunked.name}, {mode}",
            "judge": f"weighted precision@{k}",
            "better": "more",
            "share": found.graded.weighted_precision(k, seed=seed)._asdict(),
            "asked": int((found.graded.hits[:, :k] >= 0).sum()),
            "abstained": int(((found.graded.grades < 0) & (found.graded.hits >= 0))[:, :k].sum()),
            "faults": dict(found.graded.faults) | ({"no question": found.without} if found.without else {}),
            "reasons": [*found.reasons, *found.graded.reasons],
            "counted": by_count.weighted_precision(k, seed=seed).mean,
            "kappa": replace(found.graded, grades=found.graded.grades[:, :k])
            .agreement(found.counted[:, :k], seed=seed)
            .kappa._asdict(),
        }
        for k in CUTOFFS
    ]
