"""Chunks, hits and answers judged by a model."""
