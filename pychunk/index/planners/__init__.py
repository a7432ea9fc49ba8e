"""Planners, which choose the levels of an index that a query is searched at."""
