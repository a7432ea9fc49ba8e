"""Rerank candidates with a cross-encoder, all queries' pairs in one batch."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..encoders import pairs, registry
from ..encoders.placement import Placement

F32 = npt.NDArray[np.float32]


@functools.lru_cache(maxsize=4)
def load(model: str | Path, runtime: str | Placement = "onnxruntime") -> pairs.PairScorer:
    """An exported cross-encoder by name or directory.

    Raises:
        ValueError: there is none of that name, or it is a network on static vectors.
    """
    found = registry.pair_encoder(model, runtime)
    if not isinstance(found, pairs.PairScorer):
        raise ValueError("rerank takes an exported cross-encoder (pychunk export), not the network on static vectors")
    return found


def scores(
    model: pairs.PairScorer, queries: Sequence[str], texts: Sequence[Sequence[str]], **options: Any
) -> list[F32]:
    """For each query a score for each of its texts, higher is better.

    The logit of a model with a single one; else the positive class's over the largest other. Options: ``threads``.
    """
    flat = [query.encode() for query in queries] + [text.encode() for own in texts for text in own]
    bounds = np.cumsum([0, *map(len, flat)]).astype(np.int64)
    counts = [len(own) for own in texts]
    first = np.repeat(np.arange(len(queries)), counts)
    second = len(queries) + np.arange(sum(counts))
    found = model.logits(np.frombuffer(b"".join(flat), np.uint8), bounds, first, second, **options)
    if found.shape[1] == 1:
        score = found[:, 0]
    else:
        positive = model.facts.positive
        score = found[:, positive] - np.delete(found, positive, axis=1).max(axis=1)
    return [np.asarray(each, np.float32) for each in np.split(score, np.cumsum(counts)[:-1])]
