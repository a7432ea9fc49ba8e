"""The stored files of an index: blocks that are checked when they are read, Arrow tables, and packed numbers."""
