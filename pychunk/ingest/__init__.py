"""Whole corpora into chunk tables: restartable, in bounded memory, the same bytes each time."""

from .output import IngestError
from .report import Report
from .run import ingest

__all__ = ["IngestError", "Report", "ingest"]
