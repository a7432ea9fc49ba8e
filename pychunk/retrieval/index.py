"""Index: chunks on disk, found again by meaning, by words, or both."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .. import _native
from ..encoders import registry
from . import ingest, rerank
from .hits import DocumentHits, Hit
from .part import Layout, Part, PartWriter, Rows, flush, slices
from .searcher import Ranking, Searcher
from .store import SCHEMA, Store, checksum
from .terms import Analyzer
from .vectors import ACCURACY, KINDS, VectorIndex, choose, import_faiss

#: Chunks of one part: bounds what a writer holds in memory (postings, about 1 kB a chunk of 100 words).
PART_CHUNKS = 65_536
#: So many small parts at the end are written together as one when the index is saved.
_SMALL_PARTS = 8
#: Share of removed chunks above which saving writes the rest anew.
_SPARSE = 0.5
GIVEN = "given"

_T = TypeVar("_T")


class Index:
    """Chunks with their vectors and words in a folder, for any number of readers and one writer.

    Made by :meth:`create` and :meth:`open`. What :meth:`add` and :meth:`remove` did is found at once by this object,
    and kept from :meth:`save` on: whatever moment the process dies at, the folder holds what was saved last.

    Example:
        >>> import pychunk, tempfile
        >>> from pychunk.retrieval.index import Index
        >>> texts = ["Cats purr when content.", "Rust is memory safe."]
        >>> chunks = pychunk.segment(texts, method="sentence", vectors="sentence")
        >>> with tempfile.TemporaryDirectory() as folder, Index.create(folder + "/pets") as index:
        ...     index.add(chunks)
        ...     index.save()
        ...     index.search("Why do cats purr?", k=1)[0][0].text
        2
        'Cats purr when content.'
    """

    def __init__(self, store: Store, encoder: Any, runtime: str, accuracy: int) -> None:
        self._store, self._encoder, self._runtime, self._accuracy = store, encoder, runtime, accuracy
        self._load()

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        encoder: str | Path | None = "static",
        vectors: str = "sentence",
        dtype: str = "float16",
        kind: str = "auto",
        terms: str | None = "words",
        ngram: int = 3,
        stemmer: str | None = None,
        stop_words: Sequence[str] = (),
        k1: float = 0.9,
        b: float = 0.4,
        dim: int | None = None,
        runtime: str = "onnxruntime",
        accuracy: int = ACCURACY,
    ) -> Index:
        """A new, empty index in a folder that holds none.

        Args:
            path: the folder; made where there is none.
            encoder: whose vectors chunks bring, and what encodes queries: as for :class:`pychunk.Segmenter`. ``None``:
                vectors that were given to ``segment(sentence_vectors=...)``; queries come as vectors, too.
            vectors: ``"sentence"`` (default): a chunk scores as the best of its sentences; ``"chunk"``: by one vector
                of its own; ``"both"``: by a blend.
            dtype: ``"float16"`` (half the size; cosines change by less than 0.001) or ``"float32"``.
            kind: ``"flat"`` (exact), ``"hnsw"``, ``"ivfpq"`` (smallest), or ``"auto"``: flat below 200,000 vectors,
                HNSW below 5 million.
            terms: what BM25 counts: ``"words"``, ``"ngrams"`` (inflected and unspaced languages) or ``None`` for no
                BM25. ngram, stemmer, stop_words: see :class:`pychunk.retrieval.terms.Analyzer`.
            k1, b: BM25's parameters.
            dim: width of given vectors, with ``encoder=None``.

        Raises:
            ValueError: an option out of range, or a folder that holds an index already.
            ImportError: FAISS is not installed.
        """
        import_faiss()
        for name, value, choices in (
            ("vectors", vectors, ("sentence", "chunk", "both")),
            ("dtype", dtype, ("float16", "float32")),
            ("kind", kind, ("auto", *KINDS)),
            ("terms", terms, ("words", "ngrams", None)),
        ):
            if value not in choices:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")
        if encoder is None and dim is None:
            raise ValueError("with encoder=None the width of the vectors must be given: dim=")
        made = registry.vector_encoder(encoder, runtime) if encoder is not None else None
        analyzer = None
        if terms is not None:
            analyzer = Analyzer(terms, ngram=ngram, stemmer=stemmer, stop_words=stop_words).options()
        store = Store(Path(path))
        if store.exists():
            raise ValueError(f"{path} holds an index already: Index.open adds to it; or remove the folder")
        store.folder.mkdir(parents=True, exist_ok=True)
        store.lock()
        if store.exists():  # another process was quicker
            raise ValueError(f"{path} holds an index already: Index.open adds to it; or remove the folder")
        store.commit(
            {
                "schema": SCHEMA,
                "pychunk": _native.version,
                "generation": 0,
                "encoder": {
                    "name": None if encoder is None else str(encoder),
                    "fingerprint": GIVEN if made is None else made.fingerprint,
                    "dim": dim if made is None else made.dim,
                },
                "metric": "cosine",
                "vectors": vectors,
                "dtype": dtype,
                "kind": kind,
                "terms": analyzer,
                "bm25": {"k1": k1, "b": b},
                "chunks": 0,
                "sentences": 0,
                "removed": 0,
                "parts": [],
                "stored": {},
                "files": {},
            }
        )
        return cls(store, made, runtime, accuracy)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        encoder: str | Path | None = None,
        runtime: str = "onnxruntime",
        accuracy: int = ACCURACY,
        verify: bool = True,
    ) -> Index:
        """An index that was saved; the first :meth:`add` or :meth:`remove` makes this process its writer.

        Args:
            path: the folder.
            encoder: what encodes queries; ``None``: the encoder that the index was created with.
            accuracy: candidates (HNSW) or cells (IVF-PQ) that a search looks at.
            verify: compare the checksum of every file (about a second a gigabyte), else only sizes.

        Raises:
            ValueError: no index, a newer version's, a damaged or missing file, another encoder; says which.
        """
        store = Store(Path(path))
        return _steady(lambda: cls._opened(store, encoder, runtime, accuracy, verify), store)

    @classmethod
    def _opened(cls, store: Store, encoder: Any, runtime: str, accuracy: int, verify: bool) -> Index:
        facts = store.read(verify=verify)["encoder"]
        wanted = facts["name"] if encoder is None else encoder
        made = None
        if wanted is not None:
            made = registry.vector_encoder(wanted, runtime)
            if made.fingerprint != facts["fingerprint"]:
                raise ValueError(
                    f"{store.folder} holds vectors of encoder {facts['name']!r} ({facts['fingerprint']}), and "
                    f"{str(wanted)!r} is {made.fingerprint}: open with the encoder that made them, or build it again"
                )
        return cls(store, made, runtime, accuracy)

    def _load(self) -> None:
        """Take up the state that the manifest says."""
        manifest = self._store.manifest
        terms = manifest["terms"]
        analyzer = Analyzer(**terms) if terms else None
        self._layout = Layout(manifest["vectors"], manifest["encoder"]["dim"], manifest["dtype"], analyzer)
        self._names = [part["name"] for part in manifest["parts"]]
        self._parts = [Part.load(self._store.folder / name, self._layout) for name in self._names]
        self._schema: pa.Schema | None = None
        for part in self._parts:
            self._schema = ingest.joined(self._schema, part.table.schema)
        self._removed = np.zeros(manifest["chunks"], np.bool_)
        for name in manifest["files"]:
            if name.startswith("removed-"):
                self._removed[np.load(self._store.folder / name)] = True
        # Opened now: the file may be gone when the first search reads it.
        self._stored = {
            name: (own, pa.memory_map(str(self._store.folder / own["file"])))
            for name, own in manifest["stored"].items()
        }
        self._generation = manifest["generation"]
        self._writer: PartWriter | None = None
        self._new_keys: set[str] = set()
        self._searcher: Searcher | None = None
        self._dirty = False

    # What an index is

    def __len__(self) -> int:
        """Chunks that can be found."""
        return int((~self._removed).sum())

    def __repr__(self) -> str:
        facts = self._store.manifest
        name = facts["encoder"]["name"] or GIVEN
        return f"<Index {str(self.path)!r}: {len(self):,} chunks, {facts['vectors']} vectors of {name!r}>"

    @property
    def path(self) -> Path:
        return self._store.folder

    @property
    def info(self) -> dict[str, Any]:
        """What the index was created with, and what it holds as last saved."""
        facts = self._store.manifest
        kept = ("pychunk", "encoder", "metric", "vectors", "dtype", "kind", "terms", "bm25", "chunks", "sentences")
        sizes = [size for size, _ in self._store.files(facts).values()]
        return {**{name: facts[name] for name in kept}, "removed": facts["removed"], "bytes": sum(sizes)}

    # Writing

    def add(self, chunks: Any, *, metadata: Mapping[str, Sequence[Any]] | None = None) -> int:
        """Add chunks; those of a document id that is there already (without ids: the same chunks) are replaced.

        Args:
            chunks: what ``segment(..., vectors=...)`` returned, or a chunk table read back from a file.
            metadata: columns of one value for each document of the batch, to filter by; or columns of the table itself
                that are not pychunk's.

        Returns:
            The number of chunks added.

        Raises:
            ValueError: vectors that are missing or another encoder's, another process that writes.
        """
        self._begin_writing()
        table = ingest.as_table(chunks)
        if metadata:
            table = _with_metadata(table, getattr(chunks, "first_document", 0), metadata)
        rows = ingest.rows_of(table, self._layout, self._store.manifest["encoder"]["fingerprint"])
        if table.num_rows == 0:
            return 0
        self._schema = ingest.joined(self._schema, rows.table.schema)
        keys = ingest.keys(table)
        self._replace(keys)
        late = np.flatnonzero(ingest.outdated(table))
        begin = len(self._removed)
        for piece in slices(rows, 8192):
            self._append(piece)
        self._new_keys.update(keys.to_pylist())
        self._removed = np.concatenate([self._removed, np.zeros(table.num_rows, np.bool_)])
        self._removed[begin + late] = True
        self._changed()
        return int(table.num_rows - len(late))

    def remove(self, ids: Sequence[Any] | None = None, *, chunk_ids: Sequence[str] | None = None) -> int:
        """Remove documents by id, or single chunks; the number of chunks removed. Unknown ones count as none."""
        if (ids is None) == (chunk_ids is None):
            raise ValueError("remove() takes ids or chunk_ids")
        for name, given in (("ids", ids), ("chunk_ids", chunk_ids)):
            if isinstance(given, str):
                raise TypeError(f"{name} must be a list; got the single {given!r}")
        self._begin_writing()
        wanted, column = (ids, "id") if ids is not None else (chunk_ids, "chunk_id")
        self._finish_part()
        before = len(self)
        self._mark(pa.array([str(each) for each in wanted or []], pa.large_string()), column)
        self._changed()
        return before - len(self)

    def save(self) -> None:
        """Keep all that was added and removed. Takes effect in one step: readers find the state before or after."""
        self._begin_writing()
        self._finish_part()
        if not self._dirty:
            return
        if len(self._removed) and self._removed.mean() > _SPARSE:
            self._compact()
        self._merge_small()
        manifest = dict(self._store.manifest)
        generation = manifest["generation"] + 1
        known = {part["name"]: part for part in manifest["parts"]}
        manifest["parts"] = [known.get(name) or self._part_facts(name) for name in self._names]
        manifest["files"], manifest["stored"] = self._save_vectors(generation, manifest["files"])
        if self._removed.any():
            name = f"removed-{generation:06d}.npy"
            np.save(self.path / name, np.flatnonzero(self._removed), allow_pickle=False)
            flush(self.path / name)
            manifest["files"][name] = checksum(self.path / name)
        manifest.update(
            generation=generation,
            pychunk=_native.version,
            chunks=len(self._removed),
            sentences=sum(len(part.sentences) for part in self._parts),
            removed=int(self._removed.sum()),
        )
        self._store.commit(manifest)
        for name, own in manifest["stored"].items():
            self._stored[name] = own, pa.memory_map(str(self.path / own["file"]))
        self._generation, self._dirty = generation, False

    def refresh(self) -> bool:
        """Take up what another process saved since; whether there was anything."""
        if self._store.locked:
            return False
        before = self._generation

        def again() -> None:
            self._store.read(verify=False)
            self._load()

        _steady(again, self._store)
        return bool(self._generation != before)

    def close(self) -> None:
        """Let another process write. What was not saved is gone."""
        if self._dirty:
            self._load()
        self._store.unlock()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Searching

    def search(
        self,
        queries: str | Sequence[str] | None = None,
        k: int = 5,
        mode: str = "hybrid",
        *,
        fusion: str = "score",
        weight: float = 1.5,
        blend: float = 0.5,
        where: Any = None,
        ids: Sequence[Any] | None = None,
        rerank: str | Path | None = None,
        depth: int = 50,
        expand: int = 0,
        by_document: bool = False,
        query_vectors: Any = None,
        threads: int | None = None,
    ) -> list[list[Hit]] | list[list[DocumentHits]]:
        """The best chunks for each query, all queries in one call.

        Args:
            queries: one text or several.
            k: hits for each query.
            mode: ``"dense"`` (vectors), ``"sparse"`` (BM25) or ``"hybrid"`` (both).
            fusion: how hybrid joins them. ``"score"``: cosine + ``weight`` x BM25 as a share of its bound; ``"rrf"``:
                reciprocal ranks, BM25's counting ``weight`` times.
            blend: share of the best sentence against the chunk's own vector, in an index of both.
            where: which chunks to look at: ``{"column": value or list of values}``, or an expression of
                ``pyarrow.compute``. ids: only these documents.
            rerank: a cross-encoder (``pychunk export``), which orders the best ``depth`` hits anew.
            expand: chunks of the same document to return around each hit.
            by_document: group the hits by document.
            query_vectors: float[q, dim] in the place of, or beside, the texts.

        Returns:
            One list a query, of :class:`Hit`, or of :class:`DocumentHits`; best first, of equals the first in the
            index.

        Raises:
            ValueError: an option out of range, a column that is not there, queries that nothing can encode.
        """
        ranking = Ranking(mode, fusion, weight, blend)
        texts, vectors = self._asked(queries, query_vectors, k, ranking, threads)
        if rerank and queries is None:
            raise ValueError("rerank reads the queries' texts; query_vectors came without")
        searcher = self._ready()
        allowed = searcher.allowed(where, ids)
        if searcher.table is None or not texts:
            return [list[Hit]() for _ in texts]
        found = searcher.rank(texts, vectors, max(k, depth) if rerank else k, ranking, allowed)
        lists = [
            searcher.hits(
                ranked.chunks,
                ranked.scores.tolist(),
                [
                    {name: float(part[i]) for name, part in zip(names, ranked.parts, strict=True)}
                    for i in range(len(ranked.chunks))
                ],
                sentences,
            )
            for ranked, names, sentences in found
        ]
        if rerank:
            lists = self._reranked(texts, lists, rerank, k, threads)
        if expand:
            lists = [[replace(hit, around=searcher.around(hit.row, expand)) for hit in hits] for hits in lists]
        return [searcher.by_document(hits) for hits in lists] if by_document else lists

    def rank(
        self,
        queries: str | Sequence[str] | None = None,
        k: int = 5,
        mode: str = "hybrid",
        *,
        fusion: str = "score",
        weight: float = 1.5,
        blend: float = 0.5,
        query_vectors: Any = None,
        threads: int | None = None,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """What :meth:`search` finds, as rows of :attr:`table` without their texts: for joins and for measuring.

        Returns:
            (rows int64[q, k], scores float32[q, k]); -1 and NaN where there are fewer hits.
        """
        ranking = Ranking(mode, fusion, weight, blend)
        texts, vectors = self._asked(queries, query_vectors, k, ranking, threads)
        rows, scores = np.full((len(texts), k), -1, np.int64), np.full((len(texts), k), np.nan, np.float32)
        searcher = self._ready()
        if searcher.table is not None and texts:
            for i, (found, _, _) in enumerate(searcher.rank(texts, vectors, k, ranking, searcher.allowed(None, None))):
                rows[i, : len(found.chunks)], scores[i, : len(found.chunks)] = found.chunks, found.scores
        return rows, scores

    @property
    def table(self) -> pa.Table:
        """All chunks by row, removed ones too, memory-mapped; without vectors."""
        found = self._ready().table
        return pa.table({}) if found is None else found

    def _asked(self, queries: Any, given: Any, k: int, ranking: Ranking, threads: int | None) -> tuple[list[str], Any]:
        """(texts, vectors) of the queries; empty texts for vectors that came alone."""
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise ValueError(f"k must be a whole number of at least 1; got {k!r}")
        ranking.check(self._layout)
        texts = [queries] if isinstance(queries, str) else [] if queries is None else list(queries)
        if not texts and given is None:
            return [], None
        vectors = self._query_vectors(texts, given, ranking.mode, threads)
        if not texts and ranking.mode != "dense":
            raise ValueError("query_vectors without texts serve mode='dense' alone")
        return texts or [""] * len(vectors), vectors

    def _query_vectors(self, texts: list[str], given: Any, mode: str, threads: int | None) -> Any:
        if given is not None:
            vectors = np.atleast_2d(np.asarray(given, np.float32))
            if vectors.shape[1] != self._layout.dim or (texts and len(vectors) != len(texts)):
                raise ValueError(
                    f"query_vectors must be float[{len(texts) or 'q'}, {self._layout.dim}]; got {vectors.shape}"
                )
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            return np.ascontiguousarray(vectors / np.maximum(norms, np.float32(1e-12)))
        if mode == "sparse":
            return None
        if self._encoder is None:
            raise ValueError("the index was created without an encoder (encoder=None): pass query_vectors=")
        return self._encoder.encode(texts, threads=threads)

    def _reranked(self, texts: list[str], lists: list[list[Hit]], model: Any, k: int, threads: int | None) -> Any:
        found = rerank.scores(
            rerank.load(model, self._runtime), texts, [[hit.text for hit in hits] for hits in lists], threads=threads
        )
        return [
            [
                replace(hits[i], score=float(own[i]), scores={**hits[i].scores, "rerank": float(own[i])})
                for i in np.argsort(-own, kind="stable")[:k]
            ]
            for hits, own in zip(lists, found, strict=True)
        ]

    # Inside

    def _ready(self) -> Searcher:
        self._finish_part()
        if self._searcher is None:
            facts = self._store.manifest
            kinds = self._kinds()
            stored = {name: file for name, (own, file) in self._stored.items() if own["kind"] == kinds[name]}
            self._searcher = Searcher(
                self._parts,
                self._removed,
                self._layout,
                kinds=kinds,
                stored=stored,
                accuracy=self._accuracy,
                k1=facts["bm25"]["k1"],
                b=facts["bm25"]["b"],
            )
        return self._searcher

    def _kinds(self) -> dict[str, str]:
        kind = self._store.manifest["kind"]
        return {name: choose(kind, count) for name, count in self._counts().items()}

    def _counts(self) -> dict[str, int]:
        sentences = sum(len(part.sentences) for part in self._parts)
        return {"sentences": sentences, "chunks": sum(map(len, self._parts))}

    def _changed(self) -> None:
        self._searcher, self._dirty = None, True

    def _begin_writing(self) -> None:
        if self._store.locked:
            return
        self._store.lock()
        before = self._generation
        if self._store.read(verify=False)["generation"] != before:
            self._load()
        self._store.sweep()

    def _next_name(self) -> str:
        used = [int(name.split("-")[1]) for name in self._names]
        used += [int(part["name"].split("-")[1]) for part in self._store.manifest["parts"]]
        return f"part-{max(used, default=0) + 1:06d}"

    def _finish_part(self) -> None:
        """What was added so far becomes a part that can be searched."""
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        writer.finish()
        self._names.append(writer.folder.name)
        self._parts.append(Part.load(writer.folder, self._layout))
        self._new_keys.clear()

    def _replace(self, keys: pa.Array) -> None:
        """Mark what the chunks of ``keys`` take the place of."""
        if not self._new_keys.isdisjoint(keys.to_pylist()):
            self._finish_part()
        self._mark(keys.unique(), None)

    def _mark(self, wanted: pa.Array, column: str | None) -> None:
        first = 0
        for part in self._parts:
            if column is None or column in part.table.column_names:
                own = ingest.keys(part.table) if column is None else part.table[column].cast(pa.large_string())
                found = np.asarray(pc.is_in(own, value_set=wanted))
                self._removed[first : first + len(part)] |= found
            first += len(part)

    def _part_facts(self, name: str) -> dict[str, Any]:
        files = {file: checksum(self.path / name / file) for file in self._layout.files()}
        return {"name": name, "chunks": len(self._parts[self._names.index(name)]), "files": files}

    def _save_vectors(self, generation: int, before: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Files of approximate indexes, written anew where there are new rows: (checksums, what they hold)."""
        files: dict[str, Any] = {}
        stored: dict[str, Any] = {}
        for name, kind in self._kinds().items():
            index: VectorIndex | None = None
            if kind != "flat":
                searcher = self._ready()
                index = searcher.sentences if name == "sentences" else searcher.pooled
            if index is None:
                continue
            own = self._stored[name][0] if name in self._stored else {}
            if own.get("kind") == kind and own["rows"] == len(index):
                files[own["file"]], stored[name] = before[own["file"]], own
                continue
            file = f"{name}-{generation:06d}.faiss"
            index.save(self.path / file)
            flush(self.path / file)
            files[file] = checksum(self.path / file)
            stored[name] = {"file": file, "kind": kind, "rows": len(index)}
        return files, stored

    def _merge_small(self) -> None:
        """Many small parts at the end become one; rows keep their order and numbers."""
        small = list(itertools.takewhile(lambda part: len(part) < PART_CHUNKS // 2, reversed(self._parts)))
        if len(small) >= _SMALL_PARTS:
            self._rewrite(len(self._parts) - len(small), None)

    def _compact(self) -> None:
        """Removed chunks leave the files, and rows get new numbers."""
        self._stored = {}
        self._rewrite(0, ~self._removed)
        self._removed = np.zeros(sum(map(len, self._parts)), np.bool_)

    def _rewrite(self, begin: int, kept: npt.NDArray[np.bool_] | None) -> None:
        """Write the parts from ``begin`` on again, all their rows or those kept."""
        first = sum(map(len, self._parts[:begin]))
        parts, self._searcher = self._parts[begin:], None
        names = [f"part-{int(self._next_name()[5:]) + i:06d}" for i in range(len(parts))]
        del self._names[begin:], self._parts[begin:]
        for part in parts:
            for piece in slices(part.rows(), 8192):
                size = piece.table.num_rows
                chosen = np.arange(size) if kept is None else np.flatnonzero(kept[first : first + size])
                first += size
                if len(chosen):
                    self._append(piece if len(chosen) == size else piece.choose(chosen), names)
        self._finish_part()

    def _append(self, rows: Rows, names: list[str] | None = None) -> None:
        """Write rows to the open part, which is finished when it is full, or where the columns change."""
        if self._writer is not None and not self._writer.takes(rows.table):
            self._finish_part()
        if self._writer is None:
            name = names.pop(0) if names else self._next_name()
            self._writer = PartWriter(self.path / name, self._layout)
        self._writer.append(rows)
        if self._writer.chunks >= PART_CHUNKS:
            self._finish_part()


def _with_metadata(table: pa.Table, first: int, metadata: Mapping[str, Sequence[Any]]) -> pa.Table:
    document = np.asarray(table["document"], np.int64) - first
    for name, values in metadata.items():
        if name in table.column_names:
            raise ValueError(f"metadata {name!r}: the chunks have a column of that name; take another")
        column = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(list(values))
        if len(document) and document.max() >= len(column):
            raise ValueError(
                f"metadata {name!r} has {len(column)} values, and there are at least {document.max() + 1} documents"
            )
        table = table.append_column(name, column.take(pa.array(document)))
    return table


def _steady(action: Callable[[], _T], store: Store) -> _T:
    """Read files of an index; again where a writer put others in their place in the middle."""
    while True:
        before = store.generation()
        try:
            return action()
        except (ValueError, FileNotFoundError):
            if store.generation() == before:
                raise
