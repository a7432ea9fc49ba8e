"""The readers, which turn files into batches of documents, and the writers of tables of chunks."""

from typing import TYPE_CHECKING

from .._util.lazy_imports import on_demand as _on_demand
from .document_batches import Batch, DeadLetter
from .kinds import KINDS, converter
from .source import Source, open_source

if TYPE_CHECKING:
    from .wiki import wikitext

__all__ = ["KINDS", "Batch", "DeadLetter", "Source", "converter", "open_source", "wikitext"]
# A plain import of wikitext would add 0.01 s to the start of every command.
__getattr__ = _on_demand(__name__, objects={"wikitext": ".wiki"})
