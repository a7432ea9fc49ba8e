"""The results of a call: chunks as a table with views of it, their tree, pages, sizes and provenance."""
