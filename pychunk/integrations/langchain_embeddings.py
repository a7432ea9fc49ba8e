"""LangChain embeddings."""

from __future__ import annotations

from typing import Any

try:
    from langchain_core.embeddings import Embeddings
except ImportError:
    raise ImportError("integrations.langchain_embeddings needs LangChain: pip install langchain-core") from None

from ..embedding import embed
from ..encoders.custom_encoder import Encoder


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


class _Source:
    """Embeddings of any package as the source of a :class:`pychunk.Encoder`."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings

    def encode_document(self, texts: list[str]) -> list[list[float]]:
        found: list[list[float]] = self._embeddings.embed_documents(texts)
        return found

    def encode_query(self, texts: list[str]) -> list[list[float]]:
        return [self._embeddings.embed_query(text) for text in texts]


def encoder_of(embeddings: Embeddings) -> Any:
    """Return embeddings as the argument ``encoder`` of an index.

    The name of an encoder that is not pychunk's is that of its class, with the model that it names. An index refuses
    embeddings of another name.

    Raises:
        TypeError: The object does not have the methods of Embeddings.
    """
    if isinstance(embeddings, PychunkEmbeddings):
        return embeddings.encoder
    missing = [name for name in ("embed_documents", "embed_query") if not hasattr(embeddings, name)]
    if missing:
        raise TypeError(
            f"embedding must be Embeddings of LangChain, with the method {missing[0]}; got "
            f"{type(embeddings).__name__}: pass an object that has it"
        )
    models = (getattr(embeddings, name, None) for name in ("model", "model_name", "model_id", "deployment"))
    model = next((each for each in models if isinstance(each, str) and each), "")
    return Encoder(_Source(embeddings), ":".join(filter(None, [type(embeddings).__name__, model])))
