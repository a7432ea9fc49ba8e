"""The folder of an index: its parts, their columns, the documents that it holds."""
