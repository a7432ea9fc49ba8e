"""A LangChain text splitter."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

try:
    from langchain_core.documents import Document
    from langchain_text_splitters import TextSplitter
except ImportError:
    raise ImportError("integrations.langchain needs LangChain: pip install langchain-text-splitters") from None

from ..io.markup import Markup
from ..methods.method_options import MethodName
from ..segmenter import Segmenter
from .document_metadata import keys_of, parsed, said_of


class PychunkTextSplitter(TextSplitter):
    """A LangChain text splitter that cuts a list of documents in one native call.

    Args:
        method, **options: The arguments of :class:`pychunk.Segmenter`. ``columns`` names by role the keys of
            the documents' metadata, such as ``columns={"titles": "title"}``.
        add_start_index: Whether to add the position of each chunk's first character to its metadata, as
            ``start_index``. It is exact, even if a text repeats itself. The end is ``start_index + len(page_content)``.
        markup: ``"markdown"``, ``"html"`` or ``"auto"``: the texts are parsed as this markup, so that headings, tables
            and lists decide where chunks end. See :func:`pychunk.parse`. Default: texts are plain text.

    Example:
        >>> splitter = PychunkTextSplitter("sentence", add_start_index=True)
        >>> [(part.page_content, part.metadata) for part in splitter.create_documents(["One. Two."], [{"file": "a"}])]
        [('One.', {'file': 'a', 'start_index': 0}), ('Two.', {'file': 'a', 'start_index': 5})]
    """

    def __init__(
        self,
        method: MethodName | None = None,
        *,
        add_start_index: bool = False,
        markup: Markup | None = None,
        **options: Any,
    ) -> None:
        super().__init__(chunk_overlap=0, add_start_index=add_start_index)  # The Segmenter handles sizes.
        self._keys, self._markup = keys_of(options), markup
        self.segmenter = Segmenter(method, **options)

    def split_text(self, text: str) -> list[str]:
        """Return the texts of a document's chunks."""
        return [chunk.text for chunk in self.segmenter(parsed([text], self._markup))]

    def create_documents(
        self, texts: Sequence[str], metadatas: Sequence[dict[Any, Any]] | None = None
    ) -> list[Document]:
        """Return one Document for each chunk, with a copy of its document's metadata."""
        texts = list(texts)
        metadatas = metadatas or [{}] * len(texts)
        if len(metadatas) != len(texts):
            raise ValueError(f"metadatas must hold one dictionary for each of {len(texts)} texts; got {len(metadatas)}")
        documents = []
        said = said_of(self.segmenter, self._keys, metadatas)
        for chunk in self.segmenter(parsed(texts, self._markup), columns=said):
            metadata = copy.deepcopy(metadatas[chunk.document_index])
            if self._add_start_index:
                metadata["start_index"] = chunk.start
            documents.append(Document(page_content=chunk.text, metadata=metadata))
        return documents
