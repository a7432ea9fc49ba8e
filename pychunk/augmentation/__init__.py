"""The ``context`` of chunks: text from outside a chunk that is indexed with it, such as headings or your own text."""

from .augment import augment
from .chunk_documents import Document
from .level_summaries import LevelSummary
from .llm_contexts import LLMNeighbourSource, LLMPropositionSource, LLMSummarySource

__all__ = ["Document", "LLMNeighbourSource", "LLMPropositionSource", "LLMSummarySource", "LevelSummary", "augment"]
