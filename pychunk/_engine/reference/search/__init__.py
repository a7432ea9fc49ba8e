"""The reference's functions for search: postings, BM25, codes of vectors, exact scans and thresholds."""
