"""Statistics of a query's words for a planner: how rare they are, and where the best hits' documents hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..lexical.bm25 import idf_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..search.searcher import Searcher

    F32 = npt.NDArray[np.float32]
    I64 = npt.NDArray[np.int64]
    Held = npt.NDArray[np.bool_]

#: The number of best hits that are examined.
BEST = 3


@dataclass(frozen=True)
class Terms:
    """The terms of a query, each once.

    Attributes:
        weight: The BM25 weights, float32[t], as shares of that of a term that a single node holds, so that they do not
            grow with an index. Terms that nothing holds have 1.
        known: Whether any node holds each term, bool[t].
        fine, coarse: Which terms the best nodes at the finest and at the coarsest level hold, bool[n, t], n <= BEST.
        near, far: Which terms each sentence of a document holds, bool[s, t], in the order of the index. The documents
            are those of the best node at the finest and at the coarsest level.
    """

    weight: F32
    known: Held
    fine: Held
    coarse: Held
    near: Held
    far: Held


def terms_of(
    searcher: Searcher, queries: Sequence[Sequence[str]], fine: Sequence[I64], coarse: Sequence[I64]
) -> list[Terms | None]:
    """Return an index's information about the terms of queries, or None for each if the index has no terms.

    ``fine`` and ``coarse`` are the rows of their best hits. This takes one look-up of all terms, and for each term and
    each sentence of two documents a binary search of the term's postings.
    """
    bm25, documents = searcher.bm25, searcher.documents
    if bm25 is None:
        return [None] * len(queries)
    own = [list(dict.fromkeys(terms)) for terms in queries]
    idf = bm25.idf([term for terms in own for term in terms])
    most = max(idf_of(1, bm25.rows), 1e-9)
    finest = next(iter(searcher.levels.values()))
    found: list[Terms | None] = []
    for terms, near, far in zip(own, fine, coarse, strict=True):
        known = np.array([term in idf for term in terms], np.bool_)
        weight = np.array([min(1.0, idf.get(term, most) / most) for term in terms], np.float32)
        parts = [near[:BEST], far[:BEST]]
        for hits in (near, far):
            inside = documents.rows(documents.of[hits[:1]])[0]
            parts.append(inside[finest[inside]])
        held = bm25.held(terms, np.concatenate(parts)).T
        ends = np.cumsum([len(part) for part in parts])[:-1]
        found.append(Terms(weight, known, *np.split(held, ends)))
    return found
