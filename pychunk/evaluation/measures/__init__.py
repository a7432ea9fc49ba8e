"""Measures of chunks and hits, on arrays and strings."""
