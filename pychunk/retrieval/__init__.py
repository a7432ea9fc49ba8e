"""Finding chunks again: an index on disk over the vectors that chunking computed, BM25 beside it, and reranking."""
