"""What a chunk does not say itself, as its ``context``: the head of its document, its headings, a text of one's own."""

from .asked import ContextByModel, PropositionsByModel, SummaryByModel
from .augment import augment
from .documents import Document
from .levels import LevelSummary

__all__ = ["ContextByModel", "Document", "LevelSummary", "PropositionsByModel", "SummaryByModel", "augment"]
