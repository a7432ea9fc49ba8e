"""The stage that orders what was found anew: rerankers behind one interface, all queries in one batch.

A reranker is a cross-encoder (a name or a folder), ``"features"`` (:mod:`pychunk.index.rerank.linear_reranker`), or a
function of one's own, ``(queries, hits) -> scores``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ...encoders import cross_encoder, registry
from ...encoders.runtime.placement import Placement
from ..search.hits import Hit

F32 = npt.NDArray[np.float32]

#: A function of queries and of the hits of each, best first, that gives each hit a score; higher is better.
Function = Callable[[Sequence[str], Sequence[Sequence[Hit]]], Sequence[Any]]


@dataclass(frozen=True)
class RerankScores:
    """What a reranker gives: for each query a score for each of its hits, and the tokens that a model read for it."""

    scores: Sequence[Any]
    tokens: int = 0


@dataclass(frozen=True)
class Cost:
    """What reranking took.

    Attributes:
        hits: how many were scored. tokens: how many a model read for it, with those around texts; 0 without a model.
        seconds: of wall time.
    """

    hits: int
    tokens: int
    seconds: float


class Reranker(Protocol):
    """Scores hits by their queries."""

    @property
    def name(self) -> str:
        """What errors and tables call it."""

    def score(self, queries: Sequence[str], hits: Sequence[Sequence[Hit]], threads: int | None) -> RerankScores:
        """Scores of the hits of each query, all queries' at once; higher is better."""


class CrossEncoder:
    """A model that reads query and chunk together: the slowest stage of a search, and the surest."""

    def __init__(self, model: cross_encoder.PairScorer) -> None:
        self.model, self.name = model, model.name

    def score(self, queries: Sequence[str], hits: Sequence[Sequence[Hit]], threads: int | None) -> RerankScores:
        """As :func:`scores`, of the chunks' texts."""
        read = 0

        def report(done: int, _: int) -> None:
            nonlocal read
            read = max(read, done)

        texts = [[hit.text for hit in own] for own in hits]
        found = scores(self.model, queries, texts, threads=threads, report=report)
        return RerankScores(found, read)


@dataclass(frozen=True)
class CustomReranker:
    """A function of one's own."""

    function: Function

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def score(self, queries: Sequence[str], hits: Sequence[Sequence[Hit]], threads: int | None) -> RerankScores:
        """What the function returns; it is not told of ``threads``."""
        return RerankScores(self.function(queries, hits))


def load(model: str | Path | Function, runtime: str | Placement = "onnxruntime") -> Reranker:
    """A reranker by the name or directory of an exported cross-encoder for relevance, or of a function.

    ``"logprob"`` and ``"listwise"`` ask the model that the environment names (:mod:`pychunk.llm.llm_reranker`).

    Raises:
        ValueError: there is none of that name, or it is for something else: the network on static vectors, a
            next-sentence model, an encoder.
    """
    if callable(model):
        return CustomReranker(model)
    if model in ("logprob", "listwise"):
        from ...llm.llm_reranker import Listwise, Logprob

        return CustomReranker(Logprob() if model == "logprob" else Listwise())
    remedy = (
        "rerank takes an exported cross-encoder for relevance (pychunk export of a ...ForSequenceClassification, or "
        "pychunk model get reranker), 'features', 'logprob', 'listwise', or a function"
    )
    if model == "static":
        raise ValueError(f"{remedy}, not the network on static vectors")
    try:
        return CrossEncoder(registry.relevance_model(model, runtime))
    except ValueError as error:
        raise ValueError(f"{error}; {remedy}") from error


def reranked(
    reranker: Reranker,
    queries: Sequence[str],
    hits: Sequence[Sequence[Hit]],
    k: int,
    *,
    threads: int | None = None,
    on_error: str = "raise",
) -> tuple[list[list[Hit]], Cost]:
    """The ``k`` best hits of each query by a reranker's scores, of equals in the order that they came in.

    ``hit.score`` becomes the reranker's, which ``hit.scores`` has as ``"rerank"`` beside those of the other stages.

    Args:
        on_error: ``"raise"``, or ``"skip"``: a query of which the scores are of no use keeps its first ``k`` hits as
            they were, with the reason in ``hit.scores["rerank"]``.

    Raises:
        ValueError: a score is NaN, or there are not as many as hits; the message has the query and the hit.
        RuntimeError: the reranker failed.

    Example:
        >>> hits = [[Hit(0, 0, "a", 0, "", 0, 4, "long", .9, {}), Hit(1, 0, "a", 1, "", 5, 8, "top", .8, {})]]
        >>> best, cost = reranked(load(lambda queries, hits: [[-len(hit.text) for hit in own] for own in hits]),
        ...                       ["?"], hits, 1)
        >>> best[0][0].text, best[0][0].scores, cost.hits
        ('top', {'rerank': -3.0}, 2)
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error must be 'raise' or 'skip'; got {on_error!r}")
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
            raise RuntimeError(failed) from error
    if not failed and len(given) != len(hits):
        failed = f"{stage} gave scores for {len(given)} queries; there are {len(hits)}"
    out = []
    for number, own in enumerate(hits):
        checked = failed or _checked(stage, number, given[number], own)
        if isinstance(checked, str):
            if on_error == "raise":
                raise ValueError(checked)
            out.append([replace(hit, scores={**hit.scores, "rerank": checked}) for hit in own[:k]])
            continue
        best = [(own[i], float(checked[i])) for i in np.argsort(-checked, kind="stable")[:k].tolist()]
        out.append([replace(hit, score=score, scores={**hit.scores, "rerank": score}) for hit, score in best])
    return out, Cost(sum(map(len, hits)), tokens, time.perf_counter() - begun)


def _checked(stage: str, number: int, own: Any, hits: Sequence[Hit]) -> F32 | str:
    """A query's scores as an array, or what is wrong with them."""
    try:
        scored = np.asarray(own, np.float32)
    except (TypeError, ValueError) as error:
        return f"{stage} gave no numbers for query {number}: {error}"
    if scored.shape != (len(hits),):
        return f"{stage} gave scores of shape {scored.shape} for query {number}; it has {len(hits)} hits"
    wrong = np.flatnonzero(np.isnan(scored))
    if len(wrong):
        place = int(wrong[0])
        return f"{stage} gave nan for query {number}, hit {place} (row {hits[place].row} of the index)"
    return scored


def scores(
    model: cross_encoder.PairScorer, queries: Sequence[str], texts: Sequence[Sequence[str]], **options: Any
) -> list[F32]:
    """For each query a score for each of its texts, higher is better.

    The logit of a model with a single one, or of two classes the second one's over the first. Options: ``threads``,
    ``report`` (a function of tokens done and in all).
    """
    flat = [query.encode() for query in queries] + [text.encode() for own in texts for text in own]
    bounds = np.cumsum([0, *map(len, flat)]).astype(np.int64)
    counts = [len(own) for own in texts]
    first = np.repeat(np.arange(len(queries)), counts)
    second = len(queries) + np.arange(sum(counts))
    found = model.logits(np.frombuffer(b"".join(flat), np.uint8), bounds, first, second, **options)
    if found.shape[1] > 2:
        raise ValueError(f"{model.path} sorts pairs into {found.shape[1]} classes: no order of relevance follows")
    score = found[:, 0] if found.shape[1] == 1 else found[:, 1] - found[:, 0]
    return [np.asarray(each, np.float32) for each in np.split(score, np.cumsum(counts)[:-1])]
