"""A LlamaIndex node parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.node_parser.interface import NodeParser
    from llama_index.core.node_parser.node_utils import build_nodes_from_splits, default_id_func
    from llama_index.core.schema import BaseNode, MetadataMode
except ImportError:
    raise ImportError("integrations.llama_index needs LlamaIndex: pip install llama-index-core") from None

from ..io.markup import Markup
from ..methods.method_options import MethodName
from ..segmenter import Segmenter
from .document_metadata import keys_of, parsed, restored, said_of
from .store_ids import store_ids


class PychunkNodeParser(NodeParser):
    """A LlamaIndex node parser that cuts all documents in one native call.

    ``start_char_idx`` and ``end_char_idx`` are exact, even if a text repeats itself. With ``vectors="chunk"`` a node
    has its ``embedding``.

    A node's id is the chunk's ``text_id``: a hash of the document's id, the text and its number among equal texts. If
    your documents keep their ids, an edit changes only the ids of the nodes whose text it changes, so that a store
    keeps all others. ``id_func`` makes other ids.

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
        said = said_of(self._segmenter, self._keys, [node.metadata for node in nodes])
        names = [node.node_id for node in nodes]
        batch = self._segmenter(parsed(texts, self.markup), progress=show_progress, columns=said, ids=names)
        ids = iter(store_ids(batch))
        made_nodes: list[BaseNode] = []
        for node, chunks in zip(nodes, batch.by_document(), strict=True):
            own = [next(ids) for _ in chunks]
            id_func = self.id_func if self.id_func is not default_id_func else lambda at, _, own=own: own[at]
            made = build_nodes_from_splits([chunk.text for chunk in chunks], node, id_func=id_func)
            for part, chunk in zip(made, chunks, strict=True):
                part.start_char_idx, part.end_char_idx, part.embedding = chunk.start, chunk.end, chunk.vector
            made_nodes += made
        return made_nodes

    def _postprocess_parsed_nodes(self, nodes: list[BaseNode], parent_doc_map: Any) -> list[BaseNode]:
        # The base class searches for each text after the start of the previous node. It could find a short text inside
        # that node, so the exact positions are restored.
        spans = [(node.start_char_idx, node.end_char_idx) for node in nodes]
        nodes = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node, span in zip(nodes, spans, strict=True):
            node.start_char_idx, node.end_char_idx = span
        return nodes
