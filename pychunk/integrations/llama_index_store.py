"""A LlamaIndex vector store over a pychunk index."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

try:
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.schema import BaseNode, MetadataMode
    from llama_index.core.vector_stores.types import (
        BasePydanticVectorStore,
        FilterCondition,
        MetadataFilter,
        MetadataFilters,
        VectorStoreQuery,
        VectorStoreQueryMode,
        VectorStoreQueryResult,
    )
    from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict
except ImportError:
    raise ImportError("integrations.llama_index_store needs LlamaIndex: pip install llama-index-core") from None

from ..index.index import Index
from .stored_documents import add, best, column_of, metadata_of, where_of

#: The search mode of each mode of a query.
MODES = {
    VectorStoreQueryMode.DEFAULT: "dense",
    VectorStoreQueryMode.HYBRID: "hybrid",
    VectorStoreQueryMode.SPARSE: "sparse",
    VectorStoreQueryMode.TEXT_SEARCH: "sparse",
}
#: The functions of the operators that filters may have.
OPERATORS = {
    "==": pc.equal,
    "!=": pc.not_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "<": pc.less,
    "<=": pc.less_equal,
}


class PychunkVectorStore(BasePydanticVectorStore):
    """A LlamaIndex vector store that keeps nodes in a :class:`pychunk.Index`, with the vectors that LlamaIndex makes.

    Queries can search by vectors (``default``), by words (``sparse``, ``text_search``) or by both (``hybrid``). Nodes
    come back with their ids, metadata and relations. Each call that changes the store saves it.

    Args:
        path: The folder of the index. It is created with the first nodes. Default: a temporary folder, which is removed
            with the store.
        **options: Options of :meth:`pychunk.Index.create`, such as ``dtype`` and ``kind``.

    Example:
        >>> from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
        >>> from llama_index.core.schema import TextNode
        >>> store = PychunkVectorStore()
        >>> index = VectorStoreIndex(
        ...     [TextNode(text="Cats purr.", id_="c")],
        ...     storage_context=StorageContext.from_defaults(vector_store=store),
        ...     embed_model=MockEmbedding(embed_dim=4),
        ... )
        >>> [found.node.node_id for found in index.as_retriever().retrieve("Do cats purr?")]
        ['c']
    """

    stores_text: bool = True
    flat_metadata: bool = False
    path: str | None = None
    options: dict[str, Any] = {}
    _index: Index | None = PrivateAttr(default=None)
    _folder: Any = PrivateAttr(default=None)

    def __init__(self, path: str | Path | None = None, **options: Any) -> None:
        own = {name: options.pop(name) for name in ("stores_text", "is_embedding_query") if name in options}
        options = {**options.pop("options", {}), **options}
        super().__init__(path=None if path is None else str(path), options=options, **own)
        if path is not None and Path(path).is_dir() and any(Path(path).iterdir()):
            self._index = Index.open(path)

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex stores the vector store."""
        return "PychunkVectorStore"

    @property
    def client(self) -> Any:
        """The index, or None as long as no nodes were added to a new store."""
        return self._index

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Add nodes with their embeddings, and return their ids. A node whose id exists replaces the old one.

        Raises:
            ValueError: A node has no embedding or no text, or an embedding has another width than those of the store or
                is not finite.
        """
        if not nodes:
            return []
        vectors = [node.get_embedding() for node in nodes]
        index = self._opened(len(vectors[0]))
        dim = index.info["encoder"]["dim"]
        odd = next((row for row, vector in enumerate(vectors) if len(vector) != dim), None)
        if odd is not None:
            raise ValueError(
                f"node {nodes[odd].node_id!r} has an embedding of {len(vectors[odd])} numbers, and the store has "
                f"vectors of {dim}: embed nodes with the model that made them, or make another store"
            )
        ids = [node.node_id for node in nodes]
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        metadatas = [node_to_metadata_dict(node, remove_text=True, flat_metadata=False) for node in nodes]
        add(index, ids, texts, metadatas, vectors=vectors)
        index.save()
        return ids

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Remove all nodes of a document."""
        if self._index is not None and len(self._index):
            self._remove(self._index.ids({"ref_doc_id": ref_doc_id}))

    def delete_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **_: Any) -> None:
        """Remove the nodes that have these ids and meet the filters. Unknown ids are ignored."""
        if node_ids is None and filters is None:
            raise ValueError("node_ids and filters are missing: pass at least one; clear() removes all nodes")
        if self._index is not None and len(self._index):
            found = self._index.ids(_filter(self._index, filters))
            self._remove(found if node_ids is None else [name for name in found if name in set(node_ids)])

    def clear(self) -> None:
        """Remove all nodes."""
        if self._index is not None and len(self._index):
            self._remove(self._index.ids())

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **_: Any
    ) -> list[BaseNode]:
        """Return the nodes that have these ids and meet the filters, in the order in which they were added."""
        if self._index is None or not len(self._index):
            return []
        found = self._index.ids(_filter(self._index, filters))
        wanted = found if node_ids is None else [name for name in found if name in set(node_ids)]
        return [_node(row["text"], row) for name in wanted for row in self._index.get(name).to_pylist()]

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        """Return the best nodes for a query, best first.

        Raises:
            ValueError: The mode or an operator of a filter is not supported, or the vector has another width than those
                of the store.
        """
        if query.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(sorted(MODES))}; got {query.mode!r:.80}")
        index, mode = self._index, MODES[query.mode]
        if index is None or not len(index):
            return VectorStoreQueryResult(nodes=[], similarities=[], ids=[])
        ids = [*(query.node_ids or [])] or None
        where = _filter(index, query.filters)
        if query.doc_ids:
            by_document = pc.is_in(pc.field("ref_doc_id"), value_set=pa.array(query.doc_ids))
            where = by_document if where is None else where & by_document
        k = query.sparse_top_k if mode == "sparse" and query.sparse_top_k else query.similarity_top_k
        k = query.hybrid_top_k if mode == "hybrid" and query.hybrid_top_k else k
        vectors = None if query.query_embedding is None or mode == "sparse" else [query.query_embedding]
        asked: Any = vectors if mode == "dense" else [query.query_str or ""]
        if mode == "hybrid":
            asked = (asked, vectors)
        if asked is None or (mode == "hybrid" and vectors is None):
            raise ValueError(f"a query with mode {query.mode!r:.80} needs query_embedding; got None: pass a vector")
        hits = best(index, {"k": k, "mode": mode, "where": where, "ids": ids}, queries=asked)
        nodes = [_node(hit.text, hit.metadata) for hit in hits]
        return VectorStoreQueryResult(
            nodes=nodes, similarities=[hit.score for hit in hits], ids=[node.node_id for node in nodes]
        )

    def persist(self, persist_path: str, fs: Any = None) -> None:
        """Do nothing, because each change is saved at once in the store's own folder."""

    def _opened(self, dim: int) -> Index:
        """Return the index, which the first nodes create."""
        if self._index is None:
            if self.path is None:
                self._folder = tempfile.TemporaryDirectory(prefix="pychunk")
            path = self.path or Path(self._folder.name, "index")
            self._index = Index.create(path, encoder=None, dim=dim, vectors="chunk", **self.options)
        return self._index

    def _remove(self, ids: list[str]) -> None:
        assert self._index is not None
        self._index.remove(ids)
        self._index.save()


def _node(text: str, values: Any) -> BaseNode:
    """Return the node of a chunk from its text and its values by column."""
    return metadata_dict_to_node(metadata_of(values), text=text)


def _filter(index: Index, filters: MetadataFilters | None) -> Any:
    """Return filters as an expression on columns, or None if there are none."""
    if filters is None or not filters.filters:
        return None
    parts = [part for each in filters.filters if (part := _condition(index, each)) is not None]
    if not parts:
        return None
    condition = filters.condition or FilterCondition.AND
    if condition == FilterCondition.NOT:
        return ~reduce(lambda one, other: one | other, parts)
    return reduce(lambda one, other: one & other if condition == FilterCondition.AND else one | other, parts)


def _condition(index: Index, one: MetadataFilter | MetadataFilters) -> Any:
    if isinstance(one, MetadataFilters):
        return _filter(index, one)
    column, value = pc.field(column_of(one.key)), one.value
    where_of(index, {one.key: value})  # An error if the key has values of several types.
    if one.operator.value in OPERATORS:
        return OPERATORS[one.operator.value](column, value)
    if one.operator.value in ("in", "nin"):
        found = pc.is_in(column, value_set=pa.array(value))
        return found if one.operator.value == "in" else ~found
    raise ValueError(
        f"the operator of a filter must be one of {', '.join([*OPERATORS, 'in', 'nin'])}; got {one.operator.value!r}"
    )
