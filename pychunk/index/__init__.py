"""The search for chunks: an index on disk with the vectors that segmentation computed, BM25, and reranking."""

from typing import TYPE_CHECKING

from .._util.lazy_imports import on_demand as _on_demand

if TYPE_CHECKING:
    from .search.assembly import assemble as assemble

__getattr__ = _on_demand(__name__, objects={"assemble": ".search.assembly"})
