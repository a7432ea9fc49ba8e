"""The inputs of a call: texts in any supported form, and the caller's values for each document."""

from .texts import RowError, TextBatch

__all__ = ["RowError", "TextBatch"]
