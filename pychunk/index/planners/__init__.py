"""Planners, which choose for each query the levels of an index to search."""
