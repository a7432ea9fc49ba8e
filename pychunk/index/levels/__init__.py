"""The search across the levels of an index."""
