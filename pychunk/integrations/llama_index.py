"""A LlamaIndex node parser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

try:
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.node_parser.interface import NodeParser
    from llama_index.core.node_parser.node_utils import build_nodes_from_splits, default_id_func
    from llama_index.core.schema import BaseNode, MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode
except ImportError:
    raise ImportError("integrations.llama_index needs LlamaIndex: pip install llama-index-core") from None

from ..io.markup import Markup
from ..methods.method_options import MethodName
from ..segmenter import Segmenter
from .document_metadata import STRUCTURE, chunks_of, described, keys_of, restored
from .store_ids import store_ids

#: The form of the random ids that LlamaIndex makes: UUIDs of version 4.
_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class PychunkNodeParser(NodeParser):
    """A LlamaIndex node parser that cuts all documents in one native call.

    ``start_char_idx`` and ``end_char_idx`` are exact, even if a text repeats itself. With ``vectors="chunk"`` a node
    has its ``embedding``.

    A node's id is the chunk's ``text_id``: a hash of the document's id, the text and its number among equal texts. If
    your documents keep their ids, an edit changes only the ids of the nodes whose text it changes, so that a store
    keeps all others. Documents without an id of their own get a random one from LlamaIndex. If a reader recorded their
    ``file_path``, it takes the place of the random id, so that nodes have the same ids in each run. ``id_func`` makes
    other ids.

    A node's metadata are those of its document, with ``path`` (the headings above it, joined by " > ") if the documents
    have headings, and ``page`` and ``page_end`` if they have pages. Documents of
    :class:`.llama_index_reader.PychunkReader` have both. Keys of the document with these names stay as they are. Nodes
    are related to their neighbours and, in a tree of headings, to their parent and children.

    Args:
        method, **options: The arguments of :class:`pychunk.Segmenter`. Options can also be passed as a dictionary,
            ``options=``. ``columns`` names by role the keys of the documents' metadata, such as ``columns={"titles":
            "title"}``.
        markup: ``"markdown"``, ``"html"`` or ``"auto"``: the texts are parsed as this markup, so that headings, tables
            and lists decide where chunks end. See :func:`pychunk.parse`. Default: texts are plain text.
        include_metadata, include_prev_next_rel, callback_manager, id_func: The arguments of every node parser.

    Example:
        >>> import pychunk
        >>> from llama_index.core import Document
        >>> nodes = PychunkNodeParser("sentence").get_nodes_from_documents([Document(text="One. Two.")])
        >>> [(node.text, node.start_char_idx, node.end_char_idx) for node in nodes]
        [('One.', 0, 4), ('Two.', 5, 9)]
        >>> nodes = PychunkNodeParser("sentence").get_nodes_from_documents([Document(text="One. Two.", id_="a")])
        >>> nodes[0].id_ == pychunk.segment("One. Two.", "sentence", ids="a")[0].text_id
        True
    """

    method: MethodName | None = Field(default=None, description="The method that cuts.")
    markup: Markup | None = Field(default=None, description="The markup of texts.")
    options: dict[str, Any] = Field(default_factory=dict, description="The options of pychunk.Segmenter.")
    _segmenter: Segmenter = PrivateAttr()
    _keys: dict[str, str] = PrivateAttr()

    def __init__(
        self,
        method: MethodName | None = None,
        *,
        markup: Markup | None = None,
        options: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        own = {name: more.pop(name) for name in NodeParser.model_fields if name in more}
        more.pop("class_name", None)  # The stored form of a parser has this key.
        super().__init__(method=method, markup=markup, options=restored({**(options or {}), **more}), **own)
        own_options = dict(self.options)
        self._keys = keys_of(own_options)
        self._segmenter = Segmenter(self.method, **own_options)

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex stores the parser."""
        return "PychunkNodeParser"

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any) -> list[BaseNode]:
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        metadatas = [node.metadata for node in nodes]
        lists = chunks_of(
            self._segmenter,
            texts,
            metadatas,
            keys=self._keys,
            markup=self.markup,
            ids=list(map(_name, nodes)),
            progress=show_progress,
        )
        ids = iter(store_ids(chunk for chunks in lists for chunk in chunks))
        made_nodes: list[BaseNode] = []
        for node, chunks in zip(nodes, lists, strict=True):
            own = [next(ids) for _ in chunks]
            id_func = self.id_func if self.id_func is not default_id_func else lambda at, _, own=own: own[at]
            made = build_nodes_from_splits([chunk.text for chunk in chunks], _without_structure(node), id_func=id_func)
            for part, chunk in zip(made, chunks, strict=True):
                part.start_char_idx, part.end_char_idx, part.embedding = chunk.start, chunk.end, chunk.vector
                part.metadata = described(node.metadata, chunk) if self.include_metadata else {}
            _relate(made, [chunk.parent for chunk in chunks])
            made_nodes += made
        return made_nodes

    def _postprocess_parsed_nodes(self, nodes: list[BaseNode], parent_doc_map: Any) -> list[BaseNode]:
        # The base class searches for each text after the start of the previous node. It could find a short text inside
        # that node, so the exact positions are restored. It also copies the documents' metadata once more.
        spans = [(node.start_char_idx, node.end_char_idx) for node in nodes]
        plain = {name: _without_structure(parent) for name, parent in parent_doc_map.items()}
        nodes = super()._postprocess_parsed_nodes(nodes, plain)
        for node, span in zip(nodes, spans, strict=True):
            node.start_char_idx, node.end_char_idx = span
        return nodes


def _without_structure(node: Any) -> Any:
    """Return a document without the structure that a reader found, or the same document if it has none."""
    if STRUCTURE not in node.metadata:
        return node
    excluded = {
        name: [key for key in getattr(node, name) if key != STRUCTURE]
        for name in ("excluded_embed_metadata_keys", "excluded_llm_metadata_keys")
    }
    own = {key: value for key, value in node.metadata.items() if key != STRUCTURE}
    return node.model_copy(update={"metadata": own, **excluded})


def _name(node: BaseNode) -> str:
    """Return the name of a document from which its nodes' ids are made.

    It is the document's id. A random id, which LlamaIndex gives to documents without one, is another in each run. Such
    a document has the name of its file, if a reader recorded it.
    """
    file = node.metadata.get("file_path")
    return file if isinstance(file, str) and file and _RANDOM.fullmatch(node.node_id) else node.node_id


def _relate(nodes: list[TextNode], parents: list[int | None]) -> None:
    """Add the relations between nodes and their parents. ``parents`` are positions among the nodes."""
    children: dict[int, list[RelatedNodeInfo]] = {}
    for node, parent in zip(nodes, parents, strict=True):
        if parent is not None:
            node.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=nodes[parent].node_id)
            children.setdefault(parent, []).append(RelatedNodeInfo(node_id=node.node_id))
    for parent, own in children.items():
        nodes[parent].relationships[NodeRelationship.CHILD] = own
