"""The search for chunks: an index on disk with the vectors that segmentation computed, BM25, and reranking."""

from typing import TYPE_CHECKING

from .._util.lazy_imports import on_demand as _on_demand

if TYPE_CHECKING:
    from .options import Bm25 as Bm25
    from .options import Expansion as Expansion
    from .options import Ranking as Ranking
    from .options import Rerank as Rerank
    from .options import Rewrite as Rewrite
    from .search.assembly import assemble as assemble

__all__ = ["Bm25", "Expansion", "Ranking", "Rerank", "Rewrite", "assemble"]

__getattr__ = _on_demand(
    __name__,
    objects={
        "assemble": ".search.assembly",
        **dict.fromkeys(("Bm25", "Expansion", "Ranking", "Rerank", "Rewrite"), ".options"),
    },
)
