"""The path of a query through an index, from its text to hits with their context."""
