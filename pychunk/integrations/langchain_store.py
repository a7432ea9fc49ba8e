"""A LangChain vector store, and by its ``as_retriever`` a retriever, over a pychunk index."""

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
from ..index.chunk_tables import encode_chunks
from ..index.index import Index
from ..index.search.hits import Hit
from .flat_hits import best, text_of
from .langchain_embeddings import PychunkEmbeddings

#: Columns of the chunk table, which are no metadata.
CHUNK_COLUMNS = frozenset(each.name for each in fields(Chunk))


class PychunkVectorStore(VectorStore):
    """Searches a :class:`pychunk.Index` by meaning, by words or both, as all of LangChain's stores are searched.

    An index of segmented documents is searched as it is; texts that are added here are chunks already, and stay whole.

    Args:
        index: the index, or the folder of one that was saved.
        include: fields of :class:`pychunk.Hit` that go into a document's metadata, such as ``("start", "end", "page",
            "path")``, beside the index's own columns.
        **search: options of :meth:`pychunk.Index.search` for every search: ``mode``, ``rerank``, ``expand`` ...

    What :meth:`add_texts` and :meth:`delete` changed is found at once, and kept from ``store.index.save()`` on.

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
            raise ValueError(f"include names fields of pychunk.Hit; got {', '.join(map(repr, unknown))}")
        self.include, self.search_options = tuple(include), search

    @property
    def embeddings(self) -> Embeddings | None:
        """What encodes queries; None for an index of vectors that were given."""
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
        """A new index at ``path`` with these texts; **options: those of :meth:`pychunk.Index.create`."""
        if path is None:
            raise ValueError("path= names the folder of the index, a new one")
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
        """Adds texts, each as one chunk; one of an id that is there already is replaced. Returns their ids."""
        texts = list(texts)
        ids = [each or str(uuid.uuid4()) for each in ids or [""] * len(texts)]
        metadatas = metadatas or [{} for _ in texts]
        for name, own in (("ids", ids), ("metadatas", metadatas)):
            if len(own) != len(texts):
                raise ValueError(f"{name} must hold one for each of {len(texts)} texts; got {len(own)}")
        facts = self.index.info
        if facts["encoder"]["name"] is None:
            raise ValueError("the index holds vectors that were given, and has no encoder for texts: use index.add")
        blank = [row for row, text in enumerate(texts) if not text.strip()]
        if blank:
            raise ValueError(f"text {blank[0]} is blank: there is nothing in it to find")
        plain = segment(texts, "fixed", ids=ids, size=1 << 40, unit="characters", atoms=False)
        chunks = encode_chunks(plain.table, facts["encoder"]["name"], vectors=facts["vectors"])
        names = dict.fromkeys(name for own in metadatas for name in own)
        self.index.add(chunks, metadata={name: [own.get(name) for own in metadatas] for name in names} or None)
        return ids

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Removes documents by id; unknown ones are none."""
        if ids is None:
            raise ValueError("delete takes ids=")
        self.index.remove(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The chunks of these documents, in the order of the ids; of unknown ones none."""
        found: list[Document] = []
        own = [name for name in self.index.schema.names if name not in CHUNK_COLUMNS]
        for name in ids:
            for row in self.index.get(name).to_pylist():
                facts = {each: row[each] for each in own if row[each] is not None}
                found.append(Document(page_content=row["text"], metadata=facts, id=str(row["id"])))
        return found

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        """The best chunks; **options: those of :meth:`pychunk.Index.search`, such as ``where`` and ``mode``.

        ``filter``, as other stores call it, is ``where``.
        """
        return [document for document, _ in self.similarity_search_with_score(query, k, **options)]

    def similarity_search_with_score(self, query: str, k: int = 4, **options: Any) -> list[tuple[Document, float]]:
        """The same with their scores, higher is better: with ``mode="dense"`` cosines."""
        return [(self._document(hit), hit.score) for hit in self._hits(k, options, queries=query)]

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **options: Any) -> list[Document]:
        """The best chunks for a vector."""
        options = {**options, "mode": "dense"}
        return [self._document(hit) for hit in self._hits(k, options, query_vectors=[embedding])]

    def _select_relevance_score_fn(self) -> Any:
        """A hybrid score is a cosine and a weighted share: against the most that it can be, from 0 to 1."""
        options = self.search_options
        mode, weight = options.get("mode", SEARCH.mode), float(options.get("weight", SEARCH.weight))
        most = {"dense": 1.0, "sparse": 1.0}.get(mode, 1.0 + weight)
        return lambda score: min(1.0, max(0.0, score / most))

    def _hits(self, k: int, options: dict[str, Any], **asked: Any) -> list[Hit]:
        options = {"k": k, **self.search_options, **options}
        if "filter" in options:
            given = options.pop("filter")
            if given is not None and options.get("where") is not None:
                raise ValueError("filter= and where= both say which chunks to look at: pass one of them")
            options["where"] = options.get("where") if given is None else given
        return best(self.index, options, **asked)

    def _document(self, hit: Hit) -> Document:
        own = {name: value for name, value in hit.metadata.items() if value is not None}
        facts = {name: getattr(hit, name) for name in self.include}
        return Document(
            page_content=text_of(hit), metadata={**own, **facts}, id=None if hit.id is None else str(hit.id)
        )
