"""How good chunks are: measures on arrays and strings."""
