"""Files to batches of documents and back; no chunking here."""

from typing import TYPE_CHECKING

from .._util.lazy_imports import on_demand as _on_demand
from .document_batches import Batch, DeadLetter
from .kinds import KINDS
from .source import Source, open_source

if TYPE_CHECKING:
    from .wiki import wikitext

__all__ = ["KINDS", "Batch", "DeadLetter", "Source", "open_source", "wikitext"]
__getattr__ = _on_demand(__name__, objects={"wikitext": ".wiki"})  # .01 s of every command's start
