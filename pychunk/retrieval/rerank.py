"""Rerank candidates with a cross-encoder, all queries' pairs in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..encoders import pairs, registry
from ..encoders.running.placement import Placement

F32 = npt.NDArray[np.float32]


def load(model: str | Path, runtime: str | Placement = "onnxruntime") -> pairs.PairScorer:
    """An exported cross-encoder for relevance by name or directory.

    Raises:
        ValueError: there is none of that name, or it is for something else: the network on static vectors, a
            next-sentence model, an encoder.
    """
    remedy = "rerank takes an exported cross-encoder for relevance (pychunk export of a ...ForSequenceClassification)"
    if model == "static":
        raise ValueError(f"{remedy}, not the network on static vectors")
    try:
        return registry.relevance_model(model, runtime)
    except ValueError as error:
        raise ValueError(f"{error}; {remedy}") from error


def scores(
    model: pairs.PairScorer, queries: Sequence[str], texts: Sequence[Sequence[str]], **options: Any
) -> list[F32]:
    """For each query a score for each of its texts, higher is better.

    The logit of a model with a single one, or of two classes the second one's over the first. Options: ``threads``.
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
