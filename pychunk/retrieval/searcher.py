"""One state of an index, ready for queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data.columns import COLUMNS
from ..encoders.running.placement import Placement
from . import checks, fusion
from . import where as conditions
from .bm25 import BM25
from .context import Outline
from .fusion import F32, I64, Ranked
from .hits import Hit, Passage
from .part import Layout, Part
from .sources import Batch, ByVector, Mask, Nearest, Scanned, Sparse
from .vectors import VectorIndex

#: Queries whose rows are scanned together, and the most scores of BM25 that are held for them, as float32: 128 MB. With
#: 64 queries a scan computes, and what it reads no longer matters.
_TOGETHER, _SCORES = 64, 1 << 25
#: Columns that are fields of a hit; an index of before one of them has none of it.
_SHOWN = [column.name for column in COLUMNS if column.in_hits]
#: Of the chunk table, of no use for a reader of hits.
_INTERNAL = frozenset(column.name for column in COLUMNS if not column.in_hits)


@dataclass(frozen=True)
class Ranking:
    """How to rank: which stages, and how much each counts."""

    mode: str = "hybrid"
    fusion: str = "score"
    weight: float = 1.5
    blend: float = 0.5

    def check(self, layout: Layout) -> None:
        if self.mode not in ("dense", "sparse", "hybrid"):
            raise ValueError(f"mode must be 'dense', 'sparse' or 'hybrid'; got {self.mode!r}")
        if self.fusion not in ("score", "rrf"):
            raise ValueError(f"fusion must be 'score' or 'rrf'; got {self.fusion!r}")
        checks.number("weight", self.weight, 0)
        checks.number("blend", self.blend, 0, 1)
        if self.mode != "dense" and layout.analyzer is None:
            raise ValueError("this index has no terms for BM25 (it was created with terms=None): use mode='dense'")


class Searcher:
    """The parts of an index, memory-mapped, with what their search needs beside."""

    def __init__(
        self,
        parts: Sequence[Part],
        removed: Mask,
        layout: Layout,
        *,
        kinds: Mapping[str, str],
        stored: Mapping[str, pa.MemoryMappedFile],
        accuracy: int,
        placement: Placement,
        k1: float,
        b: float,
    ) -> None:
        self.layout = layout
        self.alive = ~removed
        self.all_alive = not removed.any()
        self.table = pa.concat_tables([part.table for part in parts], promote_options="permissive") if parts else None
        self.rows = len(removed)
        self.spans = [np.asarray(part.spans) for part in parts]
        self._span_first = np.concatenate([[0], np.cumsum([len(each) for each in self.spans])]).astype(np.int64)
        self.offsets = np.concatenate(
            [[0], *(part.offsets[1:] + first for part, first in zip(parts, self._span_first, strict=False))]
        ).astype(np.int64)

        def index(name: str, arrays: list[Any], offsets: I64 | None = None) -> VectorIndex:
            return VectorIndex(
                arrays,
                layout.dim,
                kinds[name],
                offsets=offsets,
                stored=stored.get(name),
                accuracy=accuracy,
                placement=placement,
            )

        sentences = [part.sentences for part in parts]
        self.sentences = index("sentences", sentences, self.offsets) if layout.sentences else None
        self.pooled = index("chunks", [part.pooled for part in parts]) if layout.pooled else None
        postings = [part.postings for part in parts if part.postings is not None]
        self.bm25 = BM25(postings, self.alive, k1=k1, b=b) if layout.analyzer else None

    def allowed(self, where: Any, ids: Sequence[Any] | None) -> Mask | None:
        """bool[rows] of the chunks that a search may return; None: all."""
        if ids is not None:
            checks.ids("ids", ids)
        if self.table is None or (where is None and ids is None and self.all_alive):
            return None
        mask = self.alive
        if where is not None:
            mask = mask & conditions.rows(where, self.table)
        if ids is not None:
            if "id" not in self.table.column_names:
                raise ValueError("ids names documents, and those of this index have none: segment with ids=")
            found = pc.is_in(self.table["id"].cast(pa.large_string()), value_set=checks.ids("ids", ids))
            mask = mask & np.asarray(found)
        return np.asarray(mask, np.bool_)

    @cached_property
    def chunk_of(self) -> I64:
        """The chunk of each sentence."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def rank(
        self,
        queries: Sequence[str],
        vectors: F32 | None,
        count: int,
        ranking: Ranking,
        allowed: Mask | None,
        threads: int | None = None,
    ) -> list[tuple[Ranked, list[str], I64 | None]]:
        """For each query its best chunks, the names of their scores, and each one's best sentence."""
        found = []
        together = max(1, min(_TOGETHER, _SCORES // max(1, self.rows)))
        for begin in range(0, len(queries), together):
            own = None if vectors is None else vectors[begin : begin + together]
            found += self._rank(queries[begin : begin + together], own, count, ranking, allowed, threads)
        return found

    def rank_documents(
        self,
        queries: Sequence[str],
        vectors: F32 | None,
        count: int,
        ranking: Ranking,
        allowed: Mask | None,
        threads: int | None = None,
    ) -> list[tuple[Ranked, list[str], I64 | None]]:
        """The same of the ``count`` best documents for each query: of each its best chunk.

        Takes ever more chunks until they are of so many documents, or there are no more: four times as many as
        documents at first, as a scan takes no longer for them.
        """
        found: dict[int, tuple[Ranked, list[str], I64 | None]] = {}
        left, wide = list(range(len(queries))), 4 * count
        while left:
            own = None if vectors is None else np.ascontiguousarray(vectors[left])
            ranked = self.rank([queries[i] for i in left], own, wide, ranking, allowed, threads)
            again = []
            for number, (each, names, sentences) in zip(left, ranked, strict=True):
                best = np.sort(np.unique(self._document_of[each.chunks], return_index=True)[1])[:count]
                if len(best) < count and len(each.chunks) >= wide:
                    again.append(number)
                    continue
                parts = [part[best] for part in each.parts]
                chosen = Ranked(each.chunks[best], each.scores[best], parts)
                found[number] = chosen, names, None if sentences is None else sentences[best]
            left, wide = again, 4 * wide
        return [found[number] for number in range(len(queries))]

    def _rank(
        self,
        queries: Sequence[str],
        vectors: F32 | None,
        count: int,
        ranking: Ranking,
        allowed: Mask | None,
        threads: int | None,
    ) -> list[tuple[Ranked, list[str], I64 | None]]:
        dense: dict[str, tuple[Batch, float]] = {}
        if ranking.mode != "sparse":
            assert vectors is not None
            share = ranking.blend if self.sentences is not None and self.pooled is not None else 1.0
            depth = 2 * max(4 * count, 32)
            if self.sentences is not None:
                dense["dense"] = self._near(self.sentences, vectors, allowed, True, depth, threads), share
            if self.pooled is not None:
                other = 1 - share if self.sentences is not None else 1.0
                dense["chunk"] = self._near(self.pooled, vectors, allowed, False, depth, threads), other
        names, weights = list(dense), [weight for _, weight in dense.values()]
        by_vector: list[list[ByVector]] = [
            [batch.source(number) for batch, _ in dense.values()] for number in range(len(queries))
        ]
        sources: list[list[fusion.Source]] = [list(own) for own in by_vector]
        fetched: list[Batch | Sparse] = [batch for batch, _ in dense.values()]
        if ranking.mode != "dense":
            assert self.bm25 is not None
            assert self.layout.analyzer is not None
            names.append("sparse")
            weights.append(ranking.weight if dense else 1.0)
            scores = self.bm25.scores([self.layout.analyzer.terms(query) for query in queries], threads)
            sparse = Sparse(scores, allowed, threads)
            fetched.append(sparse)
            for number, each in enumerate(sources):
                each.append(sparse.source(number))

        def ahead(numbers: list[int], depth: int) -> None:
            for batch in fetched:
                batch.fetch(numbers, depth)

        if ranking.fusion == "rrf" and len(names) > 1:
            ahead(list(range(len(queries))), fusion.rank_depth(count))
            ranked = [fusion.reciprocal_rank(each, weights, count) for each in sources]
        else:
            ranked = fusion.weighted(sources, weights, count, ahead)
        if "dense" not in dense:
            return [(each, names, None) for each in ranked]
        return [(each, names, own[0].best(each.chunks)) for each, own in zip(ranked, by_vector, strict=True)]

    def _near(
        self, index: VectorIndex, vectors: F32, allowed: Mask | None, sentences: bool, depth: int, threads: int | None
    ) -> Batch:
        """Sources of chunks by the vectors of an index, of its sentences or of the chunks themselves."""
        if index.scanned(allowed):
            return Scanned(index.scan, vectors, allowed, threads)
        if not sentences:
            return Nearest(index, vectors, allowed, None, depth)
        mask = None if allowed is None else np.repeat(allowed, np.diff(self.offsets))
        return Nearest(index, vectors, mask, self.chunk_of, depth)

    def _spans_of(self, sentences: I64) -> list[tuple[int, int] | None]:
        """Of sentences by their rows, in characters of their documents; None of -1."""
        found = np.zeros((len(sentences), 2), np.int64)
        part = np.searchsorted(self._span_first, sentences, side="right") - 1
        for each in np.unique(part[sentences >= 0]).tolist():
            own = part == each
            found[own] = self.spans[each][sentences[own] - self._span_first[each]]
        pairs = zip(found.tolist(), sentences.tolist(), strict=True)
        return [(start, end) if row >= 0 else None for (start, end), row in pairs]

    def hits(self, found: Sequence[tuple[Ranked, list[str], I64 | None]]) -> list[list[Hit]]:
        """Of each query its hits, with what the chunk table says of them, from what :meth:`rank` found."""
        values = iter(self._values(np.concatenate([np.empty(0, np.int64), *(ranked.chunks for ranked, *_ in found)])))
        lists = []
        for ranked, names, sentences in found:
            count = len(ranked.chunks)
            spans = [None] * count if sentences is None else self._spans_of(sentences)
            parts = [part.tolist() for part in ranked.parts]
            each = zip(ranked.chunks.tolist(), ranked.scores.tolist(), spans, *parts, strict=True)
            hits = []
            for row, score, span, *scores in each:
                own = next(values)
                shown = {name: own.pop(name) for name in _SHOWN if name in own}
                hits.append(
                    Hit(
                        row=row,
                        id=shown.pop("id", None),
                        score=score,
                        scores=dict(zip(names, scores, strict=True)),
                        sentence=span,
                        metadata=own,
                        **shown,
                    )
                )
            lists.append(hits)
        return lists

    @cached_property
    def _batches(self) -> tuple[list[pa.RecordBatch], I64]:
        """The table's record batches, without columns that no hit shows, and the row that each begins with."""
        assert self.table is not None
        names = [name for name in self.table.column_names if name not in _INTERNAL]
        batches = self.table.select(names).to_batches()
        return batches, np.cumsum([0, *(batch.num_rows for batch in batches)])[:-1]

    def _values(self, rows: I64) -> list[dict[str, Any]]:
        """What the chunk table says of rows, each with values of its own.

        ``Table.take`` would copy the columns of strings first. That of a batch takes 80 us, and 6 a row; a slice 35.
        """
        values: list[dict[str, Any]] = [{}] * len(rows)
        if len(rows):
            batches, first = self._batches
            batch = np.searchsorted(first, rows, side="right") - 1
            for each in np.unique(batch).tolist():
                places = np.flatnonzero(batch == each)
                own = rows[places] - first[each]
                if len(own) > 2:
                    taken = batches[each].take(pa.array(own)).to_pylist()
                else:
                    taken = [batches[each].slice(row, 1).to_pylist()[0] for row in own.tolist()]
                for place, value in zip(places.tolist(), taken, strict=True):
                    values[place] = value
        return values

    def _row(self, row: int) -> dict[str, Any]:
        """What the chunk table says of a row."""
        return self._values(np.array([row], np.int64))[0]

    @cached_property
    def outline(self) -> Outline:
        """The trees of headings of its documents."""
        assert self.table is not None
        return Outline.of(self.table)

    def path(self, row: int) -> list[str] | None:
        """The headings over a chunk."""
        found: list[str] | None = self._row(row).get("path")
        return found

    def passages(self, rows: Sequence[int]) -> tuple[Passage, ...]:
        """Chunks by row, of one document."""
        values = [self._row(row) for row in rows if self.alive[row]]
        return tuple(Passage(each["chunk"], each["start"], each["end"], each["text"]) for each in values)

    def around(self, row: int, width: int) -> tuple[Passage, ...]:
        """Up to ``width`` chunks of the same document before and after a chunk, and itself."""
        assert self.table is not None
        begin, end = max(0, row - width), min(self.rows, row + width + 1)
        names = [
            name for name in ("document", "id", "chunk", "start", "end", "text") if name in self.table.column_names
        ]
        near = self.table.select(names).slice(begin, end - begin).to_pylist()
        here = near[row - begin]
        kept = [
            each
            for at, each in enumerate(near, begin)
            if self.alive[at]
            and each["document"] == here["document"]
            and each.get("id") == here.get("id")
            and each["chunk"] - here["chunk"] == at - row
        ]
        return tuple(Passage(each["chunk"], each["start"], each["end"], each["text"]) for each in kept)

    @cached_property
    def _document_of(self) -> I64:
        """A number for each row's document: of its id; where there is none, its chunks follow one another."""
        assert self.table is not None
        document, chunk = (np.asarray(self.table[name]) for name in ("document", "chunk"))
        begins = (document[1:] != document[:-1]) | (chunk[1:] <= chunk[:-1])
        found = np.concatenate([[0], np.cumsum(begins)]).astype(np.int64)
        if "id" in self.table.column_names:
            ids = self.table["id"].cast(pa.large_string()).combine_chunks().dictionary_encode()
            known = np.asarray(ids.indices.fill_null(-1), np.int64)
            found = np.where(known < 0, found, known + self.rows)
        return found
