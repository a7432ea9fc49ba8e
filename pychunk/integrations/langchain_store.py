"""A LangChain vector store over a pychunk index. Its ``as_retriever`` returns a retriever."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

try:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import VectorStore
except ImportError:
    raise ImportError("integrations.langchain_store needs LangChain: pip install langchain-core") from None

from ..api import segment
from ..chunks.batch import Chunk
from ..defaults import SEARCH
from ..index.index import Index
from ..index.options import Ranking
from ..index.search.hits import Hit
from .flat_hits import best, text_of
from .langchain_embeddings import PychunkEmbeddings

#: The columns of the chunk table, which are no metadata.
CHUNK_COLUMNS = frozenset(each.name for each in fields(Chunk))


class PychunkVectorStore(VectorStore):
    """A LangChain vector store that searches a :class:`pychunk.Index` by meaning, by words or by both.

    An existing index of segmented documents works without changes. Each text that is added here becomes one chunk, and
    is not cut. Searches see changes by :meth:`add_texts` and :meth:`delete` at once. ``store.index.save()`` writes them
    to disk.

    Args:
        index: The index, or the folder of a saved one.
        include: The fields of :class:`pychunk.Hit` that a document's metadata receives in addition to the index's own
            columns, such as ``("start", "end", "page", "path")``.
        **search: Options of :meth:`pychunk.Index.search` for every search, such as ``mode`` and ``ranking``.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp() + "/pets"
        >>> store = PychunkVectorStore.from_texts(["Cats purr.", "Dogs bark."], ids=["c", "d"], path=folder)
        >>> [(found.id, found.page_content) for found in store.similarity_search("purring cats", k=1)]
        [('c', 'Cats purr.')]
        >>> store.index.save()
    """

    def __init__(self, index: Index | str | Path, *, include: Sequence[str] = (), **search: Any) -> None:
        self.index = index if isinstance(index, Index) else Index.open(index)
        unknown = [name for name in include if name not in Hit.__dataclass_fields__]
        if unknown:
            raise ValueError(
                f"include must name fields of pychunk.Hit ({', '.join(Hit.__dataclass_fields__)}); got "
                f"{', '.join(map(repr, unknown))}"
            )
        self.include, self.search_options = tuple(include), search

    @property
    def embeddings(self) -> Embeddings | None:
        """The encoder of queries, or None if the index holds vectors that the caller passed."""
        name = self.index.info["encoder"]["name"]
        return None if name is None else PychunkEmbeddings(name)

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
        """Return a store with a new index at ``path`` that holds these texts.

        ``options`` are those of :meth:`pychunk.Index.create`.
        """
        if path is None:
            raise ValueError("path is missing: pass path=, a new folder for the index")
        if embedding is not None and not isinstance(embedding, PychunkEmbeddings):
            kind = type(embedding).__name__
            raise ValueError(f"embedding must be PychunkEmbeddings, or None for the static encoder; got {kind}")
        if embedding is not None:
            options = {"encoder": embedding.encoder, **options}
        store = cls(Index.create(path, **options), include=include)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **_: Any,
    ) -> list[str]:
        """Add texts, each as one chunk, and return their ids. A text whose id exists replaces the old one."""
        texts = list(texts)
        ids = [each or str(uuid.uuid4()) for each in ids or [""] * len(texts)]
        metadatas = metadatas or [{} for _ in texts]
        for name, own in (("ids", ids), ("metadatas", metadatas)):
            if len(own) != len(texts):
                raise ValueError(f"{name} must hold one value for each of {len(texts)} texts; got {len(own)}")
        facts = self.index.info
        if facts["encoder"]["name"] is None:
            raise ValueError(
                "the index was made without an encoder, so it cannot encode texts: pass vectors to index.add"
            )
        blank = [row for row, text in enumerate(texts) if not text.strip()]
        if blank:
            raise ValueError(f"text {blank[0]} is blank: there is nothing in it to find: leave it out")
        plain = segment(texts, "fixed", ids=ids, size=1 << 40, unit="characters", keep_together=False)
        names = dict.fromkeys(name for own in metadatas for name in own)
        self.index.add(plain, metadata={name: [own.get(name) for own in metadatas] for name in names} or None)
        return ids

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Remove documents by id. Unknown ids are ignored."""
        if ids is None:
            raise ValueError("ids is missing: pass ids=, the ids of the documents to remove")
        self.index.remove(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the chunks of these documents, in the order of the ids. Unknown ids are ignored."""
        found: list[Document] = []
        own = [name for name in self.index.schema.names if name not in CHUNK_COLUMNS]
        for name in ids:
            for row in self.index.get(name).to_pylist():
                facts = {each: row[each] for each in own if row[each] is not None}
                found.append(Document(page_content=row["text"], metadata=facts, id=str(row["document_id"])))
        return found

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        """Return the best chunks for a query.

        ``options`` are those of :meth:`pychunk.Index.search`, such as ``where`` and ``mode``. ``filter``, the name that
        other stores use, means ``where``.
        """
        return [document for document, _ in self.similarity_search_with_score(query, k, **options)]

    def similarity_search_with_score(self, query: str, k: int = 4, **options: Any) -> list[tuple[Document, float]]:
        """Return the best chunks with their scores. Higher is better. With ``mode="dense"`` they are cosines."""
        return [(self._document(hit), hit.score) for hit in self._hits(k, options, queries=query)]

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **options: Any) -> list[Document]:
        """Return the best chunks for a vector."""
        options = {**options, "mode": "dense"}
        return [self._document(hit) for hit in self._hits(k, options, queries=[embedding])]

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
        return best(self.index, options, **asked)

    def _document(self, hit: Hit) -> Document:
        own = {name: value for name, value in hit.metadata.items() if value is not None}
        facts = {name: getattr(hit, name) for name in self.include}
        return Document(
            page_content=text_of(hit),
            metadata={**own, **facts},
            id=None if hit.document_id is None else str(hit.document_id),
        )
