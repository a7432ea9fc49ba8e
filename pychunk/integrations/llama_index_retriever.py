"""A LlamaIndex retriever over a pychunk index."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError:
    raise ImportError("integrations.llama_index_retriever needs LlamaIndex: pip install llama-index-core") from None

from ..defaults import SEARCH
from ..index.index import Index
from ..index.search.hits import Hit
from .stored_documents import best, text_of


class PychunkRetriever(BaseRetriever):
    """A retriever of nodes from a :class:`pychunk.Index`, by meaning, by words or both.

    A node's ``start_char_idx`` and ``end_char_idx`` are the positions of its text in the document. The document's id is
    ``ref_id`` in the metadata, in addition to the index's own columns. A node's id is the chunk's ``text_id``, as for
    :class:`.PychunkNodeParser`. It is the ``chunk_id`` if the index's documents have no ids, because chunks with the
    same text then have the same ``text_id``, or if an older version of pychunk made the chunks.

    Args:
        index: The index, or the folder of a saved one.
        k: The number of nodes for each query.
        callback_manager: The argument of every retriever.
        **search: Options of :meth:`pychunk.Index.search`, such as ``mode``, ``where``, ``expansion`` and ``stages``.

    Example:
        >>> import pychunk, tempfile
        >>> index = pychunk.Index.create(tempfile.mkdtemp() + "/pets")
        >>> chunks = pychunk.segment(["Cats purr. Dogs bark."], "sentence", ids=["pets"], vectors="sentence")
        >>> found = index.add(chunks)
        >>> [(each.text, each.node.metadata) for each in PychunkRetriever(index, k=1).retrieve("purring cats")]
        [('Cats purr.', {'ref_id': 'pets'})]
        >>> index.save()
    """

    def __init__(
        self, index: Index | str | Path, k: int = SEARCH.k, *, callback_manager: Any = None, **search: Any
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self.index = index if isinstance(index, Index) else Index.open(index)
        self.k, self.search_options = k, search

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = best(self.index, {"k": self.k, **self.search_options}, queries=query_bundle.query_str)
        return [NodeWithScore(node=_node(hit), score=hit.score) for hit in hits]


def _node(hit: Hit) -> TextNode:
    """Return the node of a hit. With an expansion, the chunks around the hit are part of its text and span."""
    around = hit.around
    start, end = (around[0].start, around[-1].end) if around else (hit.start, hit.end)
    name = (
        str(hit.document_id) if isinstance(hit.document_id, uuid.UUID) else hit.document_id
    )  # The metadata of nodes is JSON.
    facts = {"ref_id": name, "page": hit.page, "path": hit.path}
    metadata = {name: value for name, value in {**hit.metadata, **facts}.items() if value is not None}
    own_id = hit.chunk_id if hit.document_id is None or hit.text_id is None else hit.text_id
    return TextNode(id_=own_id, text=text_of(hit), start_char_idx=start, end_char_idx=end, metadata=metadata)
