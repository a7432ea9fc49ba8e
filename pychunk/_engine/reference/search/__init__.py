"""The oracle's search: postings, BM25, codes, scans."""
