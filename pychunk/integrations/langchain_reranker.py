"""A LangChain document compressor that reranks documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from langchain_core.documents import BaseDocumentCompressor, Document
    from pydantic import PrivateAttr
except ImportError:
    raise ImportError("integrations.langchain_reranker needs LangChain: pip install langchain-core") from None

from ..index.rerank.rerankers import Reranker, load, reranked
from ..index.search.hits import Hit


class PychunkReranker(BaseDocumentCompressor):
    """A LangChain document compressor that keeps the documents that are most relevant for a query.

    Args:
        model: The folder or name of a cross-encoder, such as ``"reranker"``; ``"logprob"`` or ``"listwise"``, which ask
            an LLM; or a function ``(queries, hits) -> scores``. See :class:`pychunk.index.Rerank`.
        k: The number of documents to keep.

    Raises:
        ValueError: There is no such model, or it does not score relevance.

    Example:
        >>> from langchain_core.documents import Document
        >>> reranker = PychunkReranker(lambda queries, hits: [[len(hit.text) for hit in own] for own in hits], k=1)
        >>> found = reranker.compress_documents([Document("Cats"), Document("Cats purr.")], "cats")
        >>> [(each.page_content, each.metadata) for each in found]
        [('Cats purr.', {'relevance_score': 10.0})]
    """

    model: Any
    k: int = 3
    _reranker: Reranker = PrivateAttr()

    def __init__(self, model: Any, k: int = 3) -> None:
        super().__init__(model=model, k=k)
        self._reranker = load(model)

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        """Return the ``k`` best documents, best first, with the score as ``relevance_score`` in their metadata.

        Raises:
            ValueError, RuntimeError: The model failed, or returned a score that is not a number.
        """
        if not documents:
            return []
        hits = [_hit(row, document) for row, document in enumerate(documents)]
        ((*best,), *_), _ = reranked(self._reranker, [query], [hits], self.k)
        return [
            documents[hit.row].model_copy(
                update={"metadata": {**documents[hit.row].metadata, "relevance_score": hit.score}}
            )
            for hit in best
        ]


def _hit(row: int, document: Document) -> Hit:
    """Return a document as a hit, which rerankers read."""
    text = document.page_content
    return Hit(row, row, document.id, 0, str(row), 0, len(text), text, 0.0, {}, metadata=document.metadata)
