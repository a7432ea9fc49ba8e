"""LangChain embeddings."""

from __future__ import annotations

from typing import Any

try:
    from langchain_core.embeddings import Embeddings
except ImportError:
    raise ImportError("integrations.langchain_embeddings needs LangChain: pip install langchain-core") from None

from ..embedding import embed


class PychunkEmbeddings(Embeddings):
    """The vectors of :func:`pychunk.embed` for any vector store of LangChain's: passages and queries, batched natively.

    Args:
        encoder: as for :func:`pychunk.embed`. **options: its ``device``, ``threads``, ``runtime``, ``precision``.

    Example:
        >>> embeddings = PychunkEmbeddings()
        >>> len(embeddings.embed_query("Why do cats purr?")), len(embeddings.embed_documents(["One.", "Two."]))
        (256, 2)
    """

    def __init__(self, encoder: Any = "static", **options: Any) -> None:
        self.encoder, self.options = encoder, options
        self.embed_query("")  # an unknown encoder or option is told here

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text, as chunks have them."""
        found: list[list[float]] = embed(texts, encoder=self.encoder, **self.options).tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query."""
        found: list[float] = embed(text, encoder=self.encoder, task="query", **self.options).tolist()
        return found
