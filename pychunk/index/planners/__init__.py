"""Planners, which choose the levels of an index in which a query is searched."""
