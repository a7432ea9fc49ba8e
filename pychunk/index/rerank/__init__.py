"""Rerankers, which order the first hits again."""
