"""Statistics of a query's terms for a planner: how rare they are, and where the best hits' documents have them."""

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
    """Statistics of the t different terms of a query.

    Attributes:
        weight: The idf of each term as a share of the idf of a term that only one node has, float32[t], so that weights
            do not grow with an index. A term that is in no node has the weight 1.
        known: Whether any node has each term, bool[t].
        fine, coarse: Which of the n best nodes at the finest and at the coarsest level have which terms, bool[n, t].
            n is at most :data:`BEST`.
        near, far: Which of the s sentences of a document have which terms, bool[s, t], in the order of the index. For
            ``near`` it is the document of the best node at the finest level, for ``far`` at the coarsest.
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
    """Return the statistics of each query's terms, or None for each query if the index has no terms.

    This takes one look-up of all terms, and for each term and each sentence of two documents a binary search in the
    term's postings.

    Args:
        searcher: The searcher of the index.
        queries: The terms of each query.
        fine: For each query, the rows of the best hits at the finest level.
        coarse: For each query, the rows of the best hits at the coarsest level.
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
