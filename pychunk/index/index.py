"""The class Index: chunks on disk, which a search finds by meaning, by words, or by both."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
import uuid
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._util.counting import counted
from .._util.lazy_imports import LazyModule, by_name
from .._util.suggestions import with_replacements
from ..defaults import CONTEXTS, SEARCH
from ..encoders import registry
from ..placement import Placement, PlacementLike
from ..telemetry import record, span
from . import argument_checks, chunk_tables, context_vectors, creation, kept_vectors, merge, proposition_vectors
from .add_result import AddResult
from .dense import token_coverage
from .levels import level_selection as by_level
from .options import OF_CREATE, OF_OPEN, OF_PLAN, OF_RANK, OF_SEARCH, Bm25, Expansion, Mode, QueriesLike, Ranking, Stage
from .scoring.level_rows import has_levels
from .scoring.ranking import RankingOptions
from .scoring.subqueries import Subquery
from .search.hits import DocumentHits, Hit, Hits
from .search.queries import Queries, texts_and_vectors
from .search.search_options import SearchOptions
from .stages import Stages
from .store.document_digests import Digests
from .store.index_folder import SCHEMA, Store, Verify
from .store.metadata_columns import columns_not_given, with_columns_of_before, with_metadata
from .store.part import Rows
from .writer import IndexWriter, steady

if TYPE_CHECKING:
    from ..encoders.registry import EncoderLike
    from .planners import planner
else:  # Only some searches import this module.
    planner = LazyModule("pychunk.index.planners.planner")

GIVEN = "given"


class Index:
    """A folder of chunks with their vectors and terms, for one writer and any number of readers.

    :meth:`create` makes an index and :meth:`open` opens one. Searches through this object see the changes of
    :meth:`add` and :meth:`remove` at once; :meth:`save` stores the changes. If the process dies at any moment, the last
    saved state survives. A ``with`` block saves at its end. If an exception leaves the block, nothing is saved, and an
    index that the block created is removed unless it was saved before. Losing unsaved changes gives a warning.

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

    def __init__(
        self,
        store: Store,
        encoder: Any = None,
        placement: Placement | None = None,
        accuracy: int | None = None,
        require: Any = None,
    ) -> None:
        if not isinstance(store, Store):
            raise TypeError(
                f"an index is opened by Index.open(path) or made by Index.create(path); got Index({store!r:.80})"
            )
        where = Placement.of(placement)
        self._is_new, self._placement_given, self._warned_of_contexts = False, where, False
        self._encoder_name: EncoderLike | None = None
        self._store, self._encoder, self._threads = store, encoder, where.threads
        self._placement = where.for_models
        self._process = os.getpid()
        self._open: IndexWriter | None = IndexWriter(store, accuracy, self._placement, require)

    @classmethod
    @with_replacements(OF_CREATE)
    def create(
        cls,
        path: str | Path,
        *,
        encoder: EncoderLike | None = "static",
        vectors: str = "sentence",
        dtype: str = "int8",
        kind: str = "auto",
        bm25: Bm25 | Literal["auto", "words", "ngrams"] | None = "auto",
        dim: int | None = None,
        placement: PlacementLike | None = None,
        accuracy: int | None = None,
        exist_ok: bool = False,
    ) -> Index:
        """Create an empty index in a new or empty folder; with ``exist_ok``, open an existing one with equal options.

        Args:
            path: The folder of the index. It is created if it does not exist.
            encoder: The encoder of the chunks' vectors, which also encodes queries: see :class:`pychunk.Segmenter`.
                None: the caller passes vectors, to ``segment(columns={"sentence_vectors": ...})`` and as queries.
            vectors: The vectors that score a chunk. ``"sentence"`` (default): the vector of its best sentence.
                ``"chunk"``: its own vector. ``"both"``: a weighted sum of the two scores.
            dtype: The type of stored vectors. ``"int8"`` takes one byte a number, with errors of at most 1/254 of the
                vector's largest number; on SQuAD this loses no hit. ``"float16"`` takes twice the space of ``"int8"``,
                and twice its time for one query; it changes cosines by less than 0.001. ``"float32"`` stores vectors
                unchanged.
            kind: The search for the nearest vectors. ``"flat"``: an exact scan; nothing is built. ``"pq"``: product
                quantization, whose codes are built in one scan and take 24 bytes for a vector of 256 numbers.
                ``"hnsw"``: a graph, whose building takes minutes for a million vectors. ``"auto"``: flat up to 512 MB
                of vectors (two million of 256 bytes), else ``"pq"``.
            bm25: The terms that BM25 counts: ``"auto"`` (words, and character n-grams of words that are not English),
                ``"words"``, ``"ngrams"``, or a :class:`pychunk.index.Bm25`; None for an index without BM25.
            dim: The number of dimensions of the vectors that the caller passes, with ``encoder=None``.
            placement: The device, threads and runtime of queries: a :class:`pychunk.Placement`, or the name of a
                device. With ``"cuda"`` a flat index is searched on the GPU, by a GPU build of FAISS or by torch.
            accuracy: See :meth:`open`.
            exist_ok: Whether to open an existing index that was created with the same options.

        Raises:
            ValueError: An option is out of range, or the folder holds other files or an index. With ``exist_ok``, an
                existing index is an error only if its options differ; the message names the options that differ.
            ImportError: ``kind`` is ``"hnsw"``, and FAISS is not installed.
        """
        if accuracy is not None:
            argument_checks.whole("accuracy", accuracy, 1)
        options = creation.options(vectors, dtype, kind, bm25)
        if dim is not None:
            argument_checks.whole("dim", dim, 1)
        if encoder is None and dim is None:
            raise ValueError("encoder=None needs the width of the vectors: pass dim=")
        where = Placement.of(placement)
        made = registry.vector_encoder(encoder, where.for_models) if encoder is not None else None
        if made is not None and dim not in (None, made.dim):
            raise ValueError(
                f"dim= is only for encoder=None; got {dim} with {encoder!r:.80}, whose vectors have {made.dim} numbers"
                ": leave out dim="
            )
        if Path(path).is_file():
            raise ValueError(f"{path} is a file: name a folder, new or empty")
        store = Store(Path(path))
        facts = {
            "name": None if encoder is None else registry.name_of(encoder),
            "fingerprint": GIVEN if made is None else made.fingerprint,
            "dim": dim if made is None else made.dim,
        }
        if not store.exists():
            store.check_alone()
            store.folder.mkdir(parents=True, exist_ok=True)
            store.lock()
            if not store.exists():  # else another process was quicker
                empty = {"chunks": 0, "sentences": 0, "removed": 0, "parts": [], "stored": {}, "files": {}}
                head = {"schema": SCHEMA, "pychunk": native.version, "generation": 0}
                head["context_weight"] = 0.0 if made is None else CONTEXTS.weight
                store.commit({**head, "encoder": facts, "metric": "cosine", **options, **empty})
                new = cls(store, made, where, accuracy)
                new._is_new, new._encoder_name = True, encoder
                return new
            store.unlock()
        if not exist_ok:
            raise ValueError(
                f"{path} holds an index already: Index.open or exist_ok=True opens it; to start over, remove the folder"
            )
        found = steady(lambda: cls._opened(store, encoder, where, accuracy, True), store)
        other = creation.differences(found.info, {**options, "encoder": facts})
        if other:
            found.close()
            raise ValueError(
                f"{path} was created with other options, which cannot change: {', '.join(other)}. Index.open opens it "
                "with its own options; to build it again, remove the folder"
            )
        return found

    @classmethod
    @with_replacements(OF_OPEN)
    def open(
        cls,
        path: str | Path,
        *,
        encoder: EncoderLike | None = None,
        placement: PlacementLike | None = None,
        accuracy: int | None = None,
        verify: Verify = True,
        create: bool = False,
        require: Any = None,
    ) -> Index:
        """Open a saved index. The first :meth:`add` or :meth:`remove` makes this process its writer.

        Args:
            path: The folder of the index.
            encoder: The encoder of queries. None: the encoder with which the index was created.
            placement: See :meth:`create`.
            accuracy: The number of candidates that an approximate search scores. More candidates are slower and find
                more. None: with ``"pq"`` at least 512, and as many as it took to find 0.985 of the nearest vectors when
                the index was built; with ``"hnsw"`` 96.
            verify: True: compare the checksums of all blocks of 64 KiB, which takes 0.2 s of processor time for a
                gigabyte. ``"headers"``: compare the checksums of headers now, and of each block when it is first read.
                Damage is then an error and never changes hits. A file that an older version of pychunk saved may have
                no checksums of blocks; it is then checked as a whole before it is used, which takes a second for a
                gigabyte. False: compare no checksum; damage cannot crash the process, but it may change hits.
            create: Whether to create an index with the default options of :meth:`create` if none exists.
            require: A condition like ``where`` of :meth:`search`, such as ``{"tenant": "a"}``. The opened index holds
                only the chunks that meet it: no search, filter, expansion or other method returns any other chunk or
                counts it, and a null does not meet it. Such an index cannot be changed.

        Raises:
            ValueError: There is no index, a newer version saved it, a file is damaged or missing, or ``encoder`` is not
                the encoder of the index's vectors. The message says which.
        """
        if verify not in (True, False, "headers"):
            raise ValueError(f"verify must be True, False or 'headers'; got {verify!r:.80}")
        if accuracy is not None:
            argument_checks.whole("accuracy", accuracy, 1)
        store = Store(Path(path))
        if create and require is not None:
            raise ValueError(
                "require= cannot be combined with create=True, because such an index cannot be changed: leave one out"
            )
        if create and not store.exists():
            name = "static" if encoder is None else encoder
            return cls.create(path, encoder=name, placement=placement, accuracy=accuracy, exist_ok=True)
        where = Placement.of(placement)
        return steady(lambda: cls._opened(store, encoder, where, accuracy, verify, require), store)

    @classmethod
    def _opened(
        cls, store: Store, encoder: Any, where: Placement, accuracy: int | None, verify: Verify, require: Any = None
    ) -> Index:
        facts = store.read(verify=verify)["encoder"]
        wanted = facts["name"] if encoder is None else encoder
        made = None
        if wanted is not None:
            try:
                made = registry.vector_encoder(wanted, where.for_models)
            except ValueError as error:
                if encoder is not None:
                    raise
                gone = str(error).startswith("unknown encoder")
                reason = "no folder of this name holds a model" if gone else str(error)
                raise ValueError(
                    f"{store.folder} has vectors of the encoder {wanted!r}, which cannot be loaded ({reason}): restore "
                    "it, or pass encoder= with its folder or with the pychunk.Encoder"
                ) from None
            if made.fingerprint != facts["fingerprint"]:
                raise ValueError(
                    f"{store.folder} holds vectors of encoder {facts['name']!r} ({facts['fingerprint']}), and "
                    f"{registry.name_of(wanted)!r} is {made.fingerprint}: open with the encoder that made them, or "
                    "build it again"
                )
        found = cls(store, made, where, accuracy, require)
        found._encoder_name = wanted
        return found

    # Facts and contents

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
        """The number of chunks that were added after the last save, and have already been replaced or removed again."""
        return self._contents.replaced

    @property
    def path(self) -> Path:
        """The folder of the index."""
        return self._store.folder

    @property
    def info(self) -> dict[str, Any]:
        """The options with which the index was created, and its contents as last saved.

        ``recall``, with kind ``"pq"``, maps ``"sentences"`` and ``"chunks"`` to the recall of their codes: the share of
        the ten nearest vectors that a search found, measured for a sample when the codes were made. ``pooling``, in an
        index of levels, says how the vectors of nodes were computed: ``"tokens"`` for means weighted by tokens, or the
        fingerprint of a compressor. ``late_chunking`` is True if the vectors of chunks were made by late chunking;
        otherwise it is missing. ``tokenizer`` names the tokenizer that counted the tokens of the chunks.
        ``context_weight`` is the weight of contexts in vectors
        (:mod:`pychunk.index.context_vectors`). It is 0 if an older version of pychunk created the index, or the caller
        passes its vectors.
        """
        facts = self._contents.store.manifest
        kept = ("pychunk", "encoder", "metric", "vectors", "dtype", "kind", "terms", "bm25", "chunks", "sentences")
        sizes = [size for size, _ in self._store.files(facts).values()]
        recalls = {name: own["recall"] for name, own in facts["stored"].items() if "recall" in own}
        recall = {"recall": recalls} if recalls else {}
        named: dict[str, Any] = {name: facts[name] for name in ("pooling", "tokenizer") if name in facts}
        return {
            **{name: facts[name] for name in kept},
            **recall,
            **named,
            **({"late_chunking": True} if facts.get("late_chunking") else {}),
            "context_weight": facts.get("context_weight", 0.0),
            "removed": facts["removed"],
            "bytes": sum(sizes),
        }

    @property
    def user_data(self) -> dict[str, str]:
        """Texts that a program may store in the index, such as notes for its next run. :meth:`save` stores them."""
        return self._contents.user_data

    def ids(self, where: Any = None) -> list[Any]:
        """Return the ids of the documents that have chunks in the index, in the order in which they were added.

        Args:
            where: The filter that at least one of a document's chunks must meet: see :meth:`search`.

        Raises:
            ValueError: The chunks have no ids.
        """
        table = self._contents.searcher().stored
        if table is None:
            return []
        if "document_id" not in table.column_names:
            raise ValueError("documents of this index have no ids: segment with ids=")
        self._contents.searcher().check(["document_id"])
        allowed = self._contents.searcher().allowed(where, None)
        alive = pa.array(self._contents.searcher().alive if allowed is None else allowed)
        found: list[Any] = table["document_id"].filter(alive).unique().drop_null().to_pylist()
        return list(map(uuid.UUID, found)) if self._contents.uuids else found

    def __contains__(self, id: object) -> bool:
        """Return whether the index has chunks of a document.

        Each call scans all ids; to look up many documents, call :meth:`ids` once.
        """
        return self.count(ids=[id]) > 0

    def count(self, where: Any = None, ids: Sequence[Any] | None = None) -> int:
        """Return the number of chunks that a search with these filters considers; without filters, all chunks."""
        allowed = self._contents.searcher().allowed(where, ids)
        return len(self) if allowed is None else int(allowed.sum())

    def get(self, id: Any) -> pa.Table:
        """Return the chunks of a document in their order, without vectors; no rows if the index lacks the document.

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

    def diff(self, documents: Digests) -> npt.NDArray[np.bool_]:
        """Return bool[n]: which of n documents are new, or differ from their version in the index.

        Unchanged documents need not be segmented and added again. The call makes this process the writer, so the answer
        stays true until this process adds chunks.

        Args:
            documents: The result of :func:`pychunk.index.store.document_digests.of`. Each digest is compared with the
                one that was passed to :meth:`add` with the document. A document counts as new if it was added without
                a digest, or if it or one of its chunks was removed.

        Example:
            >>> import pychunk, tempfile, pyarrow as pa
            >>> from pychunk.index.store import document_digests
            >>> from pychunk.index.index import Index
            >>> seg = pychunk.Segmenter("sentence", vectors="sentence")
            >>> table = pa.table({"id": ["cats", "rust"], "text": ["Cats purr.", "Rust is safe."]})
            >>> with tempfile.TemporaryDirectory() as folder, Index.create(folder + "/pets") as index:
            ...     for _ in range(2):
            ...         documents = document_digests.of(table, ["text"], seg.options)
            ...         new = index.diff(documents)
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
        """Add chunks, which replace earlier chunks with the same document ids, or without ids, equal earlier chunks.

        A document that is added again keeps the values of metadata columns that you do not pass again. A value that you
        pass as null replaces the earlier value.

        Args:
            chunks: The result of :func:`pychunk.segment`, or a chunk table that was read from a file. If the chunks
                have no vectors, the index encodes each chunk by itself. A chunk that replaces one with the same text,
                context and propositions keeps its vectors, bit for bit, and is not encoded again. With
                ``segment(..., vectors="sentence")``, the index instead stores the sentence vectors of the segmentation.
                They need not be computed twice, and a sentence that two chunks share was encoded as a whole.
            metadata: Columns to filter by, in a mapping or a table, with one value for each document of the batch; or
                names of columns of the chunk table. The index keeps all columns of the chunk table
                (``segment(metadata_columns=...)``), whether or not you name them.
            documents: The digests of the documents and options from which the chunks were made, for :meth:`diff`. If a
                document has no chunks, because its text is blank, the earlier chunks with its id are still removed.
                With digests, metadata columns that you do not pass become null.
            on_duplicate: ``"raise"``: several documents with the same id in this call are an error. ``"merge"``: such
                documents are parts of one document, such as rows of a table of paragraphs, and are joined with blank
                lines between them (:func:`pychunk.index.merge.merged`). In both cases, a document that the index
                already has under the same id is replaced.

        Returns:
            The number of chunks added. Its attributes are the numbers of new and of replaced documents.

        Raises:
            ValueError: Vectors are missing and the index has no encoder; vectors are not finite, or come from another
                encoder than the index's; the vectors of nodes were computed with another pooling than those in the
                index; late chunking made the vectors in the index but not those of the chunks, or the reverse; another
                tokenizer counted the tokens of the chunks than those in the index, and you passed no digests; two
                documents have the same id; chunks do not belong to ``documents``; or another process is the
                writer.
        """
        self._contents.begin_writing()
        table = chunk_tables.as_table(chunks)
        if metadata is not None:
            table = with_metadata(table, chunks, argument_checks.columns(metadata, table))
        chunk_tables.check_text_ids(table)
        if documents is None and table.num_rows and (lacks := columns_not_given(table, self._contents.schema)):
            table = with_columns_of_before(table, self._contents.chunks_of(chunk_tables.keys(table).unique(), lacks))
        if on_duplicate not in ("raise", "merge"):
            raise ValueError(f"on_duplicate must be 'raise' or 'merge'; got {on_duplicate!r:.80}")
        if on_duplicate == "merge":
            table = merge.merged(table)
        layout, is_late = self._contents.layout, chunk_tables.is_late(table)
        if table.num_rows:
            chunk_tables.check_late(self._contents.late_chunking, is_late)
        counter = chunk_tables.counter_of(table)
        if documents is None:  # Digests include the tokenizer: with them, a run replaces all counts.
            chunk_tables.check_tokenizer(self._contents.tokenizer, counter, lambda: self._replaces_all(table))
        if self._encoder_name is not None and chunk_tables.lacks_vectors(table):
            rows = self._encoded(table)
        else:
            rows = self._as_stored(table)
        self._warn_of_contexts(rows.table)
        pooling = chunk_tables.pooling(table) if layout.pooled else None
        chunk_tables.check_pooling(self._contents.pooling, pooling)
        if table.num_rows == 0 and not documents:
            return AddResult()
        if table.num_rows and has_levels(self._contents.schema) and not has_levels(table.schema):
            warnings.warn(
                "these chunks have no level, so searches by levels or with a planner never find them: "
                "add the chunks of pychunk.segment_levels(...).chunks()",
                stacklevel=2,
            )
        late, keys = chunk_tables.outdated(table), chunk_tables.keys(table)
        unique = keys.unique() if documents is None else documents.ids
        if documents is not None:
            chunk_tables.check_documents(table, documents.ids)
        replaced = len(self._contents.add(rows, keys, late, documents, uuids=chunk_tables.of_uuids(table)))
        self._contents.pooling = pooling or self._contents.pooling
        if table.num_rows:
            self._contents.late_chunking = is_late
            self._contents.tokenizer = counter or self._contents.tokenizer
        return AddResult(int((~late).sum()), added=len(unique) - replaced, replaced=replaced)

    def _replaces_all(self, table: pa.Table) -> bool:
        """Return whether a table's documents replace all chunks of the index."""
        if "document_id" not in table.column_names or "document_id" not in self.schema.names:
            return not len(self)
        replaced: int = self._contents.chunks_of(chunk_tables.keys(table).unique(), []).num_rows
        return len(self) == replaced

    def _encoded(self, table: pa.Table) -> Rows:
        """Return a table without vectors as rows in their stored form.

        Chunks that replace equal ones keep their stored vectors, and only the others are encoded.
        """
        plain = chunk_tables.plain(table)
        chunks, held = kept_vectors.kept(plain, self._contents.encoded_rows(chunk_tables.keys(table).unique()))
        if held is not None and len(chunks) == table.num_rows:
            return kept_vectors.joined(plain, [(chunks, held)])
        new = np.ones(table.num_rows, np.bool_)
        new[chunks] = False
        made = chunk_tables.encode_chunks(
            table if held is None else table.filter(pa.array(new)),
            self._encoder_name,
            vectors=self._contents.layout.vectors,
            placement=self._placement_given,
        )
        rows = replace(self._as_stored(made), encoded_by=native.version)
        if held is not None:
            rows = kept_vectors.joined(plain, [(chunks, held), (np.flatnonzero(new), rows)])
        return rows

    def _as_stored(self, table: pa.Table) -> Rows:
        """Return a table with vectors as rows in the form in which the index stores them."""
        layout = self._contents.layout
        rows = chunk_tables.rows_of(table, layout, self._store.manifest["encoder"]["fingerprint"])
        rows = rows.stored(layout.dtype, self._vectors_of_contexts(rows.table))
        if self._encoder is None:
            return rows
        rows = rows.without_vectors(token_coverage.unread(self._encoder, table["text"]))
        return proposition_vectors.with_propositions(
            rows, self._encoder_name, self._encoder, placement=self._placement_given
        )

    def _vectors_of_contexts(self, table: pa.Table) -> native.Added | None:
        """Return what contexts add to the vectors of chunks."""
        weight = self._store.manifest.get("context_weight", 0.0)
        if context_vectors.without_effect(self._contents.layout, self._encoder, weight) is not None:
            return None
        return context_vectors.of_chunks(
            table, self._encoder_name, self._encoder, weight, placement=self._placement_given
        )

    def _warn_of_contexts(self, table: pa.Table) -> None:
        """Warn once if chunks have contexts, and contexts cannot change the vectors of this index."""
        weight = self._store.manifest.get("context_weight", 0.0)
        said = context_vectors.without_effect(self._contents.layout, self._encoder, weight)
        if said is not None and not self._warned_of_contexts and context_vectors.has_contexts(table):
            self._warned_of_contexts = True
            warnings.warn(said, stacklevel=3)

    def remove(
        self,
        ids: Sequence[Any] | None = None,
        *,
        chunk_ids: Sequence[str] | None = None,
        text_ids: Sequence[str] | None = None,
    ) -> int:
        """Remove documents by id, or single chunks by chunk id or text id, and return the number of removed chunks.

        Ids that the index does not have are ignored.

        Raises:
            ValueError: You passed ids or text_ids, but the documents of the index have no ids.
        """
        given = {"document_id": ("ids", ids), "chunk_id": ("chunk_ids", chunk_ids), "text_id": ("text_ids", text_ids)}
        said = [column for column, (_, values) in given.items() if values is not None]
        if len(said) != 1:
            named = ", ".join(given[column][0] for column in said) or "none of them"
            raise ValueError(f"remove() takes one of ids, chunk_ids and text_ids; got {named}")
        name, values = given[said[0]]
        wanted = argument_checks.ids(name, values)
        self._contents.begin_writing()
        if name != "chunk_ids" and len(wanted) and self.schema.names and "document_id" not in self.schema.names:
            what = "document" if name == "ids" else "chunk"
            raise ValueError(
                f"{name}= names {counted(len(wanted), what)}, but the documents of this index have no ids: remove "
                "their chunks by chunk_ids=, or build the index again from chunks that were segmented with ids="
            )
        before = len(self)
        self._contents.remove(wanted, said[0])
        return before - len(self)

    def save(self) -> None:
        """Store all additions and removals in one step: a reader sees the state before the save or after it.

        After an error, such as a full disk, no addition is lost: make room and call this again. If :meth:`add` fails,
        it adds nothing.
        """
        self._contents.begin_writing()
        self._contents.save()
        record(logging.INFO, "index.save", "%(folder)s is saved", folder=str(self.path), chunks=len(self))

    def refresh(self) -> bool:
        """Load what another process has saved since this index was loaded, and return whether there was anything."""
        contents = self._contents
        return not self._store.locked and contents.refresh()

    def close(self, *, discard: bool = False) -> None:
        """Close the index, so that another process can become its writer. To use it again, open it.

        Unsaved changes are lost, with a warning unless ``discard`` is True.
        """
        self._close(discard)

    def _close(self, discard: bool = False, *, erase: bool = False) -> None:
        if self._open is None:
            return
        contents, self._open = self._open, None
        contents.close()
        own = os.getpid() == self._process  # In a forked child, closing loses nothing: the parent has the changes.
        if own and self._store.locked and not sys.is_finalizing():
            with contextlib.suppress(OSError):  # The folder may be gone.
                self._store.sweep()  # Otherwise gigabytes of unsaved files would stay until the next writer.
        if erase and own:
            self._store.erase()
        self._store.unlock()
        if contents.dirty and not discard and own:
            warnings.warn(
                f"the index {str(self.path)!r} was closed with changes that were not saved: they are gone. Call save() "
                "before, or close(discard=True)",
                stacklevel=3,  # The warning then names the line of the caller.
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
        """Save and close. After an exception, save nothing, and remove an index that was created and never saved."""
        if kind is not None or self._open is None:
            if self._is_new and self._open is not None and self._store.generation() == 0:
                self._close(discard=True, erase=True)
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

    @with_replacements(OF_SEARCH)
    def search(
        self,
        queries: QueriesLike,
        k: int = SEARCH.k,
        mode: Mode = SEARCH.mode,
        *,
        where: Any = None,
        ids: Sequence[Any] | None = None,
        ranking: Ranking | None = None,
        expansion: Expansion | int | Literal["subtree", "section"] | None = None,
        stages: Stage | Sequence[Stage] = (),
    ) -> Hits[Hits[Hit]]:
        """Return the best chunks for each query. One call can search many queries together.

        Args:
            queries: One text or several; or vectors, float[q, dim] for q queries; or a pair of both, (texts, vectors).
            k: The number of hits for each query.
            mode: ``"dense"`` (vectors), ``"sparse"`` (BM25) or ``"hybrid"`` (both).
            where: The filter on columns of chunks, in one of three forms. A dict, ``{"lang": "de", "year": {"gte":
                2015}}``, has for each column a value, a list of values, or comparisons (``eq``, ``ne``, ``gt``,
                ``gte``, ``lt``, ``lte``, ``in``). A text, ``"year >= 2015 and lang in ('de', 'en')"``, may use ``and``,
                ``or``, ``not``, brackets and ``is null``. Or an expression of ``pyarrow.compute``. In a dict or a text,
                a column of lists matches if one of its values does, and a comparison with null is false.
            ids: The ids of the documents to search; all other documents are ignored. The number 7 and the text ``"7"``
                are the same id.
            ranking: The combination of scores, levels and planner: :class:`pychunk.index.Ranking`.
            expansion: The text around each hit and the word budget: a :class:`pychunk.index.Expansion`, or only the
                value of its attribute ``by``: the number of chunks on either side, ``"subtree"`` or ``"section"``.
            stages: Query rewriting and reranking: at most one :class:`pychunk.index.Rewrite` and one
                :class:`pychunk.index.Rerank`.

        Returns:
            One list of :class:`Hit` for each query, best first. Hits with equal scores are in the order of the index. A
            notebook shows the lists as a table.

        Raises:
            ValueError: An option is out of range, a column does not exist, a filter cannot be parsed, or no encoder
                can encode the queries.

        Example:
            >>> import pychunk, tempfile
            >>> chunks = pychunk.segment(["Cats purr.", "Stars shine."], "sentence", vectors="sentence", ids=["a", "b"])
            >>> with tempfile.TemporaryDirectory() as folder, pychunk.Index.create(folder + "/i") as index:
            ...     added = index.add(chunks)
            ...     [[hit.document_id for hit in hits] for hits in index.search(["Who purrs?"], 1)]
            [['a']]
        """
        own = SearchOptions.of(
            k, mode, where=where, ids=ids, ranking=ranking, expansion=expansion, stages=stages, threads=self._threads
        )
        found: Hits[Hits[Hit]] = self._searched(queries, own)
        return found

    async def asearch(
        self, queries: QueriesLike, k: int = SEARCH.k, mode: Mode = SEARCH.mode, **options: Any
    ) -> Hits[Hits[Hit]]:
        """Return the best chunks for each query, like :meth:`search`, without blocking the event loop.

        A thread of the loop's default executor searches, as for :meth:`pychunk.Segmenter.acall`. If the task is
        cancelled, the search in the thread ends, too.

        Args:
            queries: See :meth:`search`.
            k: See :meth:`search`.
            mode: See :meth:`search`.
            **options: The further arguments of :meth:`search`.

        Raises:
            ValueError: See :meth:`search`.

        Example:
            >>> import asyncio, pychunk, tempfile
            >>> chunks = pychunk.segment(["Cats purr.", "Stars shine."], "sentence", vectors="sentence", ids=["a", "b"])
            >>> with tempfile.TemporaryDirectory() as folder, pychunk.Index.create(folder + "/i") as index:
            ...     added = index.add(chunks)
            ...     [hit.document_id for hit in asyncio.run(index.asearch("Who purrs?", 1))[0]]
            ['a']
        """
        from ..async_calls import in_thread  # imported here because asyncio takes a quarter of pychunk's import time

        return await in_thread(functools.partial(self.search, queries, k, mode, **options))

    @with_replacements(OF_SEARCH)
    def search_documents(
        self,
        queries: QueriesLike,
        k: int = SEARCH.k,
        mode: Mode = SEARCH.mode,
        *,
        where: Any = None,
        ids: Sequence[Any] | None = None,
        ranking: Ranking | None = None,
        expansion: Expansion | int | Literal["subtree", "section"] | None = None,
        stages: Stage | Sequence[Stage] = (),
    ) -> Hits[Hits[DocumentHits]]:
        """Return the best documents for each query, each with its best chunk.

        The arguments are those of :meth:`search`, but ``k`` is the number of documents. A reranker gets only the best
        chunk of each document, and its score of that chunk becomes the document's score.

        Returns:
            One list of :class:`DocumentHits` for each query, best first.

        Raises:
            ValueError: See :meth:`search`.
        """
        own = SearchOptions.of(
            k, mode, where=where, ids=ids, ranking=ranking, expansion=expansion, stages=stages, threads=self._threads
        )
        found: Hits[Hits[DocumentHits]] = self._searched(queries, replace(own, by_document=True))
        return found

    def _searched(self, queries: QueriesLike, options: SearchOptions) -> Any:
        texts, vectors = texts_and_vectors(queries)
        with span("pychunk.search") as traced:
            if options.plan is not None:
                found = planner.searched(self, self._hits, texts, vectors, options)
            else:
                found = self._hits(texts, vectors, options)
            if traced is not None:
                traced.set_attributes({"pychunk.queries": len(found), "pychunk.k": options.k})
        return found

    def _hits(self, queries: Any, query_vectors: Any, options: SearchOptions) -> Hits[Any]:
        encoder = self._store.manifest["encoder"]["fingerprint"]
        reader = self._queries(options.threads)
        return Stages(self._contents, reader, self._placement, encoder, options).hits(queries, query_vectors)

    @with_replacements(OF_PLAN)
    def plan(
        self, queries: str | Sequence[str], by: Any = "rules", *, max_words: int | None = None
    ) -> list[planner.Plan]:
        """Return the levels that a planner chooses for each query, with the reasons.

        Args:
            queries: One text or several.
            by: The planner: see :class:`pychunk.index.Ranking`.
            max_words: The word budget of each query.

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
        return planner.plans(self, by, queries, max_words=max_words)

    def plan_metadata(
        self,
        queries: Sequence[str],
        *,
        max_words: int | None = None,
        look: bool = True,
        hits: int = 5,
        headings: bool = False,
    ) -> list[planner.Metadata]:
        """Return the facts about each query that planners use.

        Args:
            queries: The texts of the queries.
            max_words: The word budget of each query.
            look: Whether to search the finest and the coarsest level in a first pass, whose results planners read.
            hits: The number of hits that the later search with ``fusion="levels"`` will request. The first pass
                computes as many of the best sentences by cosine as that search needs, so that it need not compute them
                again.
            headings: Whether to read the first lines of the sections of the first hits.
        """
        terms = self._contents.layout.analyzer is not None
        ranking = RankingOptions("dense" if not terms else "hybrid" if self._encoder is not None else "sparse")
        reader = self._queries(self._threads)
        vectors = reader.vectors(list(queries), None, ranking.mode) if look and queries else None
        searcher = self._contents.searcher()
        probes = (
            reader.probes(list(queries), vectors, ranking, searcher) if look else [[Subquery(text)] for text in queries]
        )
        encoder = str(self._store.manifest["encoder"]["fingerprint"])
        told = ranking if look else None
        return planner.metadata_of(
            searcher,
            probes,
            words=max_words,
            encoder=encoder,
            ranking=told,
            hits=hits,
            headings=headings,
            threads=self._threads,
        )

    @with_replacements(OF_RANK)
    def rank(
        self,
        queries: QueriesLike,
        k: int = SEARCH.k,
        mode: Mode = SEARCH.mode,
        *,
        ranking: Ranking | None = None,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Return the hits of :meth:`search` as row numbers of :attr:`table`, without texts.

        This is enough for joins and measurements.

        Args:
            queries: See :meth:`search`.
            k: The number of hits for each query.
            mode: See :meth:`search`.
            ranking: See :meth:`search`. ``planner`` and ``min_score`` are not allowed here.

        Returns:
            (rows int64[q, k], scores float32[q, k]) for q queries; padded with -1 and NaN if there are fewer hits.
        """
        own = SearchOptions.of(
            k, mode, where=None, ids=None, ranking=ranking, expansion=None, stages=(), threads=self._threads
        )
        if own.plan is not None or own.min_score is not None:
            raise ValueError(
                f"rank() does not support planner and min_score in its Ranking; got planner {own.plan!r:.80} and "
                f"min_score {own.min_score!r:.80}: leave them out, or call search()"
            )
        chosen, threads, levels = own.ranking, own.threads, own.levels
        argument_checks.whole("k", k, 1)
        reader = self._queries(threads)
        texts, vectors = reader.read(*texts_and_vectors(queries), chosen)
        rows, scores = np.full((len(texts), k), -1, np.int64), np.full((len(texts), k), np.nan, np.float32)
        searcher = self._contents.searcher()
        if searcher.stored is not None and texts:
            names = [] if levels is None else by_level.between(levels, searcher.levels)
            allowed = searcher.allowed(None, None, names)
            probes = reader.probes(texts, vectors, chosen, searcher)
            if own.fusion == "levels":
                ranked = searcher.rank_across(probes, k, chosen, allowed, threads, names=names, kept=True)
            else:
                choose = searcher.apart if len(names) > 1 else None
                ranked = searcher.rank(probes, k, chosen, allowed, threads, choose=choose, names=names)
            for i, (found, _, _) in enumerate(ranked):
                rows[i, : len(found.chunks)], scores[i, : len(found.chunks)] = found.chunks, found.scores
        return rows, scores

    @property
    def table(self) -> pa.Table:
        """The table of all chunks by row, including removed ones, without vectors.

        An index that is opened with ``require`` has no such table.

        Its columns are memory-mapped, except columns of integers. Those are stored with 32 bits and converted to 64
        bits at their first use, which takes 80 bytes of memory a chunk.
        """
        if self._contents.require is not None:
            raise ValueError(
                "an index that is opened with require= shows no table of all chunks: call get(id) or search"
            )
        searcher = self._contents.searcher()
        return pa.table({}) if searcher.stored is None else searcher.table

    @property
    def schema(self) -> pa.Schema:
        """The columns of :attr:`table`; an empty index has none."""
        return self._contents.searcher().schema

    def _queries(self, threads: int | None) -> Queries:
        return Queries(self._contents.layout, self._encoder, threads)
