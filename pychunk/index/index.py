"""Index: chunks on disk, found again by meaning, by words, or both."""

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
from ..encoders.runtime.placement import Placement
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
    """Chunks with their vectors and words in a folder, for any number of readers and one writer.

    Made by :meth:`create` and :meth:`open`. What :meth:`add` and :meth:`remove` did is found at once by this object,
    and kept from :meth:`save` on: whatever moment the process dies at, the folder holds what was saved last. A ``with``
    block saves at its end, unless an exception leaves it; work that is dropped unsaved gives a warning.

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

    def __init__(self, store: Store, encoder: Any, placement: Placement, accuracy: int | None) -> None:
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
        """A new, empty index in a folder that holds none; with ``exist_ok`` also one that was created alike.

        Args:
            path: the folder; made where there is none.
            encoder: whose vectors chunks bring, and what encodes queries: as for :class:`pychunk.Segmenter`. ``None``:
                vectors that were given to ``segment(sentence_vectors=...)``; queries come as vectors, too.
            vectors: ``"sentence"`` (default): a chunk scores as the best of its sentences; ``"chunk"``: by one vector
                of its own; ``"both"``: by a blend.
            dtype: of vectors: ``"int8"`` (a byte a number, which is off by at most 1/254 of the vector's largest: no
                hit is lost by it on SQuAD), ``"float16"`` (twice the size, cosines change by less than 0.001, one query
                takes twice as long) or ``"float32"``.
            kind: ``"flat"`` (exact, nothing is built), ``"pq"`` (codes, made in one scan; 24 bytes a vector of
                256 numbers), ``"hnsw"`` (takes minutes a million vectors), or ``"auto"``: flat up to 512 MB of vectors
                (two million of 256 bytes), else ``"pq"``.
            terms: what BM25 counts: ``"auto"`` (words, and n-grams of those that are not English), ``"words"``,
                ``"ngrams"`` or ``None`` for no BM25. ngram, stemmer, stop_words, fold_diacritics, cjk_bigrams: see
                :class:`pychunk.index.lexical.analyzer.Analyzer`.
            k1, b: BM25's parameters.
            dim: width of given vectors, with ``encoder=None``.
            runtime, device: where queries are encoded, as for :class:`pychunk.Segmenter`; with ``device="cuda"`` a flat
                index is searched there, by a GPU build of FAISS or by torch.
            accuracy: as for :meth:`open`.
            exist_ok: opens the index that is there, if it was created with these very options.

        Raises:
            ValueError: an option out of range; a folder that holds other files; or an index already: without
                ``exist_ok`` any, with it one of other options, which are named.
            ImportError: ``kind="hnsw"``, and FAISS is not installed.
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
        placement = Placement.of(runtime, device)
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
                "to build it anew, remove the folder"
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
        """An index that was saved; the first :meth:`add` or :meth:`remove` makes this process its writer.

        Args:
            path: the folder.
            encoder: what encodes queries; ``None``: the encoder that the index was created with.
            runtime, device: as for :meth:`create`.
            accuracy: candidates that an approximate search scores: more is slower, and finds more. None: as many as
                found .985 of the nearest when the index was built, at least 512 (``"pq"``); 96 (``"hnsw"``).
            verify: compare the checksum of every file (about a second a gigabyte); ``"headers"``: those of the parts of
                it that say how it is to be read, and each block of 64 KiB when it is first read, so that a damaged one
                is an error and never another hit. The blocks of an index that an older version of pychunk saved have no
                checksums: there ``"headers"`` notices damage of headers, sizes, offsets and texts that are no UTF-8.
                False promises only that no damage ends the process: hits may be others.
            create: where there is no index, one is created, with the options that :meth:`create` has of itself.

        Raises:
            ValueError: no index, a newer version's, a damaged or missing file, another encoder; says which.
        """
        if verify not in (True, False, "headers"):
            raise ValueError(f"verify must be True, False or 'headers'; got {verify!r}")
        if accuracy is not None:
            argument_checks.whole("accuracy", accuracy, 1)
        store = Store(Path(path))
        if create and not store.exists():
            name = "static" if encoder is None else encoder
            return cls.create(path, encoder=name, runtime=runtime, device=device, accuracy=accuracy, exist_ok=True)
        placement = Placement.of(runtime, device)
        return steady(lambda: cls._opened(store, encoder, placement, accuracy, verify), store)

    @classmethod
    def _opened(cls, store: Store, encoder: Any, placement: Placement, accuracy: int | None, verify: Verify) -> Index:
        facts = store.read(verify=verify)["encoder"]
        wanted = facts["name"] if encoder is None else encoder
        made = None
        if wanted is not None:
            try:
                made = registry.vector_encoder(wanted, placement)
            except ValueError as error:
                if encoder is not None:
                    raise
                raise ValueError(f"{store.folder} names an encoder that cannot be loaded: {error}") from None
            if made.fingerprint != facts["fingerprint"]:
                raise ValueError(
                    f"{store.folder} holds vectors of encoder {facts['name']!r} ({facts['fingerprint']}), and "
                    f"{str(wanted)!r} is {made.fingerprint}: open with the encoder that made them, or build it again"
                )
        return cls(store, made, placement, accuracy)

    # What an index is

    @property
    def _contents(self) -> IndexWriter:
        return self._require_open()

    def _require_open(self) -> IndexWriter:
        if self._open is None:
            raise ValueError(f"the index {str(self.path)!r} is closed: pychunk.Index.open opens it again")
        return self._open

    def __len__(self) -> int:
        """Chunks that can be found."""
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
        """Chunks that were added since the last save, and replaced since by others of the same id, or removed."""
        return self._contents.replaced

    @property
    def path(self) -> Path:
        return self._store.folder

    @property
    def info(self) -> dict[str, Any]:
        """What the index was created with, and what it holds as last saved.

        ``recall`` is what codes (kind ``"pq"``) found of the ten nearest of some vectors when they were made, by name.
        ``pooling``, of an index of levels, is how their vectors are made: ``"tokens"``, or a compressor's fingerprint.
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
        """What whoever fills the index wants to know when it goes on; kept with the next changes that are saved."""
        return self._contents.notes

    def ids(self) -> list[Any]:
        """The ids of the documents that have chunks here, in the order in which they were added.

        Raises:
            ValueError: the chunks have no ids.
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
        """Whether chunks of a document are here; looks through all, so ask :meth:`ids` for many."""
        return self.count(ids=[id]) > 0

    def count(self, where: Any = None, ids: Sequence[Any] | None = None) -> int:
        """Chunks that a search with these conditions looks at; without any, all that can be found."""
        allowed = self._contents.searcher().allowed(where, ids)
        return len(self) if allowed is None else int(allowed.sum())

    def get(self, id: Any) -> pa.Table:
        """The chunks of a document, without vectors, in their order; of one that is not here, none.

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
        """bool[n]: documents that are not in the index as they are; the others need not be cut and added again.

        Makes this process the writer, so that the answer holds until it adds.

        Args:
            documents: of :func:`pychunk.index.store.document_digests.of`. A document is known by what was said of it
                when it was added, until it is added without, or it or a chunk of it is removed.

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
            ...         chunks = seg(table.filter(new), column="text", ids="id")
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
        """Add chunks; those of a document id that is there already (without ids: the same chunks) are replaced.

        Columns of metadata that are not given again are kept: the new chunks of a document have what its old ones had.
        What is given as null is null.

        Args:
            chunks: what ``segment(..., vectors=...)`` returned, or a chunk table read back from a file.
            metadata: columns of one value for each document of the batch, to filter by, in a mapping or a table; or
                names of columns that the chunk table has (``segment(keep=...)``), which it keeps named or not.
            documents: what the chunks were made of, columns and all, for :meth:`changed`; a document of which there are
                no chunks, as its text is blank, replaces what is there of its id all the same, and a column that is not
                given is null.
            on_duplicate: documents of one id in this call are an error (``"raise"``), or, as rows of a table of
                paragraphs, the parts of one document (``"merge"``), whose text is theirs with a blank line between:
                see :func:`pychunk.index.merge.merged`. A document that is there already is replaced either way.

        Returns:
            The number of chunks added, which also says how many documents are new, and how many were replaced.

        Raises:
            ValueError: vectors that are missing, not finite or another encoder's, nodes of levels whose vectors are
                made by another ``pooling`` than those that are there, two documents of one id, chunks of other
                documents than those of ``documents``, another process that writes.
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
                "add what pychunk.segment(..., levels=...).chunks() gives",
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
        """Remove documents by id, or single chunks; the number of chunks removed. Unknown ones count as none.

        Raises:
            ValueError: ids, of an index none of whose documents has one.
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
        """Keep all that was added and removed. Takes effect in one step: readers find the state before or after.

        After an error, such as a full disk, nothing is lost that had been added: make room and call it again. An
        :meth:`add` that fails adds nothing.
        """
        self._contents.begin_writing()
        self._contents.save()

    def refresh(self) -> bool:
        """Take up what another process saved since; whether there was anything."""
        contents = self._contents
        return not self._store.locked and contents.refresh()

    def close(self, *, discard: bool = False) -> None:
        """Let another process write; the index cannot be used from here on, only opened again.

        What was not saved is gone, and a warning says so; ``discard=True`` means it.
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
        """The best chunks for each query, all queries in one call.

        Args:
            queries: one text or several.
            k: hits for each query; with ``by_document`` documents.
            mode: ``"dense"`` (vectors), ``"sparse"`` (BM25) or ``"hybrid"`` (both).
            fusion: how hybrid joins them. ``"score"``: cosine + ``weight`` x BM25 as a share of its bound; ``"rrf"``:
                reciprocal ranks, BM25's counting ``weight`` times. In an index of levels also ``"levels"``: scores that
                hold nodes of all sizes against each other, in bits (:mod:`pychunk.index.levels.level_ranking`); with
                ``words`` those that fit, the better per word first.
            blend: share of the best sentence against the chunk's own vector, in an index of both.
            document_weight: how much a chunk's document counts beside it: so many times the document's own score is
                added, which is BM25 of all its chunks as one text, by vectors the mean of its three best sentences (or
                chunk vectors), in hybrid both. Conditions choose among chunks; their documents count whole.
            where: which chunks to look at. ``{"lang": "de", "year": {"gte": 2015}}``: a value, a list of values or
                comparisons (``eq``, ``ne``, ``gt``, ``gte``, ``lt``, ``lte``, ``in``) for each column; or a text,
                ``"year >= 2015 and lang in ('de', 'en')"``, with ``and``, ``or``, ``not``, brackets, ``is null``; or an
                expression of ``pyarrow.compute`` (``pc.field("year") >= 2015``). In a dict or a text a column of lists
                is what one of its values is, and a comparison with null does not hold. ids: only these documents;
                numbers and their text are the same id, here as in :meth:`remove`.
            levels: in an index of what :meth:`pychunk.Hierarchy.chunks` gives: the level to look at, or the finest and
                the coarsest, ``("paragraph", "section")``. Of hits that hold one another the best alone is returned.
            plan: what chooses these levels for each query: ``"learned"``, ``"rules"``, ``"llm"``, ``"fixed"``, a
                function ``(query, metadata) -> (low, high)``, or what :meth:`plan` gave
                (:mod:`pychunk.index.planners.planner`). ``hit.scores["plan"]`` says which, and why.
            rerank: what orders the best ``depth`` hits anew: ``"features"``, a weighted sum of what is known of them
                (:mod:`pychunk.index.rerank.linear_reranker`; of the static encoder's vectors, by sentences and BM25),
                or a
                folder with other weights; a cross-encoder (``"reranker"``, which ``pychunk model get reranker`` gets,
                or what ``pychunk export`` wrote); or a function ``(queries, hits) -> scores`` of the hits of all
                queries (:mod:`pychunk.index.rerank.rerankers`).
            expand: what to return around each hit: so many chunks of the same document on either side, in an index of
                levels of its own level, and with ``levels`` none that an earlier hit brought; ``"subtree"``: all that
                hangs on it in the tree of headings (chunks of method ``structure``); ``"section"``: the whole section
                that it is part of, in an index of levels as nodes of its own level. Of subtrees of the ``k`` hits that
                hold one another the outermost is returned, with the best score among them, so that there may be fewer
                than ``k``; they are ranked by all hits inside them (:mod:`pychunk.index.search.expansion`).
            words: at most so many words handed over for each query: hits in their order, each with as much around it
                as still fits; one that is itself too long for what is left is passed over. With a tree those come
                first that promise most for their length.
            parents: with a tree, also the chunks above each hit, up to the document's first, with the first hit under
                them alone.
            by_document: find ``k`` documents, of each the best chunk alone; ``rerank`` orders the best ``depth`` of
                them anew, by that chunk.
            min_score: only hits of at least this ``score``, whatever they are ranked by: cosines are at most 1, as are
                scores of BM25; hybrid ones are at most 1 + ``weight``.
            query_vectors: float[q, dim] in the place of, or beside, the texts.
            rewrite: searches by several texts, terms or vectors for each query: ``"feedback"`` (by what its first hits
                say, too), ``"options"`` (queries are pairs of a question and its possible answers), ``"hyde"`` (by a
                passage that a model writes, too), ``"multi"`` (by other queries that it writes), or a function
                (:mod:`pychunk.index.search.query_rewriting`). Their scores, or with ``"rrf"`` their ranks, are fused.
            on_error: what a rewrite or a reranker that fails brings, a rewrite that gives nothing, or scores of NaN:
                ``"raise"`` an error that names the stage and the row, ``"skip"`` the query's hits without that stage,
                with the reason in ``hit.scores["rewrite"]`` or ``hit.scores["rerank"]``.

        Returns:
            One list a query, which a notebook shows as a table, of :class:`Hit`, or of :class:`DocumentHits`; best
            first, of equals the first in the index.

        Raises:
            ValueError: an option out of range, a column that is not there, a condition that cannot be read, queries
                that nothing can encode.
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
        """The levels that a planner chooses for each query, and why; ``words``: how many are to be handed over.

        Raises:
            ValueError: an unknown planner, an index without levels.

        Example:
            >>> import pychunk, tempfile
            >>> from pychunk.index.index import Index
            >>> found = pychunk.segment("Cats purr. They sleep.", levels=["sentence", "document"], vectors="chunk")
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
        """What planners are told of each query.

        Args:
            look: with a first pass over the finest and the coarsest level. hits: how many the search by
                ``fusion="levels"`` that follows asks for: the pass looks for its best sentences by vector.
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
        """What :meth:`search` finds, as rows of :attr:`table` without their texts: for joins and for measuring.

        Returns:
            (rows int64[q, k], scores float32[q, k]); -1 and NaN where there are fewer hits.
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
        """All chunks by row, removed ones too; without vectors.

        Memory-mapped, but for whole numbers, which are of 32 bits on the disk: 80 bytes a chunk from the first use on.
        """
        searcher = self._contents.searcher()
        return pa.table({}) if searcher.stored is None else searcher.table

    @property
    def schema(self) -> pa.Schema:
        """The columns of :attr:`table`; of an empty index none."""
        return self._contents.searcher().schema

    def _queries(self, threads: int | None) -> Queries:
        return Queries(self._contents.layout, self._encoder, threads)
