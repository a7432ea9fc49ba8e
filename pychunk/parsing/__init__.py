"""The parsers of structured documents, which return text and blocks; nothing here chunks."""
