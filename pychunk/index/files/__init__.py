"""Stored files of an index: blocks that are checked when they are read, Arrow tables, packed numbers."""
