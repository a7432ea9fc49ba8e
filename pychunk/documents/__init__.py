"""Documents in: texts from whatever holds them, and columns of one value a document."""

from .texts import RowError, TextBatch

__all__ = ["RowError", "TextBatch"]
