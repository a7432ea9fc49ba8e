"""One state of an index: its memory-mapped parts, and the scorers of their chunks."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ..._engine.arrow import compute as pc
from ..._util.counting import counted
from ...encoders.runtime.placement import ModelPlacement
from ...levels.level_names import LEVELS
from .. import argument_checks
from ..dense.vector_index import SCANNED, StoredVectors, VectorIndex
from ..files import int32_columns
from ..lexical.analyzer import GRAM_MARK
from ..lexical.bm25 import BM25
from ..store import context_column, proposition_column
from ..store.chunk_rows import ChunkRows
from ..store.part import POOLED, SENTENCES, SPANS, Layout, Part
from . import filters as conditions
from .document_scores import DocumentBM25, Documents, NearDocuments, VectorDocumentScores
from .fusion import F32, I64
from .level_rows import Ranges, rows_at
from .scan_cache import INSIDE, KEPT, ScanCache
from .scorers import Batch, Mask, ScanScorer, VectorIndexScorer
from .subqueries import Subquery

#: An approximate index covers all levels, and reads the codes of all rows, even if few may be found. If at most one row
#: in RARE may be found, only these rows are scanned instead, which is exact. They must not have more bytes than kind
#: "auto" scans.
RARE = 2
#: The number of queries that one scan serves. With 64, a scan is limited by computation, not by reading.
TOGETHER = 64


def _check_others(parts: Sequence[Part]) -> None:
    """Check columns of texts and lists whose type differs between parts, because joining the parts reads all values."""
    every = pa.unify_schemas([part.table.schema for part in parts] or [pa.schema([])], promote_options="permissive")
    for part in parts:
        part.check(
            [
                own.name
                for own in part.table.schema
                if own.type != every.field(own.name).type and not pa.types.is_primitive(own.type)
            ]
        )


class Snapshot:
    """The memory-mapped parts of an index, with what a search computes from them."""

    def __init__(
        self,
        parts: Sequence[Part],
        removed: Mask,
        layout: Layout,
        *,
        kinds: Mapping[str, str],
        stored: Mapping[str, StoredVectors],
        accuracy: int | None,
        placement: ModelPlacement,
        k1: float,
        b: float,
    ) -> None:
        self.layout = layout
        self.alive = ~removed
        self.all_alive = not removed.any()
        self._at_levels: dict[tuple[str, ...], Mask] = {}
        self._ahead: ScanCache | None = None
        _check_others(parts)
        #: The chunk table in the stored types of the parts, memory-mapped, or None if there are no chunks.
        self.stored = pa.concat_tables([part.table for part in parts], promote_options="permissive") if parts else None
        #: The columns of the chunk table in the types with which they were added.
        self.schema = pa.unify_schemas([part.schema for part in parts] or [pa.schema([])], promote_options="permissive")
        self._parts = list(parts)
        self.rows = len(removed)
        #: Whether chunks have a context, which is text that is indexed together with their own.
        self.has_context = any(context_column.is_in(part.table.schema) for part in parts)
        #: Whether chunks have propositions, whose vectors follow those of their sentences.
        self.has_propositions = any(proposition_column.is_in(part.table.schema) for part in parts)
        #: The spans in characters of the sentences of each part, and the number of each part's first sentence.
        self.spans = [np.asarray(part.spans) for part in parts]
        self.span_first = np.concatenate([[0], np.cumsum([len(each) for each in self.spans])]).astype(np.int64)
        self.offsets = np.concatenate(
            [[0], *(part.offsets[1:] + first for part, first in zip(parts, self.span_first, strict=False))]
        ).astype(np.int64)

        def index(name: str, arrays: list[Any], file: str, offsets: I64 | None = None) -> VectorIndex:
            return VectorIndex(
                arrays,
                layout.dim,
                kinds[name],
                offsets=offsets,
                stored=stored.get(name),
                accuracy=accuracy,
                placement=placement,
                blocks=[part.blocks.get(file) for part in parts],
            )

        sentences = [part.sentences for part in parts]
        self.sentences = index("sentences", sentences, SENTENCES, self.offsets) if layout.sentences else None
        self.pooled = index("chunks", [part.pooled for part in parts], POOLED) if layout.pooled else None
        postings = [part.postings for part in parts if part.postings is not None]
        self.bm25 = BM25(postings, self.alive, k1=k1, b=b) if layout.analyzer else None
        self._postings, self._k1, self._b = postings, k1, b

    @cached_property
    def table(self) -> pa.Table:
        """The chunk table as it was added: :attr:`stored` with integers of 64 bits.

        It is made at the first use, which takes 11 ms in an index of a million sentence vectors.
        """
        self.check()
        return self.as_added(self.stored)

    def check(self, names: Sequence[str] | None = None, begin: int = 0, end: int | None = None) -> None:
        """Check columns of :attr:`stored` (None: all) for rows [begin, end). See :meth:`.Part.check`."""
        first, last = 0, self.rows if end is None else end
        for part in self._parts:
            if first < last and begin < first + len(part):
                part.check(names, begin - first, last - first)
            first += len(part)

    def _checked(self, names: Sequence[str], row: int) -> Callable[[int], None]:
        """Return the result of :meth:`.Part.checked` for the part of a row, with rows numbered as in :attr:`stored`."""
        first = 0
        for part in self._parts:
            if row < first + len(part):
                break
            first += len(part)
        check = part.checked(names, row - first)
        return lambda row: check(row - first)

    def check_spans(self) -> None:
        """Check the blocks of the stored spans of sentences that were not read before."""
        for part in self._parts:
            if part.blocks:
                part.blocks[SPANS].check()

    def as_added(self, stored: pa.Table) -> pa.Table:
        """Return rows of :attr:`stored` with their columns in the types with which they were added."""
        return int32_columns.widened(stored, self.schema)

    def allowed(self, where: Any, ids: Sequence[Any] | None, names: Sequence[str] = ()) -> Mask | None:
        """Return which chunks a search may return, bool[rows], or None if it may return all.

        Args:
            where: The filter on columns. None: no filter.
            ids: The ids of documents. None: all documents.
            names: The levels, of which a chunk must have at least one. Empty: all levels.
        """
        if ids is not None:
            argument_checks.ids("ids", ids)
        if self.stored is None or (where is None and ids is None and not names and self.all_alive):
            return None
        mask = self._at(tuple(names)) if names else self.alive
        if where is not None:
            mask = mask & conditions.rows(where, int32_columns.Columns(self.stored, self.schema, self.check))
        if ids is not None:
            if "document_id" not in self.stored.column_names:
                raise ValueError(
                    f"ids= names {counted(len(argument_checks.ids('ids', ids)), 'document')}, but the documents of "
                    "this index have no ids: build the index again from chunks that were segmented with ids="
                )
            self.check(["document_id"])
            found = pc.is_in(
                self.stored["document_id"].cast(pa.large_string()), value_set=argument_checks.ids("ids", ids)
            )
            mask = mask & np.asarray(found)
        return np.asarray(mask, np.bool_)

    def _at(self, names: tuple[str, ...]) -> Mask:
        """Return the rows that are at one or more of the levels ``names``, bool[rows].

        The result is cached, so that the next search does not have to read all rows.
        """
        if names not in self._at_levels:
            found = np.logical_or.reduce([self.levels[name] for name in names])
            self._at_levels[names] = np.asarray(found & self.alive, np.bool_)
        return self._at_levels[names]

    @cached_property
    def chunk_of(self) -> I64:
        """The chunk of each sentence."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def levels(self) -> dict[str, Mask]:
        """The rows at each level, from fine to coarse."""
        self.check([LEVELS])
        return {} if self.stored is None else rows_at(self.stored)

    @cached_property
    def level_sizes(self) -> tuple[int, ...]:
        """The number of rows at each level, including removed ones."""
        return tuple(int(np.count_nonzero(mask)) for mask in self.levels.values())

    @cached_property
    def ranges(self) -> Ranges:
        """The ranges of levels of the rows. At the first use, the scan of vectors receives them as groups of rows."""
        found = Ranges(self.levels, self.alive)
        if self.pooled is not None:
            self.pooled.scan.set_groups(found.of)
        return found

    @cached_property
    def _spans(self) -> tuple[I64, I64]:
        """The columns ``start`` and ``end``, int64[rows] each."""
        assert self.stored is not None
        self.check(["start", "end"])
        return np.asarray(self.stored["start"], np.int64), np.asarray(self.stored["end"], np.int64)

    def places(self, rows: I64) -> tuple[I64, I64, I64]:
        """Return (a number for the document, start, end) of rows, int64[n] each."""
        start, end = self._spans
        return self._document_of[rows], start[rows], end[rows]

    @cached_property
    def documents(self) -> Documents:
        """The assignment of chunks to documents."""
        return Documents(self._document_of, self.alive)

    def query_terms(self, text: str) -> list[str]:
        """Return the terms of a query. N-grams are added to its words only if the index holds n-grams."""
        assert self.layout.analyzer is not None
        return (self.layout.analyzer.query_terms if self._has_grams else self.layout.analyzer.terms)(text)

    @cached_property
    def _has_grams(self) -> bool:
        places = [
            (part.words, bisect.bisect_left(part.words, GRAM_MARK, key=lambda term: term.as_py()))
            for part in self._postings
        ]
        return any(at < len(terms) and terms[at].as_py().startswith(GRAM_MARK) for terms, at in places)

    @cached_property
    def document_bm25(self) -> DocumentBM25:
        """The BM25 scores of whole documents."""
        return DocumentBM25(self._postings, self.documents, k1=self._k1, b=self._b)

    def near_chunks(
        self, vectors: F32, allowed: Mask, depth: int, threads: int | None, ranges: Sequence[int] = ()
    ) -> Batch:
        """Return the scorers of chunks by their own vectors.

        Args:
            vectors: Unit vectors of queries, float32[q, dim].
            allowed: The rows that may be found, bool[rows].
            depth: The number of rows that an approximate index searches first for each query.
            threads: The number of threads. None: the default number.
            ranges: The numbers of the :attr:`ranges` that hold all allowed rows. Empty: unknown.
        """
        assert self.pooled is not None
        return self._near(self.pooled, vectors, allowed, False, depth, threads, ranges)

    def _near(
        self,
        index: VectorIndex,
        vectors: F32,
        allowed: Mask | None,
        sentences: bool,
        depth: int,
        threads: int | None,
        ranges: Sequence[int] = (),
    ) -> Batch:
        """Return the scorers of chunks by the vectors of ``index``, which are those of sentences if ``sentences``."""
        known = None if sentences or self._ahead is None else self._ahead.of(vectors, allowed)
        if self._scanned(index, allowed, ranges):
            return ScanScorer(index.scan, vectors, allowed, threads, ranges, known)
        if not sentences:
            rows = None
            if known is not None and all(index.begins(depth, asked) for asked, *_ in known):
                rows = np.array([found[: min(depth, len(index))] for *_, found in known])
            return VectorIndexScorer(index, vectors, allowed, None, depth, threads, rows)
        mask = None if allowed is None else np.repeat(allowed, np.diff(self.offsets))
        return VectorIndexScorer(index, vectors, mask, self.chunk_of, depth, threads)

    def look_ahead(
        self, queries: Sequence[Sequence[Subquery]], depth: int, threads: int | None, good: Sequence[I64]
    ) -> None:
        """Find the ``depth`` best rows of the finest level by cosine, for all later searches with the queries' vectors.

        The result is cached until the next call. Nothing is cached if the index is approximate and a search for fewer
        rows would find other rows first.

        Args:
            queries: The subqueries of each query.
            depth: The number of rows for each vector.
            threads: The number of threads. None: the default number.
            good: For each query, rows whose documents are likely to hold some of the best rows.
        """
        every = [probe.vector for own in queries for probe in own if probe.vector is not None]
        alone = len(every) == len(queries)
        if self.pooled is None or self.sentences is not None or not every:
            return
        vectors = np.array(every[: max(1, KEPT // depth)], np.float32)
        names = list(self.levels)[:1]
        allowed, ranges = self._at(tuple(names)), self.ranges.at(names)
        ahead = ScanCache(allowed)
        for begin in range(0, len(vectors), TOGETHER):
            own = vectors[begin : begin + TOGETHER]
            if self._scanned(self.pooled, allowed, ranges):
                batch = ScanScorer(self.pooled.scan, own, allowed, threads, ranges)
                for number, rows in enumerate(good[begin : begin + len(own)] if alone else ()):
                    batch.expect(number, self.documents.rows(self.documents.of[rows])[0][:INSIDE])
                batch.fetch(range(len(own)), depth)
                ahead.keep(own, [batch.found[number] for number in range(len(own))])
            elif self.pooled.begins(1, depth):
                found = zip(*self.pooled.search(own, depth, allowed, threads), strict=True)
                ahead.keep(own, [(depth, scores, rows) for scores, rows in found])
        self._ahead = ahead

    def best_sentences(self, vector: F32) -> tuple[I64, F32] | None:
        """Return (rows, exact cosines) of the finest level's best rows; None unless :meth:`look_ahead` found them."""
        ahead = self._ahead
        if ahead is None or self.pooled is None:
            return None
        if not self._scanned(self.pooled, ahead.allowed, self.ranges.at(list(self.levels)[:1])):
            return None
        known = ahead.of(vector[None], ahead.allowed)
        return None if known is None else (known[0][2], known[0][1])

    def _scanned(self, index: VectorIndex, allowed: Mask | None, ranges: Sequence[int]) -> bool:
        """Return whether a search scans the vectors, which is exact, and does not use an approximate index."""
        return index.scanned(allowed) or bool(ranges and allowed is not None and self._worth_a_scan(index, ranges))

    def _worth_a_scan(self, index: VectorIndex, ranges: Sequence[int]) -> bool:
        """Return whether the rows of some levels are so few that a scan replaces the approximate index.

        See :data:`RARE`.
        """
        rows = self.ranges.rows(ranges)
        return RARE * rows <= len(index) and rows * index.row_bytes <= SCANNED

    def _near_documents(
        self, name: str, near: Batch, vectors: F32, allowed: Mask | None, depth: int, threads: int | None
    ) -> NearDocuments:
        """Return the scorers of chunks by their documents' vectors. ``near``: the scorers by the chunks' vectors."""
        sentences = name == "dense"
        index = self.sentences if sentences else self.pooled
        assert index is not None
        whole = self.documents.whole(allowed)
        if whole is not None and allowed is not None and not np.array_equal(whole, allowed):
            near = self._near(index, vectors, whole, sentences, depth, threads)
        by = VectorDocumentScores(index.scan, self.documents, self.offsets if sentences else None)
        return NearDocuments(by, near, vectors, allowed)

    @cached_property
    def chunks(self) -> ChunkRows:
        """The rows of the chunk table."""
        assert self.stored is not None
        return ChunkRows(self.stored, self.check, self._checked)

    @cached_property
    def _document_of(self) -> I64:
        """A number for the document of each row, int64[rows]. Rows with the same document id have the same number.

        Without ids, a new document begins where ``document_index`` changes or ``chunk_index`` does not rise.
        """
        assert self.stored is not None
        self.check(["document_index", "chunk_index", "document_id"])
        document, chunk = (np.asarray(self.stored[name]) for name in ("document_index", "chunk_index"))
        begins = (document[1:] != document[:-1]) | (chunk[1:] <= chunk[:-1])
        found = np.concatenate([[0], np.cumsum(begins)]).astype(np.int64)
        if "document_id" in self.stored.column_names:
            ids = self.stored["document_id"].cast(pa.large_string()).combine_chunks().dictionary_encode()
            known = np.asarray(ids.indices.fill_null(-1), np.int64)
            found = np.where(known < 0, found, known + self.rows)
        return found
