"""A LlamaIndex embedding."""

from __future__ import annotations

import asyncio
from typing import Any

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import Field
except ImportError:
    raise ImportError("integrations.llama_index_embedding needs LlamaIndex: pip install llama-index-core") from None

from ..embedding import embed
from .document_metadata import restored


class PychunkEmbedding(BaseEmbedding):
    """A LlamaIndex embedding that gives nodes and queries the vectors of :func:`pychunk.embed`, for any index.

    Args:
        encoder: See :func:`pychunk.embed`.
        options: ``placement`` of :func:`pychunk.embed`.
        embed_batch_size, callback_manager, num_workers: The arguments of every embedding. By default, 1,024 texts go
            into one native call.

    Example:
        >>> embedding = PychunkEmbedding()
        >>> len(embedding.get_query_embedding("Why do cats purr?"))
        256
    """

    encoder: str = Field(default="static", description="The encoder.")
    options: dict[str, Any] = Field(default_factory=dict, description="The options of pychunk.embed.")

    def __init__(self, encoder: Any = "static", *, options: dict[str, Any] | None = None, **more: Any) -> None:
        more = {"embed_batch_size": 1024, "model_name": f"pychunk {encoder}", **more}
        super().__init__(encoder=str(encoder), options=restored(options or {}), **more)

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex stores the embedding."""
        return "PychunkEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        found: list[float] = embed(query, encoder=self.encoder, task="query", **self.options).tolist()
        return found

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        found: list[list[float]] = embed(texts, encoder=self.encoder, **self.options).tolist()
        return found
