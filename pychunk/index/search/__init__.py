"""The search of an index, from the text of a query to hits and the text around them."""
