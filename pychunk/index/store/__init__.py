"""The folder of an index: its parts, their columns, and the documents that it holds."""
