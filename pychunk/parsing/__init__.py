"""The parsers of structured documents, which return text and blocks, but do not cut chunks."""
