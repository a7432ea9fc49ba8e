"""The class Index: chunks on disk, which a search finds by meaning, by words, or by both."""

from __future__ import annotations

import contextlib
import os
import sys
import uuid
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._util.lazy_imports import LazyModule, by_name
from ..defaults import BM25, SEARCH
from ..encoders import registry
from ..encoders.runtime.placement import ModelPlacement
from . import argument_checks, chunk_tables, creation, merge
from .add_result import AddResult
from .dense import token_coverage
from .levels import level_selection as by_level
from .scoring.level_rows import has_levels
from .scoring.ranking import Ranking
from .scoring.subqueries import Subquery
from .search.hits import DocumentHits, Hit, Hits
from .search.queries import Queries
from .search.search_options import SearchOptions
from .stages import Stages
from .store.document_digests import Digests
from .store.index_folder import Store, Verify, schema_of
from .store.metadata_columns import columns_not_given, with_columns_of_before, with_metadata
from .writer import IndexWriter, steady

if TYPE_CHECKING:
    from .planners import planner
    from .rerank import rerankers as reranking
else:  # of some searches alone
    planner = LazyModule("pychunk.index.planners.planner")

GIVEN = "given"


class Index:
    """A folder of chunks with their vectors and terms, for one writer and any number of readers.

    :meth:`create` makes an index and :meth:`open` opens one. This object finds changes of :meth:`add` and
    :meth:`remove` at once, and :meth:`save` stores them. If the process dies at any moment, the last saved state
    survives. A ``with`` block saves at its end, unless an exception leaves it. Changes that are dropped unsaved give a
    warning.

    Example:
        >>> import pychunk, tempfile
        >>> from pychunk.index.index import Index
        >>> texts = ["Cats purr when content.", "Rust is memory safe."]
        >>> chunks = pychunk.segment(texts, method="sentence", vectors="sentence")
        >>> with tempfile.TemporaryDirectory() as folder, Index.create(folder + "/pets") as index:
        ...     index.add(chunks)
        ...     index.search("Why do cats purr?", k=1)[0][0].text
        2
        'Cats purr when content.'
    """

    def __init__(self, store: Store, encoder: Any, placement: ModelPlacement, accuracy: int | None) -> None:
        self._store, self._encoder, self._placement = store, encoder, placement
        self._process = os.getpid()
        self._open: IndexWriter | None = IndexWriter(store, accuracy, placement)

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        encoder: str | Path | None = "static",
        vectors: str = "sentence",
        dtype: str = "int8",
        kind: str = "auto",
        terms: str | None = "auto",
        ngram: int = 4,
        stemmer: str | None = None,
        stop_words: Sequence[str] = (),
        fold_diacritics: bool = False,
        cjk_bigrams: bool = True,
        k1: float = BM25.k1,
        b: float = BM25.b,
        dim: int | None = None,
        runtime: str = "auto",
        device: str = "auto",
        accuracy: int | None = None,
        exist_ok: bool = False,
    ) -> Index:
        """Return a new, empty index in an empty folder; with ``exist_ok`` also an equal one that exists.

        Args:
            path: The folder of the index. It is created if it does not exist.
            encoder: The encoder of the chunks' vectors, which also encodes queries: see :class:`pychunk.Segmenter`.
                None: the caller passes vectors to ``segment(columns={"sentence_vectors": ...})``, and as queries.
            vectors: ``"sentence"`` (default): the score of a chunk is that of its best sentence. ``"chunk"``: the score
                of its own vector. ``"both"``: a weighted sum of both.
            dtype: The type of stored vectors. ``"int8"`` takes one byte a number, with errors of at most 1/254 of the
                vector's largest number; on SQuAD no hit is lost by it. ``"float16"`` takes twice the size and twice the
                time for one query; cosines change by less than 0.001. Or ``"float32"``.
            kind: ``"flat"``: exact, nothing is built. ``"pq"``: codes, built in one scan, 24 bytes a vector of 256
                numbers. ``"hnsw"``: a graph, which takes minutes for a million vectors. ``"auto"``: flat up to 512 MB
                of vectors (two million of 256 bytes), else ``"pq"``.
            terms: The terms that BM25 counts: ``"auto"`` (words, and n-grams of those that are not English),
                ``"words"``, ``"ngrams"``, or None for an index without BM25.
            ngram: The length of an n-gram in characters.
            stemmer: The language of the stemmer, such as ``"english"``.
            stop_words: The words that are not counted.
            fold_diacritics: Whether words match without their diacritics.
            cjk_bigrams: Whether scripts without spaces, such as Chinese and Thai, count pairs of characters.
            k1: How soon further occurrences of a term in a chunk stop to count.
            b: How much a long chunk loses, from 0 to 1.
            dim: The width of vectors from the caller, with ``encoder=None``.
            runtime: The runtime that encodes queries: see :class:`pychunk.Placement`.
            device: The device that encodes queries. With ``"cuda"`` a flat index is searched on the GPU, by a GPU build
                of FAISS or by torch.
            accuracy: See :meth:`open`.
            exist_ok: Whether to open an existing index that was created with the same options.

        Raises:
            ValueError: An option is out of range, or the folder holds other files or an index. With ``exist_ok`` only
                an index with other options is an error, which names them.
            ImportError: ``kind`` is ``"hnsw"``, and FAISS is not installed.
        """
        if accuracy is not None:
            argument_checks.whole("accuracy", accuracy, 1)
        words = {"ngram": ngram, "stemmer": stemmer, "stop_words": stop_words}
        words |= {"fold_diacritics": fold_diacritics, "cjk_bigrams": cjk_bigrams}
        options = creation.options(vectors, dtype, kind, {"k1": k1, "b": b}, terms, words)
        if dim is not None:
            argument_checks.whole("dim", dim, 1)
        if encoder is None and dim is None:
            raise ValueError("with encoder=None the width of the vectors must be given: dim=")
        placement = ModelPlacement.of(runtime, device)
        made = registry.vector_encoder(encoder, placement) if encoder is not None else None
        if made is not None and dim not in (None, made.dim):
            raise ValueError(
                f"dim= is the width of given vectors, with encoder=None; those of {encoder!r} are {made.dim}"
            )
        if Path(path).is_file():
            raise ValueError(f"{path} is a file: name a folder, new or empty")
        store = Store(Path(path))
        facts = {
            "name": None if encoder is None else str(encoder),
            "fingerprint": GIVEN if made is None else made.fingerprint,
            "dim": dim if made is None else made.dim,
        }
        if not store.exists():
            store.check_alone()
            store.folder.mkdir(parents=True, exist_ok=True)
            store.lock()
            if not store.exists():  # else another process was quicker
                empty = {"chunks": 0, "sentences": 0, "removed": 0, "parts": [], "stored": {}, "files": {}}
                head = {"schema": schema_of(dtype, terms), "pychunk": native.version, "generation": 0}
                store.commit({**head, "encoder": facts, "metric": "cosine", **options, **empty})
                return cls(store, made, placement, accuracy)
            store.unlock()
        if not exist_ok:
            raise ValueError(
                f"{path} holds an index already: Index.open adds to it, as does exist_ok=True; or remove the folder"
            )
        found = steady(lambda: cls._opened(store, encoder, placement, accuracy, True), store)
        other = creation.differences(found.info, {**options, "encoder": facts})
        if other:
            found.close()
            raise ValueError(
                f"{path} was created otherwise, which cannot change: {', '.join(other)}. Index.open takes it as it is; "
                "to build it again, remove the folder"
            )
        return found

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        encoder: str | Path | None = None,
        runtime: str = "auto",
        device: str = "auto",
        accuracy: int | None = None,
        verify: Verify = True,
        create: bool = False,
    ) -> Index:
        """Open a saved index. The first :meth:`add` or :meth:`remove` makes this process its writer.

        Args:
            path: The folder of the index.
            encoder: The encoder of queries. None: the encoder with which the index was created.
            runtime: See :meth:`create`.
            device: See :meth:`create`.
            accuracy: The number of candidates that an approximate search scores. More candidates are slower and find
                more. None: with ``"pq"`` the number that found 0.985 of the nearest vectors when the index was built,
                at least 512; with ``"hnsw"`` 96.
            verify: True: compare the checksum of every file, which takes about a second a gigabyte. ``"headers"``:
                compare the checksums of headers now, and of each block of 64 KiB when it is first read, so damage is an
                error and never another hit. Blocks that an older version of pychunk saved have no checksums: there
                ``"headers"`` detects damaged headers, sizes, offsets and invalid UTF-8. False: damage never ends the
                process, but it may change hits.
            create: Whether to create an index with the default options of :meth:`create` if none exists.

        Raises:
            ValueError: There is no index, it is of a newer version, a file is damaged or missing, or the encoder is
                another one. The message says which.
        """
        if verify not in (True, False, "headers"):
            raise ValueError(f"verify must be True, False or 'headers'; got {verify!r}")
        if accuracy is not None:
            argument_checks.whole("accuracy", accuracy, 1)
        store = Store(Path(path))
        if create and not store.exists():
            name = "static" if encoder is None else encoder
            return cls.create(path, encoder=name, runtime=runtime, device=device, accuracy=accuracy, exist_ok=True)
        placement = ModelPlacement.of(runtime, device)
        return steady(lambda: cls._opened(store, encoder, placement, accuracy, verify), store)

    @classmethod
    def _opened(cls, store: Store, encoder: Any, where: ModelPlacement, accuracy: int | None, verify: Verify) -> Index:
        facts = store.read(verify=verify)["encoder"]
        wanted = facts["name"] if encoder is None else encoder
        made = None
        if wanted is not None:
            try:
                made = registry.vector_encoder(wanted, where)
            except ValueError as error:
                if encoder is not None:
                    raise
                raise ValueError(f"{store.folder} names an encoder that cannot be loaded: {error}") from None
            if made.fingerprint != facts["fingerprint"]:
                raise ValueError(
                    f"{store.folder} holds vectors of encoder {facts['name']!r} ({facts['fingerprint']}), and "
                    f"{str(wanted)!r} is {made.fingerprint}: open with the encoder that made them, or build it again"
                )
        return cls(store, made, where, accuracy)

    # What an index is

    @property
    def _contents(self) -> IndexWriter:
        return self._require_open()

    def _require_open(self) -> IndexWriter:
        if self._open is None:
            raise ValueError(f"the index {str(self.path)!r} is closed: pychunk.Index.open opens it again")
        return self._open

    def __len__(self) -> int:
        """Return the number of chunks that a search can find."""
        return len(self._contents)

    def __repr__(self) -> str:
        facts = self._store.manifest
        name = facts["encoder"]["name"] or GIVEN
        holds = "closed" if self._open is None else f"{len(self):,} chunks, {facts['vectors']} vectors of {name!r}"
        return f"<Index {str(self.path)!r}: {holds}>"

    def _repr_html_(self) -> str:
        return str(by_name("pychunk.chunks.notebook_tables", "index_html")(repr(self), self._store.manifest))

    @property
    def replaced(self) -> int:
        """The number of chunks that were added since the last save and have been replaced or removed since."""
        return self._contents.replaced

    @property
    def path(self) -> Path:
        """The folder of the index."""
        return self._store.folder

    @property
    def info(self) -> dict[str, Any]:
        """The options with which the index was created, and its contents as last saved.

        ``recall`` is the share of the ten nearest of some vectors that codes (kind ``"pq"``) found when they were made,
        by name. ``pooling``, in an index of levels, is ``"tokens"`` or the fingerprint of the compressor that made the
        vectors.
        """
        facts = self._contents.store.manifest
        kept = ("pychunk", "encoder", "metric", "vectors", "dtype", "kind", "terms", "bm25", "chunks", "sentences")
        sizes = [size for size, _ in self._store.files(facts).values()]
        recalls = {name: own["recall"] for name, own in facts["stored"].items() if "recall" in own}
        recall = {"recall": recalls} if recalls else {}
        pooling = {"pooling": facts["pooling"]} if "pooling" in facts else {}
        return {
            **{name: facts[name] for name in kept},
            **recall,
            **pooling,
            "removed": facts["removed"],
            "bytes": sum(sizes),
        }

    @property
    def notes(self) -> dict[str, str]:
        """The values that a program which fills the index stores for its next run; :meth:`save` keeps them."""
        return self._contents.notes

    def ids(self) -> list[Any]:
        """Return the ids of the documents that have chunks here, in the order of adding.

        Raises:
            ValueError: The chunks have no ids.
        """
        table = self._contents.searcher().stored
        if table is None:
            return []
        if "id" not in table.column_names:
            raise ValueError("documents of this index have no ids: segment with ids=")
        self._contents.searcher().check(["id"])
        alive = pa.array(self._contents.searcher().alive)
        found: list[Any] = table["id"].filter(alive).unique().drop_null().to_pylist()
        return list(map(uuid.UUID, found)) if self._contents.uuids else found

    def __contains__(self, id: object) -> bool:
        """Return whether the index has chunks of a document. It scans all ids; for many documents call :meth:`ids`."""
        return self.count(ids=[id]) > 0

    def count(self, where: Any = None, ids: Sequence[Any] | None = None) -> int:
        """Return the number of chunks that a search with these filters considers; by default of all."""
        allowed = self._contents.searcher().allowed(where, ids)
        return len(self) if allowed is None else int(allowed.sum())

    def get(self, id: Any) -> pa.Table:
        """Return the chunks of a document in their order, without vectors; none if the document is not here.

        Example:
            >>> import pychunk, tempfile
            >>> from pychunk.index.index import Index
            >>> chunks = pychunk.segment(["Cats purr. They sleep."], "sentence", vectors="sentence", ids=["cats"])
            >>> with tempfile.TemporaryDirectory() as folder, Index.create(folder + "/pets") as index:
            ...     found = index.add(chunks)
            ...     "cats" in index, index.ids(), index.count("start > 0"), index.get("cats")["text"].to_pylist()
            (True, ['cats'], 1, ['Cats purr.', 'They sleep.'])
        """
        if isinstance(id, (list, tuple, set, dict)):
            raise TypeError(f"get takes the id of one document; got {id!r:.80}")
        searcher = self._contents.searcher()
        allowed = searcher.allowed(None, [id])
        if searcher.stored is None or allowed is None:
            return self.table
        searcher.check()
        return searcher.as_added(searcher.stored.filter(pa.array(allowed)))

    # Writing

    def changed(self, documents: Digests) -> npt.NDArray[np.bool_]:
        """Return bool[n]: whether each document is new or differs from the index's.

        The other documents need not be segmented and added again. The call makes this process the writer, so the answer
        stays true until it adds chunks.

        Args:
            documents: The result of :func:`pychunk.index.store.document_digests.of`. A document is known by the values
                that were passed when it was added, until it is added without them, or it or one of its chunks is
                removed.

        Example:
            >>> import pychunk, tempfile, pyarrow as pa
            >>> from pychunk.index.store import document_digests
            >>> from pychunk.index.index import Index
            >>> seg = pychunk.Segmenter("sentence", vectors="sentence")
            >>> table = pa.table({"id": ["cats", "rust"], "text": ["Cats purr.", "Rust is safe."]})
            >>> with tempfile.TemporaryDirectory() as folder, Index.create(folder + "/pets") as index:
            ...     for _ in range(2):
            ...         documents = document_digests.of(table, ["text"], seg.options)
            ...         new = index.changed(documents)
            ...         chunks = seg(table.filter(new), columns={"text": "text"}, ids="id")
            ...         index.add(chunks, documents=documents.choose(new)).added
            2
            0
        """
        contents = self._contents
        contents.begin_writing()
        return np.asarray((contents.register.latest(documents.values[0]) != documents.values[1:]).any(axis=0))

    def add(
        self,
        chunks: Any,
        *,
        metadata: Mapping[str, Sequence[Any]] | Sequence[str] | None = None,
        documents: Digests | None = None,
        on_duplicate: str = "raise",
    ) -> AddResult:
        """Add chunks. They replace the chunks of their documents' ids, or without ids equal chunks.

        A document that is added again keeps the metadata columns that you do not pass again. A value that you pass as
        null is null.

        Args:
            chunks: The result of ``segment(..., vectors=...)``, or a chunk table that was read from a file.
            metadata: Columns with one value for each document of the batch, to filter by, in a mapping or a table; or
                names of columns of the chunk table. The index keeps the table's own columns
                (``segment(metadata_columns=...)``) whether or not you name them.
            documents: Hashes of all that the chunks were made of, for :meth:`changed`. A document whose text is blank
                has no chunks; it still replaces the chunks of its id. Columns that are not passed are null then.
            on_duplicate: ``"raise"``: several documents with the same id in this call are an error. ``"merge"``: they
                are parts of one document, such as rows of a table of paragraphs, joined with blank lines
                (:func:`pychunk.index.merge.merged`). Either way they replace a document that is in the index.

        Returns:
            The number of chunks added. It also has the numbers of new and of replaced documents.

        Raises:
            ValueError: Vectors are missing, not finite or of another encoder; levels were pooled in another way than
                those in the index; two documents have one id; chunks do not belong to ``documents``; or another process
                writes.
        """
        self._contents.begin_writing()
        table = chunk_tables.as_table(chunks)
        if metadata is not None:
            table = with_metadata(table, chunks, argument_checks.columns(metadata, table))
        if documents is None and table.num_rows and (lacks := columns_not_given(table, self._contents.schema)):
            table = with_columns_of_before(table, self._contents.chunks_of(chunk_tables.keys(table).unique(), lacks))
        if on_duplicate not in ("raise", "merge"):
            raise ValueError(f"on_duplicate must be 'raise' or 'merge'; got {on_duplicate!r}")
        if on_duplicate == "merge":
            table = merge.merged(table)
        rows = chunk_tables.rows_of(table, self._contents.layout, self._store.manifest["encoder"]["fingerprint"])
        if self._encoder is not None:
            rows = rows.without_vectors(token_coverage.unread(self._encoder, table["text"]))
        pooling = chunk_tables.pooling(table) if self._contents.layout.pooled else None
        chunk_tables.check_pooling(self._contents.pooling, pooling)
        if table.num_rows == 0 and not documents:
            return AddResult()
        if table.num_rows and has_levels(self._contents.schema) and not has_levels(table.schema):
            warnings.warn(
                "these chunks are of no level, and searches of an index of levels by levels= or plan= pass over them: "
                "add what pychunk.segment_levels(...).chunks() gives",
                stacklevel=2,
            )
        late, keys = chunk_tables.outdated(table), chunk_tables.keys(table)
        unique = keys.unique() if documents is None else documents.ids
        if documents is not None:
            chunk_tables.check_documents(table, documents.ids)
        replaced = len(self._contents.add(rows, keys, late, documents, uuids=chunk_tables.of_uuids(table)))
        self._contents.pooling = pooling or self._contents.pooling
        return AddResult(int((~late).sum()), added=len(unique) - replaced, replaced=replaced)

    def remove(self, ids: Sequence[Any] | None = None, *, chunk_ids: Sequence[str] | None = None) -> int:
        """Remove documents by id, or single chunks, and return the number of removed chunks. Unknown ids count as none.

        Raises:
            ValueError: You passed ids, and no document of the index has one.
        """
        if (ids is None) == (chunk_ids is None):
            raise ValueError("remove() takes ids or chunk_ids")
        wanted = argument_checks.ids("ids", ids) if ids is not None else argument_checks.ids("chunk_ids", chunk_ids)
        self._contents.begin_writing()
        if ids is not None and len(wanted) and self.schema.names and "id" not in self.schema.names:
            raise ValueError(
                "ids names documents, and those of this index have none: remove their chunks by chunk_ids=, or build "
                "the index again from chunks that were segmented with ids="
            )
        before = len(self)
        self._contents.remove(wanted, "chunk_id" if ids is None else "id")
        return before - len(self)

    def save(self) -> None:
        """Store all that was added and removed, in one step: readers see the state before or after.

        After an error, such as a full disk, nothing that was added is lost: make room and call this again. If
        :meth:`add` fails, it adds nothing.
        """
        self._contents.begin_writing()
        self._contents.save()

    def refresh(self) -> bool:
        """Load what another process has saved since, and return whether there was anything."""
        contents = self._contents
        return not self._store.locked and contents.refresh()

    def close(self, *, discard: bool = False) -> None:
        """Close the index and let another process write. To use it again, open it.

        Changes that were not saved are lost with a warning; ``discard=True`` loses them without one.
        """
        self._close(discard)

    def _close(self, discard: bool = False) -> None:
        if self._open is None:
            return
        contents, self._open = self._open, None
        contents.close()
        own = os.getpid() == self._process  # what a process that forked has added is not lost
        if own and self._store.locked and not sys.is_finalizing():
            with contextlib.suppress(OSError):  # the folder is gone
                self._store.sweep()  # or gigabytes that were not saved would lie there until the next change
        self._store.unlock()
        if contents.dirty and not discard and own:
            warnings.warn(
                f"the index {str(self.path)!r} was closed with changes that were not saved: they are gone. Call save() "
                "before, or close(discard=True)",
                stacklevel=3,  # who closes it, or where its with block or its last name ends
            )

    def __reduce__(self) -> Any:
        raise TypeError(
            f"the index {str(self.path)!r} cannot be pickled, as it holds open files: save it, and open it in the "
            "other process by its path, with pychunk.Index.open"
        )

    def __enter__(self) -> Index:
        self._require_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Save, unless an exception ends the block, and close."""
        if kind is not None or self._open is None:
            self._close()
            return
        try:
            if self._open.dirty:
                self.save()
        finally:
            self._close(discard=True)

    def __del__(self) -> None:
        if getattr(self, "_open", None) is not None:
            self._close()

    # Searching

    @overload
    def search(
        self,
        queries: str | Sequence[str] | None = None,
        k: int = SEARCH.k,
        mode: str = SEARCH.mode,
        *,
        fusion: str = SEARCH.fusion,
        weight: float = SEARCH.weight,
        blend: float = SEARCH.blend,
        document_weight: float = SEARCH.document_weight,
        where: Any = None,
        ids: Sequence[Any] | None = None,
        levels: Any = None,
        plan: Any = None,
        rerank: str | Path | reranking.Function | None = None,
        depth: int = SEARCH.depth,
        expand: int | str = 0,
        words: int | None = None,
        parents: bool = False,
        by_document: Literal[False] = False,
        min_score: float | None = None,
        query_vectors: Any = None,
        threads: int | None = None,
        rewrite: Any = None,
        on_error: str = "raise",
    ) -> Hits[Hits[Hit]]: ...

    @overload
    def search(
        self,
        queries: str | Sequence[str] | None = None,
        k: int = SEARCH.k,
        mode: str = SEARCH.mode,
        *,
        fusion: str = SEARCH.fusion,
        weight: float = SEARCH.weight,
        blend: float = SEARCH.blend,
        document_weight: float = SEARCH.document_weight,
        where: Any = None,
        ids: Sequence[Any] | None = None,
        levels: Any = None,
        plan: Any = None,
        rerank: str | Path | reranking.Function | None = None,
        depth: int = SEARCH.depth,
        expand: int | str = 0,
        words: int | None = None,
        parents: bool = False,
        by_document: Literal[True],
        min_score: float | None = None,
        query_vectors: Any = None,
        threads: int | None = None,
        rewrite: Any = None,
        on_error: str = "raise",
    ) -> Hits[Hits[DocumentHits]]: ...

    @overload
    def search(
        self,
        queries: str | Sequence[str] | None = None,
        k: int = SEARCH.k,
        mode: str = SEARCH.mode,
        *,
        fusion: str = SEARCH.fusion,
        weight: float = SEARCH.weight,
        blend: float = SEARCH.blend,
        document_weight: float = SEARCH.document_weight,
        where: Any = None,
        ids: Sequence[Any] | None = None,
        levels: Any = None,
        plan: Any = None,
        rerank: str | Path | reranking.Function | None = None,
        depth: int = SEARCH.depth,
        expand: int | str = 0,
        words: int | None = None,
        parents: bool = False,
        by_document: bool,
        min_score: float | None = None,
        query_vectors: Any = None,
        threads: int | None = None,
        rewrite: Any = None,
        on_error: str = "raise",
    ) -> Hits[Hits[Hit]] | Hits[Hits[DocumentHits]]: ...

    def search(
        self,
        queries: str | Sequence[str] | None = None,
        k: int = SEARCH.k,
        mode: str = SEARCH.mode,
        *,
        fusion: str = SEARCH.fusion,
        weight: float = SEARCH.weight,
        blend: float = SEARCH.blend,
        document_weight: float = SEARCH.document_weight,
        where: Any = None,
        ids: Sequence[Any] | None = None,
        levels: Any = None,
        plan: Any = None,
        rerank: str | Path | reranking.Function | None = None,
        depth: int = SEARCH.depth,
        expand: int | str = 0,
        words: int | None = None,
        parents: bool = False,
        by_document: bool = False,
        min_score: float | None = None,
        query_vectors: Any = None,
        threads: int | None = None,
        rewrite: Any = None,
        on_error: str = "raise",
    ) -> Hits[Hits[Hit]] | Hits[Hits[DocumentHits]]:
        """Return the best chunks for each query. All queries are searched in one call.

        Args:
            queries: One text or several.
            k: The number of hits for each query; with ``by_document`` of documents.
            mode: ``"dense"`` (vectors), ``"sparse"`` (BM25) or ``"hybrid"`` (both).
            fusion: The combination of both in mode hybrid. ``"score"``: the cosine plus ``weight`` times BM25 as a
                share of the highest score that the query allows. ``"rrf"``: reciprocal ranks, in which BM25 counts
                ``weight`` times. ``"levels"``, in an index of levels: scores that compare nodes of all sizes, in bits
                (:mod:`pychunk.index.levels.level_ranking`). With ``words`` they are the nodes that fit the budget,
                those with the best score per word first.
            weight: The weight of BM25, compared with 1 for the cosine.
            blend: The share of the best sentence, compared with the chunk's own vector, in an index of both.
            document_weight: The weight of the document's score, which is added to the chunk's. It is BM25 of all its
                chunks as one text; by vectors the mean of its three best sentences or chunk vectors; in mode hybrid
                both. Filters choose among chunks, but their documents count as a whole.
            where: The filter on columns of chunks. ``{"lang": "de", "year": {"gte": 2015}}`` has for each column a
                value, a list of values or comparisons (``eq``, ``ne``, ``gt``, ``gte``, ``lt``, ``lte``, ``in``). Or a
                text, ``"year >= 2015 and lang in ('de', 'en')"``, with ``and``, ``or``, ``not``, brackets and ``is
                null``. Or an expression of ``pyarrow.compute``, such as ``pc.field("year") >= 2015``. In a dict or a
                text, a column of lists matches if one of its values does, and a comparison with null is false.
            ids: The ids of the documents to search. A number and its text are the same id, as in :meth:`remove`.
            levels: The level to search, in an index of the result of :meth:`pychunk.Hierarchy.chunks`; or the finest
                and the coarsest, ``("paragraph", "section")``. If hits are nested, the search returns the best of them.
            plan: The planner that chooses these levels for each query: ``"learned"``, ``"rules"``, ``"llm"``,
                ``"fixed"``, a function ``(query, metadata) -> (low, high)``, or the result of :meth:`plan`
                (:mod:`pychunk.index.planners.planner`). ``hit.scores["plan"]`` has the choice and its reason.
            rerank: The reranker that orders the best ``depth`` hits again. ``"features"``: a weighted sum of what the
                search knows of them (:mod:`pychunk.index.rerank.linear_reranker`), or a folder with other weights. A
                cross-encoder: ``"reranker"``, which ``pychunk model get reranker`` gets, or a folder that ``pychunk
                export`` wrote. Or a function ``(queries, hits) -> scores`` for the hits of all queries
                (:mod:`pychunk.index.rerank.rerankers`).
            depth: The number of hits that the reranker orders.
            expand: The text to return around each hit. A number: that many chunks of the same document on either side;
                in an index of levels chunks of the hit's level that no earlier hit brought. ``"subtree"``: all chunks
                below the hit in the tree of headings (chunks of method ``structure``). ``"section"``: the whole section
                of the hit. If subtrees of the ``k`` hits are nested, the search returns the outermost with the best
                score among them, so there may be fewer than ``k``. All hits inside them count
                (:mod:`pychunk.index.search.expansion`).
            words: The word budget of each query. Hits are added in rank order with as much around them as fits. A hit
                that is longer than the rest of the budget is skipped. With a tree, hits with the best score per word
                come first.
            parents: With a tree: also return the chunks above each hit up to the document's first, with the first hit
                under them only.
            by_document: Whether to return ``k`` documents with their best chunk each; ``rerank`` then orders the best
                ``depth`` documents by that chunk.
            min_score: The least ``score`` of a hit. Cosines and BM25 are at most 1, hybrid scores at most 1 +
                ``weight``.
            query_vectors: Vectors of the queries, float[q, dim], instead of the texts or in addition to them.
            threads: The number of threads. Default: all CPUs that the process may use.
            rewrite: The query rewriting: a search by several texts, terms or vectors for each query. ``"feedback"``
                adds those of the first hits. ``"options"``: queries are pairs of a question and its possible answers.
                ``"hyde"`` adds a passage, and ``"multi"`` other queries, which a language model writes. Or a function
                (:mod:`pychunk.index.search.query_rewriting`). Their scores, or with ``"rrf"`` their ranks, are fused.
            on_error: What happens if a rewriting or a reranker fails, a rewriting is empty, or scores are NaN.
                ``"raise"``: an error that names the stage and the row. ``"skip"``: the hits without that stage, with
                the reason in ``hit.scores["rewrite"]`` or ``hit.scores["rerank"]``.

        Returns:
            One list for each query, of :class:`Hit` or of :class:`DocumentHits`, best first. Among equal scores the
            first in
            the index comes first. A notebook shows the list as a table.

        Raises:
            ValueError: An option is out of range, a column does not exist, a filter cannot be parsed, or nothing can
                encode the queries.
        """
        options = SearchOptions(
            k, mode, fusion, weight, blend, document_weight, where, ids, levels, plan, rerank, depth, expand, words,
            parents, by_document, min_score, threads, rewrite, on_error
        )  # fmt: skip
        if plan is not None:
            return planner.searched(self, self._hits, queries, query_vectors, options)
        return self._hits(queries, query_vectors, options)

    def _hits(self, queries: Any, query_vectors: Any, options: SearchOptions) -> Hits[Any]:
        encoder = self._store.manifest["encoder"]["fingerprint"]
        reader = self._queries(options.threads)
        return Stages(self._contents, reader, self._placement, encoder, options).hits(queries, query_vectors)

    def plan(
        self, queries: str | Sequence[str], plan: Any = "rules", *, words: int | None = None, threads: int | None = None
    ) -> list[planner.Plan]:
        """Return the levels that a planner chooses for each query, with the reasons.

        Args:
            queries: One text or several.
            plan: The planner: see :meth:`search`.
            words: The word budget of each query.
            threads: The number of threads.

        Raises:
            ValueError: The planner is unknown, or the index has no levels.

        Example:
            >>> import pychunk, tempfile
            >>> from pychunk.index.index import Index
            >>> found = pychunk.segment_levels("Cats purr. They sleep.", ["sentence", "document"], vectors="chunk")
            >>> with tempfile.TemporaryDirectory() as folder, Index.create(folder + "/i", vectors="chunk") as index:
            ...     added = index.add(found.chunks())
            ...     print(index.plan("Who purrs?")[0])
            sentence: asks for a fact
        """
        return planner.plans(self, plan, queries, words=words, threads=threads)

    def plan_metadata(
        self,
        queries: Sequence[str],
        *,
        words: int | None = None,
        look: bool = True,
        hits: int = 5,
        threads: int | None = None,
    ) -> list[planner.Metadata]:
        """Return the facts about each query that planners use.

        Args:
            queries: The texts of the queries.
            words: The word budget of each query.
            look: Whether to search the finest and the coarsest level in a first pass.
            hits: The number of hits of the search by ``fusion="levels"`` that follows; the pass finds their best
                sentences by vector.
            threads: The number of threads.
        """
        terms = self._contents.layout.analyzer is not None
        ranking = Ranking("dense" if not terms else "hybrid" if self._encoder is not None else "sparse")
        reader = self._queries(threads)
        vectors = reader.vectors(list(queries), None, ranking.mode) if look and queries else None
        searcher = self._contents.searcher()
        probes = (
            reader.probes(list(queries), vectors, ranking, searcher) if look else [[Subquery(text)] for text in queries]
        )
        encoder = str(self._store.manifest["encoder"]["fingerprint"])
        told = ranking if look else None
        return planner.metadata_of(
            searcher, probes, words=words, encoder=encoder, ranking=told, hits=hits, threads=threads
        )

    def rank(
        self,
        queries: str | Sequence[str] | None = None,
        k: int = SEARCH.k,
        mode: str = SEARCH.mode,
        *,
        fusion: str = SEARCH.fusion,
        weight: float = SEARCH.weight,
        blend: float = SEARCH.blend,
        document_weight: float = SEARCH.document_weight,
        levels: Any = None,
        query_vectors: Any = None,
        threads: int | None = None,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Return the hits of :meth:`search` as rows of :attr:`table`, without their texts.

        Joins and measurements need no more. The arguments are those of :meth:`search`.

        Returns:
            (rows int64[q, k], scores float32[q, k]); -1 and NaN if there are fewer hits.
        """
        ranking = Ranking(mode, fusion, weight, blend, document_weight)
        argument_checks.whole("k", k, 1)
        reader = self._queries(threads)
        texts, vectors = reader.read(queries, query_vectors, ranking)
        rows, scores = np.full((len(texts), k), -1, np.int64), np.full((len(texts), k), np.nan, np.float32)
        searcher = self._contents.searcher()
        if searcher.stored is not None and texts:
            names = [] if levels is None else by_level.between(levels, searcher.levels)
            allowed = searcher.allowed(None, None, names)
            probes = reader.probes(texts, vectors, ranking, searcher)
            if fusion == "levels":
                ranked = searcher.rank_across(probes, k, ranking, allowed, threads, names=names, kept=True)
            else:
                choose = searcher.apart if len(names) > 1 else None
                ranked = searcher.rank(probes, k, ranking, allowed, threads, choose=choose, names=names)
            for i, (found, _, _) in enumerate(ranked):
                rows[i, : len(found.chunks)], scores[i, : len(found.chunks)] = found.chunks, found.scores
        return rows, scores

    @property
    def table(self) -> pa.Table:
        """The table of all chunks by row, with removed ones and without vectors.

        It is mapped into memory, except whole numbers: these take 32 bits on disk and 80 bytes a chunk after the first
        use.
        """
        searcher = self._contents.searcher()
        return pa.table({}) if searcher.stored is None else searcher.table

    @property
    def schema(self) -> pa.Schema:
        """The columns of :attr:`table`; an empty index has none."""
        return self._contents.searcher().schema

    def _queries(self, threads: int | None) -> Queries:
        return Queries(self._contents.layout, self._encoder, threads)
