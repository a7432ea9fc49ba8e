"""Search by words: terms, postings, BM25."""
