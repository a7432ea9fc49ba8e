"""Rerankers: stages that order the first hits again."""
