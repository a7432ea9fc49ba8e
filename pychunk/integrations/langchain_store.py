"""A LangChain vector store over a pychunk index. Its ``as_retriever`` returns a retriever."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

try:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import VectorStore
    from langchain_core.vectorstores.utils import maximal_marginal_relevance
except ImportError:
    raise ImportError("integrations.langchain_store needs LangChain: pip install langchain-core") from None

from ..defaults import SEARCH
from ..encoders.registry import name_of
from ..index.index import Index
from ..index.options import Ranking
from ..index.search.hits import Hit
from .langchain_embeddings import PychunkEmbeddings, encoder_of
from .stored_documents import RESERVED, add, best, metadata_of, text_of, where_of


class PychunkVectorStore(VectorStore):
    """A LangChain vector store that searches a :class:`pychunk.Index` by meaning, by words or by both.

    An existing index of segmented documents works without changes. Each text that is added here becomes one chunk, and
    is not cut. Its metadata, which must be JSON, come back unchanged. Filters can compare keys whose values are
    numbers, booleans, strings or lists of strings.

    Each call that changes the store saves it, unless you passed an open index: then ``store.index.save()`` saves it.

    Args:
        index: The index, or the folder of a saved one.
        embedding: The embeddings with which the index was created. Default: pychunk's own encoder, which the index
            names.
        include: The fields of :class:`pychunk.Hit` that a document's metadata receives in addition to its own, such as
            ``("start", "end", "page", "path")``.
        **search: Options of :meth:`pychunk.Index.search` for every search, such as ``mode`` and ``ranking``.

    Raises:
        ValueError: The index has vectors of another encoder than ``embedding``, or ``include`` names an unknown field.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp() + "/pets"
        >>> store = PychunkVectorStore.from_texts(["Cats purr.", "Dogs bark."], ids=["c", "d"], path=folder)
        >>> [(found.id, found.page_content) for found in store.similarity_search("purring cats", k=1)]
        [('c', 'Cats purr.')]
        >>> store.index.close()
        >>> len(PychunkVectorStore(folder).index)
        2
    """

    def __init__(
        self,
        index: Index | str | Path,
        embedding: Embeddings | None = None,
        *,
        include: Sequence[str] = (),
        **search: Any,
    ) -> None:
        unknown = [name for name in include if name not in Hit.__dataclass_fields__]
        if unknown:
            raise ValueError(
                f"include must name fields of pychunk.Hit ({', '.join(Hit.__dataclass_fields__)}); got "
                f"{', '.join(map(repr, unknown))}"
            )
        encoder = None if embedding is None else encoder_of(embedding)
        self._saves = not isinstance(index, Index)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if not isinstance(index, Index):
            index = Index.open(index, encoder=encoder)
        elif encoder is not None and name_of(encoder) != index.info["encoder"]["name"]:
            raise ValueError(
                f"the index has vectors of encoder {index.info['encoder']['name']!r}, and embedding is "
                f"{name_of(encoder)!r}: pass the embeddings that made the vectors"
            )
        self.index, self._embedding, self.include, self.search_options = index, embedding, tuple(include), search

    @property
    def embeddings(self) -> Embeddings | None:
        """The encoder of queries, or None if the index holds vectors that the caller passed."""
        name = self.index.info["encoder"]["name"]
        return self._embedding or (None if name is None else PychunkEmbeddings(name))

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        path: str | Path | None = None,
        include: Sequence[str] = (),
        **options: Any,
    ) -> PychunkVectorStore:
        """Return a store with a new index that holds these texts.

        Args:
            texts: The texts.
            embedding: Any Embeddings. Default: pychunk's static encoder.
            metadatas: The metadata of each text.
            ids: The id of each text. Default: random ids.
            path: A new folder for the index, where the store is saved. Default: a temporary folder, which is removed
                with the store.
            include: See the class.
            **options: Options of :meth:`pychunk.Index.create`. Embeddings other than pychunk's give each text one
                vector (``vectors="chunk"``).
        """
        folder = None
        if path is None:
            folder = tempfile.TemporaryDirectory(prefix="pychunk")
            path = Path(folder.name, "index")
        if embedding is not None:
            more = {} if isinstance(embedding, PychunkEmbeddings) else {"vectors": "chunk"}
            options = {"encoder": encoder_of(embedding), **more, **options}
        index = Index.create(path, **options)
        store = cls(index, embedding, include=include)
        store._saves, store._folder = True, folder
        index.save()
        if texts:
            store.add_texts(texts, metadatas, ids=ids)
        return store

    @classmethod
    def from_documents(
        cls, documents: list[Document], embedding: Embeddings | None = None, **options: Any
    ) -> PychunkVectorStore:
        """Return a store with a new index that holds these documents, with their metadata and ids.

        The arguments are those of :meth:`from_texts`.
        """
        found: PychunkVectorStore = super().from_documents(documents, embedding, **options)
        return found

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **_: Any,
    ) -> list[str]:
        """Add texts, each as one chunk, and return their ids. A text whose id exists replaces the old one.

        Raises:
            ValueError: There is not one value for each text, a text is blank, or the embeddings return vectors of
                another shape, or that are not finite.
            TypeError: Metadata are not JSON.
            RuntimeError: The embeddings raised an error.
        """
        texts = list(texts)
        if self.index.info["encoder"]["name"] is None:
            raise ValueError(
                "the index was made without an encoder, so it cannot encode texts: pass vectors to index.add"
            )
        ids = [each or str(uuid.uuid4()) for each in ids or [""] * len(texts)]
        add(self.index, ids, texts, metadatas or [{} for _ in texts])
        self._save()
        return ids

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Remove documents by id. Unknown ids are ignored."""
        if ids is None:
            raise ValueError("ids is missing: pass ids=, the ids of the documents to remove")
        if "document_id" in self.index.schema.names or not len(self.index):
            self.index.remove(ids)
            self._save()
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the chunks of these documents, in the order of the ids. Unknown ids are ignored."""
        own = [name for name in self.index.schema.names if name not in RESERVED]
        return [
            Document(page_content=row["text"], metadata=metadata_of(row, own), id=str(row["document_id"]))
            for name in ids
            for row in self.index.get(name).to_pylist()
        ]

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        """Return the best chunks for a query.

        ``options`` are those of :meth:`pychunk.Index.search`, such as ``where`` and ``mode``. ``filter``, the name that
        other stores use, means ``where``. Its columns are keys of metadata.
        """
        return [document for document, _ in self.similarity_search_with_score(query, k, **options)]

    def similarity_search_with_score(self, query: str, k: int = 4, **options: Any) -> list[tuple[Document, float]]:
        """Return the best chunks with their scores. Higher is better. With ``mode="dense"`` they are cosines."""
        return [(self._document(hit), hit.score) for hit in self._hits(k, options, queries=query)]

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **options: Any) -> list[Document]:
        """Return the best chunks for a vector."""
        options = {**options, "mode": "dense"}
        return [self._document(hit) for hit in self._hits(k, options, queries=[embedding])]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any
    ) -> list[Document]:
        """Return chunks that are relevant and unlike each other.

        Args:
            query: The query.
            k: The number of chunks.
            fetch_k: The number of the best chunks among which ``k`` are chosen. They are encoded again.
            lambda_mult: The weight of relevance, from 0 (only diversity) to 1 (only relevance).
            **options: See :meth:`similarity_search`.
        """
        return self._diverse(self._encoder().embed_query(query), k, fetch_k, lambda_mult, options, queries=query)

    def max_marginal_relevance_search_by_vector(
        self, embedding: list[float], k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any
    ) -> list[Document]:
        """Return chunks that are relevant for a vector and unlike each other.

        See :meth:`max_marginal_relevance_search`.
        """
        options = {**options, "mode": "dense"}
        return self._diverse(embedding, k, fetch_k, lambda_mult, options, queries=[embedding])

    def _diverse(
        self, vector: list[float], k: int, fetch_k: int, weight: float, options: dict[str, Any], **asked: Any
    ) -> list[Document]:
        import numpy as np

        hits = self._hits(max(k, fetch_k), options, **asked)
        vectors = self._encoder().embed_documents([hit.text for hit in hits]) if hits else []
        chosen = maximal_marginal_relevance(np.array(vector, np.float32), vectors, weight, k) if hits else []
        return [self._document(hits[i]) for i in chosen]

    def _encoder(self) -> Embeddings:
        if (found := self.embeddings) is None:
            raise ValueError(
                "the index was made without an encoder, so it cannot compare chunks: pass embedding= to the store"
            )
        return found

    def _save(self) -> None:
        if self._saves:
            self.index.save()

    def _select_relevance_score_fn(self) -> Any:
        """Return a function that divides a score by its maximum, so that the result is from 0 to 1.

        A hybrid score is a cosine plus ``bm25_weight`` times BM25, where BM25 is divided by its highest possible score.
        The maximum is therefore 1 + ``bm25_weight``.
        """
        options = self.search_options
        mode, weight = options.get("mode", SEARCH.mode), (options.get("ranking") or Ranking()).bm25_weight
        most = {"dense": 1.0, "sparse": 1.0}.get(mode, 1.0 + weight)
        return lambda score: min(1.0, max(0.0, score / most))

    def _hits(self, k: int, options: dict[str, Any], **asked: Any) -> list[Hit]:
        options = {"k": k, **self.search_options, **options}
        if "filter" in options:
            given = options.pop("filter")
            if given is not None and options.get("where") is not None:
                raise ValueError("filter= and where= both choose the chunks to search: pass one of them")
            options["where"] = options.get("where") if given is None else given
        if options.get("where") is not None:
            options["where"] = where_of(self.index, options["where"])
        return best(self.index, options, **asked)

    def _document(self, hit: Hit) -> Document:
        facts = {name: getattr(hit, name) for name in self.include}
        return Document(
            page_content=text_of(hit),
            metadata={**metadata_of(hit.metadata), **facts},
            id=None if hit.document_id is None else str(hit.document_id),
        )
