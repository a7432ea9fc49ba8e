"""The stage that orders hits again, with a common interface for rerankers, which score all queries in one batch.

A reranker is a cross-encoder (a name or a folder), ``"features"`` (:mod:`pychunk.index.rerank.linear_reranker`), or a
custom function, ``(queries, hits) -> scores``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..._util.counting import counted
from ...chunks.render import as_read
from ...encoders import cross_encoder, registry
from ...encoders.runtime.placement import ModelPlacement
from ..search.hits import Hit

F32 = npt.NDArray[np.float32]

#: What to do if a reranker fails, for the message.
_REMEDY = "correct the reranker, leave it out, or set Rerank(..., on_error='skip') in Python"

#: A function (queries, hits of each query, best first) that returns a list of scores for each query, one for each hit.
#: Higher is better.
Function = Callable[[Sequence[str], Sequence[Sequence[Hit]]], Sequence[Any]]


@dataclass(frozen=True)
class RerankScores:
    """The result of a reranker: the scores of each query's hits, and the total number of tokens that a model read."""

    scores: Sequence[Any]
    tokens: int = 0


@dataclass(frozen=True)
class Cost:
    """The cost of reranking.

    Attributes:
        hits: The number of hits that were scored.
        tokens: The number of tokens that a model read, including the special tokens around texts; 0 without a model.
        seconds: The wall time in seconds.
    """

    hits: int
    tokens: int
    seconds: float


class Reranker(Protocol):
    """A reranker, which scores hits for their queries."""

    @property
    def name(self) -> str:
        """The name of the reranker in errors and tables."""

    def score(self, queries: Sequence[str], hits: Sequence[Sequence[Hit]], threads: int | None) -> RerankScores:
        """Return the scores of the hits of each query, for all queries at once. Higher is better."""


class CrossEncoder:
    """A model that reads query and chunk together. It is the slowest and most reliable stage of a search."""

    def __init__(self, model: cross_encoder.PairScorer) -> None:
        self.model, self.name = model, model.name

    def score(self, queries: Sequence[str], hits: Sequence[Sequence[Hit]], threads: int | None) -> RerankScores:
        """Return the scores of the chunks' texts, with headings, table header and closed code. See :func:`scores`."""
        read = 0

        def report(done: int, _: int) -> None:
            nonlocal read
            read = max(read, done)

        texts = [list(map(as_read, own)) for own in hits]
        found = scores(self.model, queries, texts, threads=threads, report=report)
        return RerankScores(found, read)


@dataclass(frozen=True)
class CustomReranker:
    """A custom function as a reranker."""

    function: Function

    @property
    def name(self) -> str:
        """The name of the function, or of its class."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def score(self, queries: Sequence[str], hits: Sequence[Sequence[Hit]], threads: int | None) -> RerankScores:
        """Return the scores of the function, which does not receive ``threads``."""
        return RerankScores(self.function(queries, hits))


def load(model: str | Path | Function, runtime: str | ModelPlacement = "onnxruntime") -> Reranker:
    """Return the reranker for a function, or for the name or directory of an exported cross-encoder for relevance.

    ``"logprob"`` and ``"listwise"`` ask the model that the environment variables name
    (:mod:`pychunk.llm.llm_reranker`).

    Raises:
        ValueError: There is no reranker of that name, or the model does not score relevance: it is the network on
            static vectors, a next-sentence model, or an encoder.
    """
    if callable(model):
        return CustomReranker(model)
    if model in ("logprob", "listwise"):
        from ...llm.llm_reranker import Listwise, Logprob

        return CustomReranker(Logprob() if model == "logprob" else Listwise())
    others = "'features', 'logprob', 'listwise', or a function"
    if model == "static":
        raise ValueError(
            "rerank: 'static' does not score relevance: pass the folder of a cross-encoder, 'reranker' (after pychunk "
            f"model get reranker), {others}"
        )
    try:
        return CrossEncoder(registry.relevance_model(model, runtime))
    except ValueError as error:
        raise ValueError(f"rerank: {error} (or pass {others})") from error


def reranked(
    reranker: Reranker,
    queries: Sequence[str],
    hits: Sequence[Sequence[Hit]],
    k: int,
    *,
    threads: int | None = None,
    on_error: str = "raise",
) -> tuple[list[list[Hit]], Cost]:
    """Return the ``k`` best hits of each query by a reranker's scores. Equal hits stay in their original order.

    ``hit.score`` becomes the reranker's score. ``hit.scores`` gets it as ``"rerank"``, and keeps the scores of the
    other stages.

    Args:
        reranker: The reranker.
        queries: The texts of the queries.
        hits: The hits of each query, best first.
        k: The number of hits to return for each query.
        threads: The number of threads. None: the default number.
        on_error: ``"raise"``, or ``"skip"``: a query whose scores are unusable keeps its first ``k`` hits in their
            order, with the reason in ``hit.scores["rerank"]``.

    Raises:
        ValueError: A score is NaN, or a query does not have one score for each hit. The message names the query.
        RuntimeError: The reranker failed.

    Example:
        >>> hits = [[Hit(0, 0, "a", 0, "", 0, 4, "long", .9, {}), Hit(1, 0, "a", 1, "", 5, 8, "top", .8, {})]]
        >>> best, cost = reranked(load(lambda queries, hits: [[-len(hit.text) for hit in own] for own in hits]),
        ...                       ["?"], hits, 1)
        >>> best[0][0].text, best[0][0].scores, cost.hits
        ('top', {'rerank': -3.0}, 2)
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error must be 'raise' or 'skip'; got {on_error!r:.80}")
    begun = time.perf_counter()
    stage = f"the stage rerank ({reranker.name})"
    if not queries:
        return [], Cost(0, 0, 0.0)
    tokens, failed = 0, ""
    given: list[Any] = []
    try:
        found = reranker.score(queries, hits, threads)
        tokens, given = found.tokens, list(found.scores)
    except Exception as error:
        failed = f"{stage} failed: {type(error).__name__}: {error}"
        if on_error == "raise":
            raise RuntimeError(f"{failed}; {_REMEDY}") from error
    if not failed and len(given) != len(hits):
        failed = f"{stage} gave scores for {len(given)} of {counted(len(hits), 'query', 'queries')}"
    out = []
    for number, own in enumerate(hits):
        checked = failed or _checked(stage, number, given[number], own)
        if isinstance(checked, str):
            if on_error == "raise":
                raise ValueError(f"{checked}; it must give a number for each hit of each query: {_REMEDY}")
            out.append([replace(hit, scores={**hit.scores, "rerank": checked}) for hit in own[:k]])
            continue
        best = [(own[i], float(checked[i])) for i in np.argsort(-checked, kind="stable")[:k].tolist()]
        out.append([replace(hit, score=score, scores={**hit.scores, "rerank": score}) for hit, score in best])
    return out, Cost(sum(map(len, hits)), tokens, time.perf_counter() - begun)


def _checked(stage: str, number: int, own: Any, hits: Sequence[Hit]) -> F32 | str:
    """Return a query's scores as an array, or a description of what is wrong with them."""
    try:
        scored = np.asarray(own, np.float32)
    except (TypeError, ValueError) as error:
        return f"{stage} gave no numbers for query {number}: {error}"
    if scored.shape != (len(hits),):
        return f"{stage} gave scores of shape {scored.shape} for query {number}; it has {counted(len(hits), 'hit')}"
    wrong = np.flatnonzero(np.isnan(scored))
    if len(wrong):
        place = int(wrong[0])
        return f"{stage} gave nan for query {number}, hit {place} (row {hits[place].row} of the index)"
    return scored


def scores(
    model: cross_encoder.PairScorer, queries: Sequence[str], texts: Sequence[Sequence[str]], **options: Any
) -> list[F32]:
    """Return for each query a score for each of its texts. Higher is better.

    If the model has one logit, it is the score. If it has two, the score is the second logit minus the first.
    ``options`` are ``threads`` and ``report``, a function that receives the numbers of tokens done and in all.
    """
    flat = [query.encode() for query in queries] + [text.encode() for own in texts for text in own]
    bounds = np.cumsum([0, *map(len, flat)]).astype(np.int64)
    counts = [len(own) for own in texts]
    first = np.repeat(np.arange(len(queries)), counts)
    second = len(queries) + np.arange(sum(counts))
    found = model.logits(np.frombuffer(b"".join(flat), np.uint8), bounds, first, second, **options)
    if found.shape[1] > 2:
        raise ValueError(
            f"{model.path} sorts pairs into {found.shape[1]} classes; reranking needs one or two: use another model"
        )
    score = found[:, 0] if found.shape[1] == 1 else found[:, 1] - found[:, 0]
    return [np.asarray(each, np.float32) for each in np.split(score, np.cumsum(counts)[:-1])]
