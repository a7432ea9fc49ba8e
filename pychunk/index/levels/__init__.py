"""Search across the levels of an index."""
