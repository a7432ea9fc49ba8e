"""The results of a call: the table of chunks, and their tree, pages, sizes and provenance."""
