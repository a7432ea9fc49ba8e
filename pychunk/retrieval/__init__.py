"""Finding chunks again: an index on disk over the vectors that chunking computed, BM25 beside it, and reranking."""

from ..plumbing.lazy import on_demand as _on_demand

__getattr__ = _on_demand(__name__)
