"""The state of an index that a search reads, and the sources of scores in it."""
