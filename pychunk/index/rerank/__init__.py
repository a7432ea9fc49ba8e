"""Rerankers, which order the best hits of a search again."""
