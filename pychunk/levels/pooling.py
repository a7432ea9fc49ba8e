"""Other vectors of nodes than means by tokens: what those are measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._engine import engine as engines
from .compressor import shipped_for
from .hierarchy import Hierarchy

if TYPE_CHECKING:
    import numpy.typing as npt

    from .level_names import Level

    F32 = npt.NDArray[np.float32]

#: How the vectors of a node's sentences, or children, become its own.
POOLINGS = ("tokens", "length", "first", "medoid", "compressor")


def pooled(found: Hierarchy, level: Level, pooling: str = "tokens", *, threads: int = 1) -> F32:
    """float32[m, d]: one vector a node of a level, of unit length.

    Args:
        found: with vectors.
        level: any of its levels.
        pooling: ``"tokens"``: the mean by tokens, as :meth:`Hierarchy.vectors`; ``"length"``: the mean by bytes;
            ``"first"``: its first child's; ``"medoid"``: that of the child that is nearest to the mean by tokens, the
            first of equals; ``"compressor"``: what ``segment(pooling="compressor")`` gives it. The children of a
            sentence are itself.
        threads: documents that are worked on at a time.

    Raises:
        ValueError: no vectors, an unknown level or pooling; the compressor, and vectors for which none is shipped.

    Example:
        >>> import pychunk
        >>> found = pychunk.segment("Cats purr. They sleep.", levels=["document"], vectors="sentence")
        >>> bool((pooled(found, "document", "first") == found.vectors("sentence")[:1]).all())
        True
    """
    if pooling not in POOLINGS:
        raise ValueError(f"pooling must be one of {', '.join(POOLINGS)}; got {pooling!r}")
    mean, place = found.vectors(level), found.place(level)
    if pooling == "tokens" or place == 0:
        return mean
    if pooling == "compressor":
        return _compressed(found, level, mean, threads)
    if pooling == "length":
        start, end = found.spans_in_bytes("sentence")
        first = found.first(level)
        spans = [(first[:-1], first[1:])]
        vectors = found.vectors("sentence")
        return engines.engine().span_vectors(vectors, end - start, found.doc_offsets, spans, threads=threads)[0]
    finer = found.levels[place - 1]
    vectors, children = found.vectors(finer), found.children(level)
    if pooling == "first":
        return vectors[children[:-1]]
    near = np.einsum("ij,ij->i", vectors, mean[found.parents(finer)], dtype=np.float64)
    order = np.lexsort((np.arange(len(near)), -near, found.parents(finer)))
    return vectors[order[children[:-1]]]


def _compressed(found: Hierarchy, level: Level, mean: F32, threads: int) -> F32:
    """By the shipped compressor; a node of one sentence is that sentence, of which ``mean`` is a copy."""
    model = shipped_for(found.metadata.get("vector_encoder"))
    assert found.tokens is not None  # they weigh the means that are there
    first = found.first(level)
    out: F32 = mean.copy()
    several = np.diff(first) > 1
    spans = [(first[:-1][several], first[1:][several])]
    vectors = found.vectors("sentence")
    out[several] = model.vectors(vectors, found.tokens, found.doc_offsets, spans, engines.engine(), threads)[0]
    return out
