"""A query's way through an index, from its text to hits with their context."""
