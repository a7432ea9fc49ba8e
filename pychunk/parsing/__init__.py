"""Parsers of documents with structure: text to blocks. No chunking here."""
