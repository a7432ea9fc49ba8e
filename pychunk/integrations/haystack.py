"""A Haystack splitter."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError:
    raise ImportError("integrations.haystack needs Haystack: pip install haystack-ai") from None

from ..io.markup import Markup
from ..methods.method_options import MethodName
from ..placement import Placement
from ..segmenter import Segmenter
from ..vectors import Vectors
from .document_metadata import chunks_of, described, keys_of, restored
from .store_ids import store_ids


@component
class PychunkSplitter:
    """A Haystack component that cuts documents in one native call.

    The id of a chunk is its ``text_id``. Its ``meta`` are those of its document, with Haystack's ``source_id``,
    ``split_id``, ``split_idx_start`` and ``page_number``, and with ``path``, the headings above it joined by " > ".

    Args:
        method, **options: The arguments of :class:`pychunk.Segmenter`. ``columns`` names by role the keys of the
            documents' meta, such as ``columns={"titles": "title"}``.
        markup: ``"markdown"``, ``"html"`` or ``"auto"``: the texts are parsed as this markup. Default: plain text.

    Example:
        >>> from haystack import Document
        >>> found = PychunkSplitter("sentence").run([Document(content="One. Two.")])["documents"]
        >>> [(each.content, each.meta["split_idx_start"]) for each in found]
        [('One.', 0), ('Two.', 5)]
    """

    def __init__(self, method: MethodName | None = None, *, markup: Markup | None = None, **options: Any) -> None:
        self.method, self.markup, self.options = method, markup, restored(options)
        own = dict(self.options)
        self._keys = keys_of(own)
        self._segmenter = Segmenter(method, **own)

    def to_dict(self) -> dict[str, Any]:
        """Return the component as a dictionary, for the stored form of a pipeline."""
        options = {
            name: asdict(value) if isinstance(value, (Placement, Vectors)) else value
            for name, value in self.options.items()
        }
        found: dict[str, Any] = default_to_dict(self, method=self.method, markup=self.markup, **options)
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PychunkSplitter:
        """Return the component of a dictionary."""
        found: PychunkSplitter = default_from_dict(cls, data)
        return found

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Return the chunks of documents.

        Raises:
            ValueError: A document has no text.
        """
        missing = next((document.id for document in documents if document.content is None), None)
        if missing is not None:
            raise ValueError(
                f"document {missing!r} must have content, which is the text to cut; got None: leave it out"
            )
        texts, metas = [document.content for document in documents], [document.meta for document in documents]
        ids = [document.id for document in documents]
        lists = chunks_of(self._segmenter, texts, metas, keys=self._keys, markup=self.markup, ids=ids)
        own_ids = iter(store_ids(chunk for chunks in lists for chunk in chunks))
        found = []
        for document, chunks in zip(documents, lists, strict=True):
            for chunk in chunks:
                meta = described(document.meta, chunk)
                meta |= {"source_id": document.id, "split_id": chunk.chunk_index, "split_idx_start": chunk.start}
                meta |= {} if chunk.page is None else {"page_number": chunk.page}
                found.append(Document(id=next(own_ids), content=chunk.text, meta=meta))
        return {"documents": found}
