"""Files to batches of documents and back; no chunking here."""

from .documents import Batch, DeadLetter
from .kinds import KINDS
from .source import Source, open_source
from .wiki import wikitext

__all__ = ["KINDS", "Batch", "DeadLetter", "Source", "open_source", "wikitext"]
