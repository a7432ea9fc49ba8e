"""The reference's search functions: postings, BM25, codes, scans."""
