"""LangChain embeddings."""

from __future__ import annotations

from typing import Any

try:
    from langchain_core.embeddings import Embeddings
except ImportError:
    raise ImportError("integrations.langchain_embeddings needs LangChain: pip install langchain-core") from None

from ..embedding import embed


class PychunkEmbeddings(Embeddings):
    """LangChain embeddings that give passages and queries the vectors of :func:`pychunk.embed`, for any vector store.

    Args:
        encoder: See :func:`pychunk.embed`.
        **options: ``placement`` of :func:`pychunk.embed`.

    Example:
        >>> embeddings = PychunkEmbeddings()
        >>> len(embeddings.embed_query("Why do cats purr?")), len(embeddings.embed_documents(["One.", "Two."]))
        (256, 2)
    """

    def __init__(self, encoder: Any = "static", **options: Any) -> None:
        self.encoder, self.options = encoder, options
        self.embed_query("")  # An unknown encoder or option raises an error here.

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector for each text, encoded as chunks are."""
        found: list[list[float]] = embed(texts, encoder=self.encoder, **self.options).tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query."""
        found: list[float] = embed(text, encoder=self.encoder, task="query", **self.options).tolist()
        return found
