"""Search by words: terms, postings and BM25."""
