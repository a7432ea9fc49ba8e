"""Ways to compute the vectors of nodes other than token-weighted means, for comparison in measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._engine import engine as engines
from .compressor import check_not_late, shipped_for
from .hierarchy import Hierarchy

if TYPE_CHECKING:
    import numpy.typing as npt

    from .level_names import Level

    F32 = npt.NDArray[np.float32]

#: The ways to compute a node's vector from the vectors of its sentences or children.
POOLINGS = ("tokens", "length", "first", "medoid", "compressor")


def pooled(found: Hierarchy, level: Level, pooling: str = "tokens", *, threads: int = 1) -> F32:
    """Return one vector of unit length for each node of a level, float32[m, d].

    Args:
        found: A hierarchy with vectors.
        level: Any of its levels.
        pooling: ``"tokens"``: the vector that :meth:`Hierarchy.vectors` returns, by default the mean weighted by
            tokens. ``"length"``: the mean weighted by bytes. ``"first"``: the vector of the first child.
            ``"medoid"``: the vector of the child nearest to the result of ``"tokens"``, the first child if several are
            equally near. ``"compressor"``: the vector that ``segment_levels(pooling="compressor")`` computes. A
            sentence counts as its own child.
        threads: The number of documents that are processed at a time.

    Raises:
        ValueError: There are no vectors, the level or pooling is unknown, or no compressor is shipped for the vectors.

    Example:
        >>> import pychunk
        >>> found = pychunk.segment_levels("Cats purr. They sleep.", ["document"], vectors="sentence")
        >>> bool((pooled(found, "document", "first") == found.vectors("sentence")[:1]).all())
        True
    """
    if pooling not in POOLINGS:
        raise ValueError(f"pooling must be one of {', '.join(POOLINGS)}; got {pooling!r:.80}")
    mean, place = found.vectors(level), found.place(level)
    if pooling == "tokens" or place == 0:
        return mean
    if pooling == "compressor":
        return _compressed(found, level, mean, threads)
    kept = found._kept
    first = kept.before[found.first(level)]  # Of each node, only the sentences with text count.
    if pooling == "length":
        start, end = found.spans_in_bytes("sentence")
        has_text = np.diff(first) > 0
        spans = [(first[:-1][has_text], first[1:][has_text])]
        own = (found.vectors("sentence")[kept.numbers], (end - start)[kept.numbers], kept.doc_offsets)
        out = np.zeros_like(mean)
        out[has_text] = engines.engine().span_vectors(*own, spans, threads=threads)[0]
        return out
    finer = found.levels[place - 1]
    vectors, children = found.vectors(finer), found.children(level)
    if pooling == "first":
        return vectors[found._kept_children(place)[1]]
    near = np.einsum("ij,ij->i", vectors, mean[found.parents(finer)], dtype=np.float64)
    near[np.diff(kept.before[found.first(finer)]) == 0] = -np.inf
    order = np.lexsort((np.arange(len(near)), -near, found.parents(finer)))
    return vectors[order[children[:-1]]]


def _compressed(found: Hierarchy, level: Level, mean: F32, threads: int) -> F32:
    """Return the vectors of the shipped compressor. A node of one sentence keeps the vector of the sentence."""
    check_not_late(found.metadata)
    model = shipped_for(found.metadata.get("vector_encoder"))
    assert found.tokens is not None  # The means were weighted by token counts, so tokens were counted.
    kept = found._kept
    first = kept.before[found.first(level)]
    out: F32 = mean.copy()
    several = np.diff(first) > 1
    spans = [(first[:-1][several], first[1:][several])]
    own = (found.vectors("sentence")[kept.numbers], found.tokens[kept.numbers], kept.doc_offsets)
    out[several] = model.vectors(*own, spans, engines.engine(), threads)[0]
    return out
