"""The inputs of a call: texts from whatever holds them, and what the caller says of each document."""

from .texts import RowError, TextBatch

__all__ = ["RowError", "TextBatch"]
