"""The state of an index that a search reads, and the scoring of its chunks."""
