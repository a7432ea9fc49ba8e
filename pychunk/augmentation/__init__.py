"""What a chunk does not say itself, as its ``context``: the head of its document, its headings, a text of one's own."""

from .augment import augment
from .chunk_documents import Document
from .level_summaries import LevelSummary
from .llm_contexts import LLMNeighbourSource, LLMPropositionSource, LLMSummarySource

__all__ = ["Document", "LLMNeighbourSource", "LLMPropositionSource", "LLMSummarySource", "LevelSummary", "augment"]
