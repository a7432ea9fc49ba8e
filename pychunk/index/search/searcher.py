"""One state of an index, ready for queries."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ..._engine.arrow import compute as pc
from ...encoders.running.placement import Placement
from ...levels.names import LEVELS
from .. import checks
from ..dense.vectors import SCANNED, Saved, VectorIndex
from ..files import narrow
from ..levels import across, levels
from ..levels.calibration import Calibration, calibrated
from ..levels.levels import Ranges
from ..levels.nodes import Nodes
from ..lexical.bm25 import BM25
from ..lexical.terms import GRAM_MARK
from ..scoring import fusion
from ..scoring import where as conditions
from ..scoring.ahead import INSIDE, KEPT, Ahead
from ..scoring.evidence import ByVectors, DocumentBM25, Documents, NearDocuments
from ..scoring.fusion import F32, I64, Ranked
from ..scoring.probes import Members, Probe, Together
from ..scoring.sources import Batch, Mask, Nearest, Scanned, Sparse, scanned_with
from ..store import beside
from ..store.chunk_rows import ChunkRows
from ..store.part import POOLED, SENTENCES, SPANS, Layout, Part
from .context import Outline
from .hits import Hit, Passage

#: An approximate index is one for all levels, and reads the codes of all rows, however few may be found. At most one of
#: so many rows, of no more bytes than kind "auto" scans, are scanned alone instead, which is exact.
RARE = 2
#: Queries whose rows are scanned together, and the most scores of BM25 that are held for them, as float32: 128 MB. With
#: 64 queries a scan computes, and what it reads no longer matters.
_TOGETHER, _SCORES = 64, 1 << 25


@dataclass(frozen=True)
class _Stage:
    """One way of scoring: for all probes, which weigh so much for their queries."""

    name: str
    batch: Batch | Sparse | NearDocuments
    weight: float
    members: Members


def _scanned_and_sparse(stages: Sequence[_Stage]) -> tuple[Scanned, Sparse, float] | None:
    """The two stages and what the second weighs, where nothing else counts and each query is one probe."""
    if len(stages) != 2 or not all(stage.members.single for stage in stages):
        return None
    (dense, one), (sparse, weight) = ((stage.batch, stage.weight) for stage in stages)
    if isinstance(dense, Scanned) and isinstance(sparse, Sparse) and one == 1.0:
        return dense, sparse, weight
    return None


def _check_others(parts: Sequence[Part]) -> None:
    """Check columns of texts and lists that are of another type in another part: joining them follows their offsets."""
    every = pa.unify_schemas([part.table.schema for part in parts] or [pa.schema([])], promote_options="permissive")
    for part in parts:
        part.check(
            [
                own.name
                for own in part.table.schema
                if own.type != every.field(own.name).type and not pa.types.is_primitive(own.type)
            ]
        )


@dataclass(frozen=True)
class Ranking:
    """How to rank: which stages, and how much each counts."""

    mode: str = "hybrid"
    fusion: str = "score"
    weight: float = 1.5
    blend: float = 0.5
    document_weight: float = 0.0

    @property
    def by_rank(self) -> bool:
        return self.fusion == "rrf"

    def check(self, layout: Layout) -> None:
        if self.mode not in ("dense", "sparse", "hybrid"):
            raise ValueError(f"mode must be 'dense', 'sparse' or 'hybrid'; got {self.mode!r}")
        if self.fusion not in ("score", "rrf", "levels"):
            raise ValueError(f"fusion must be 'score', 'rrf' or 'levels'; got {self.fusion!r}")
        checks.number("weight", self.weight, 0)
        checks.number("blend", self.blend, 0, 1)
        checks.number("document_weight", self.document_weight, 0)
        if self.fusion == "levels" and self.document_weight:
            raise ValueError("fusion='levels' goes without document_weight=: documents are a level of their own")
        if self.mode != "dense" and layout.analyzer is None:
            raise ValueError(
                "this index has no terms for BM25 (it was created with terms=None): use mode='dense', or build it "
                "again without terms=None"
            )


#: Of a query: its best chunks, the names of their scores, and each one's best sentence, None where none was looked for.
Found = tuple[Ranked, list[str], I64 | None]
#: Of chunks, best first, the places of those that stay.
Choice = Callable[[I64], I64]


class Searcher:
    """The parts of an index, memory-mapped, with what their search needs beside."""

    def __init__(
        self,
        parts: Sequence[Part],
        removed: Mask,
        layout: Layout,
        *,
        kinds: Mapping[str, str],
        stored: Mapping[str, Saved],
        accuracy: int | None,
        placement: Placement,
        k1: float,
        b: float,
        calibration: Calibration | None = None,
    ) -> None:
        self.layout, self._calibration = layout, calibration
        self.alive = ~removed
        self.all_alive = not removed.any()
        self._at_levels: dict[tuple[str, ...], Mask] = {}
        self._ahead: Ahead | None = None
        _check_others(parts)
        #: Chunks as the parts hold them, memory-mapped; None: there are none.
        self.stored = pa.concat_tables([part.table for part in parts], promote_options="permissive") if parts else None
        #: Their columns as they were added.
        self.schema = pa.unify_schemas([part.schema for part in parts] or [pa.schema([])], promote_options="permissive")
        self._parts = list(parts)
        self.rows = len(removed)
        #: Whether chunks have text that is indexed beside their own.
        self.has_context = any(beside.is_in(part.table.schema) for part in parts)
        #: Characters of the sentences of each part, and the number of its first one.
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
        """Chunks as they were added: :attr:`stored` with whole numbers of 64 bits, which are made when first asked for.

        11 ms a million sentence vectors.
        """
        self.check()
        return self.as_added(self.stored)

    def check(self, names: Sequence[str] | None = None, begin: int = 0, end: int | None = None) -> None:
        """Check columns of :attr:`stored`, None: all, as far as rows [begin, end) need them (:meth:`.Part.check`)."""
        first, last = 0, self.rows if end is None else end
        for part in self._parts:
            if first < last and begin < first + len(part):
                part.check(names, begin - first, last - first)
            first += len(part)

    def _checked(self, names: Sequence[str], row: int) -> Callable[[int], None]:
        """Check columns for the rows of one batch as :meth:`.Part.checked` does, by rows of :attr:`stored`."""
        first = 0
        for part in self._parts:
            if row < first + len(part):
                break
            first += len(part)
        check = part.checked(names, row - first)
        return lambda row: check(row - first)

    def check_spans(self) -> None:
        """Compare where sentences begin and end, as far as nobody read them before."""
        for part in self._parts:
            if part.blocks:
                part.blocks[SPANS].check()

    def as_added(self, stored: pa.Table) -> pa.Table:
        """Rows of :attr:`stored` with the types that they were added with."""
        return narrow.widened(stored, self.schema)

    def allowed(self, where: Any, ids: Sequence[Any] | None, names: Sequence[str] = ()) -> Mask | None:
        """bool[rows] of the chunks that a search may return, at one of the levels ``names``; None: all."""
        if ids is not None:
            checks.ids("ids", ids)
        if self.stored is None or (where is None and ids is None and not names and self.all_alive):
            return None
        mask = self._at(tuple(names)) if names else self.alive
        if where is not None:
            mask = mask & conditions.rows(where, narrow.Columns(self.stored, self.schema, self.check))
        if ids is not None:
            if "id" not in self.stored.column_names:
                raise ValueError("ids names documents, and those of this index have none: segment with ids=")
            self.check(["id"])
            found = pc.is_in(self.stored["id"].cast(pa.large_string()), value_set=checks.ids("ids", ids))
            mask = mask & np.asarray(found)
        return np.asarray(mask, np.bool_)

    def _at(self, names: tuple[str, ...]) -> Mask:
        """bool[rows] of those at one of the levels, kept for the next search, which looks through no rows."""
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
        """Of each level which rows are at it; from fine to coarse."""
        self.check([LEVELS])
        return {} if self.stored is None else levels.rows_at(self.stored)

    @cached_property
    def level_sizes(self) -> tuple[int, ...]:
        """How many rows are at each, removed ones too."""
        return tuple(int(np.count_nonzero(mask)) for mask in self.levels.values())

    @cached_property
    def ranges(self) -> Ranges:
        """Which rows are at which levels, as the scan of their vectors knows them from then on."""
        found = Ranges(self.levels, self.alive)
        if self.pooled is not None:
            self.pooled.scan.set_groups(found.of)
        return found

    @cached_property
    def nodes(self) -> Nodes:
        """How the nodes of an index of levels lie in each other."""
        return Nodes(list(self.levels), list(self.levels.values()), self.alive, self._document_of, *self._spans)

    @cached_property
    def calibration(self) -> Calibration:
        """What scores are worth at each level: as saved, where few rows are others since, or made now."""
        saved = self._calibration
        return calibrated(self, self.nodes) if saved is None or saved.stale(self) else saved

    @cached_property
    def _spans(self) -> tuple[I64, I64]:
        """First and last characters of the rows."""
        assert self.stored is not None
        self.check(["start", "end"])
        return np.asarray(self.stored["start"], np.int64), np.asarray(self.stored["end"], np.int64)

    def places(self, rows: I64) -> tuple[I64, I64, I64]:
        """(document, first, last character) of rows; a number for each document."""
        start, end = self._spans
        return self._document_of[rows], start[rows], end[rows]

    def documents_of(self, hits: Sequence[Hit]) -> list[int]:
        """A number for the document of each hit: its id, or where there is none, its place in the index."""
        return list(map(int, self._document_of[[hit.row for hit in hits]]))

    @cached_property
    def documents(self) -> Documents:
        """Which chunks are of which document."""
        return Documents(self._document_of, self.alive)

    def query_terms(self, text: str) -> list[str]:
        """Return the terms of a query; n-grams beside words if a text of the index has any."""
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
        return DocumentBM25(self._postings, self.documents, k1=self._k1, b=self._b)

    def rank(
        self,
        queries: Sequence[Sequence[Probe]],
        count: int,
        ranking: Ranking,
        allowed: Mask | None,
        threads: int | None = None,
        *,
        choose: Choice | None = None,
        names: Sequence[str] = (),
    ) -> list[Found]:
        """Of each query its ``count`` best chunks.

        Args:
            queries: what each is searched by, with terms and vectors, as far as ``ranking`` asks for them.
            allowed: bool[rows] of the chunks to look at; None: all.
            choose: which of the chunks found, best first, may stay: :meth:`of_documents` or :meth:`apart`. Ever more
                chunks are taken until so many stay, or there are no more: four times as many at first, as a scan takes
                no longer for them.
            names: levels at which all that is allowed is; none: nobody knows.
        """
        ranges = self.ranges.at(names) if names and self.sentences is None else []
        if choose is None:
            return self._best(queries, count, ranking, allowed, threads, ranges)
        found: dict[int, Found] = {}
        left, wide = list(range(len(queries))), 4 * count
        while left:
            ranked = self._best([queries[i] for i in left], wide, ranking, allowed, threads, ranges)
            again = []
            for number, (each, names, sentences) in zip(left, ranked, strict=True):
                best = choose(each.chunks)[:count]
                if len(best) < count and len(each.chunks) >= wide:
                    again.append(number)
                    continue
                parts = [part[best] for part in each.parts]
                chosen = Ranked(each.chunks[best], each.scores[best], parts)
                found[number] = chosen, names, None if sentences is None else sentences[best]
            left, wide = again, 4 * wide
        return [found[number] for number in range(len(queries))]

    def of_documents(self, chunks: I64) -> I64:
        """The places of the first chunk of each document among chunks, rising."""
        return np.sort(np.unique(self._document_of[chunks], return_index=True)[1])

    def apart(self, chunks: I64) -> I64:
        """The places of chunks that share no character with one before them, rising."""
        return levels.apart(*self.places(chunks))

    def _best(
        self,
        queries: Sequence[Sequence[Probe]],
        count: int,
        ranking: Ranking,
        allowed: Mask | None,
        threads: int | None,
        ranges: Sequence[int],
    ) -> list[Found]:
        """Of each query its best chunks, of so many queries at once as memory allows."""
        found = []
        scores = self.rows * (2 if ranking.document_weight else 1) * max((len(own) for own in queries), default=1)
        together = max(1, min(_TOGETHER, _SCORES // max(1, scores)))
        for begin in range(0, len(queries), together):
            found += self._rank(queries[begin : begin + together], count, ranking, allowed, threads, ranges)
        return found

    def rank_across(
        self,
        queries: Sequence[Sequence[Probe]],
        count: int,
        ranking: Ranking,
        allowed: Mask | None,
        threads: int | None = None,
        *,
        names: Sequence[str] = (),
        words: int | None = None,
        kept: bool = False,
    ) -> list[Found]:
        """The same of nodes at the levels ``names`` (none: all) by :mod:`.across`, of at most so many ``words``.

        Args:
            kept: ``allowed`` says nothing beside the names.

        Raises:
            ValueError: the index holds no levels, or no vectors of its chunks.
        """
        if not self.levels:
            raise ValueError(
                "fusion='levels' is for an index of levels: make one by pychunk index --levels, or add what "
                "pychunk.Hierarchy.chunks() gives"
            )
        if self.pooled is None or self.sentences is not None:
            raise ValueError("fusion='levels' needs an index of chunk vectors: create it with vectors='chunk'")
        groups = self.nodes.groups(names, allowed, kept=kept)
        together = max(1, min(_TOGETHER, _SCORES // max(1, self.rows)))
        found = []
        for begin in range(0, len(queries), together):
            own = queries[begin : begin + together]
            found += across.ranked(self, self.nodes, self.calibration, own, count, ranking, groups, words, threads)
        for number, probes in enumerate(queries):
            if not any(map(self._asks, probes)):
                ranked, stages, sentences = found[number]
                none = Ranked(ranked.chunks[:0], ranked.scores[:0], [part[:0] for part in ranked.parts])
                found[number] = none, stages, sentences
        return found

    def _asks(self, probe: Probe) -> bool:
        """Return whether a probe has a vector, or terms that the index knows."""
        if probe.vector is not None and np.any(probe.vector):
            return True
        return self.bm25 is not None and probe.terms is not None and bool(self.bm25.idf(list(probe.terms)))

    def near_chunks(
        self, vectors: F32, allowed: Mask, depth: int, threads: int | None, ranges: Sequence[int] = ()
    ) -> Batch:
        """Sources of chunks by their own vectors; ``ranges``: of :attr:`ranges`, in which all that is allowed lies."""
        assert self.pooled is not None
        return self._near(self.pooled, vectors, allowed, False, depth, threads, ranges)

    def _rank(
        self,
        queries: Sequence[Sequence[Probe]],
        count: int,
        ranking: Ranking,
        allowed: Mask | None,
        threads: int | None,
        ranges: Sequence[int],
    ) -> list[Found]:
        depth = 2 * max(4 * count, 32)
        stages: list[_Stage] = []
        if ranking.mode != "sparse":
            probes = [[probe for probe in own if probe.vector is not None] for own in queries]
            if ranking.by_rank:  # of a vector of zero every chunk is the best
                probes = [[probe for probe in own if np.any(probe.vector)] for own in probes]
            members = Members.number([[probe.weight for probe in own] for own in probes])
            vectors = np.zeros((sum(map(len, probes)), self.layout.dim), np.float32)
            for place, vector in enumerate(probe.vector for own in probes for probe in own):
                vectors[place] = vector
            share = ranking.blend if self.sentences is not None and self.pooled is not None else 1.0
            near: list[tuple[str, Batch, float]] = []
            if self.sentences is not None:
                near.append(("dense", self._near(self.sentences, vectors, allowed, True, depth, threads), share))
            if self.pooled is not None:
                other = 1 - share if self.sentences is not None else 1.0
                by_chunk = self._near(self.pooled, vectors, allowed, False, depth, threads, ranges)
                near.append(("chunk", by_chunk, other))
            stages = [_Stage(name, batch, weight, members) for name, batch, weight in near]
            for name, batch, weight in near if ranking.document_weight else ():
                documents = self._near_documents(name, batch, vectors, allowed, depth, threads)
                stages.append(_Stage(f"document_{name}", documents, weight * ranking.document_weight, members))
        if ranking.mode != "dense":
            assert self.bm25 is not None
            own_terms = [[probe for probe in own if probe.terms is not None] for own in queries]
            members = Members.number([[probe.weight for probe in own] for own in own_terms])
            terms = [probe.terms for own in own_terms for probe in own if probe.terms is not None]
            weight = ranking.weight if stages else 1.0
            scores = self.bm25.scores(terms, threads)
            by_words = [("sparse", scores, weight)]
            if ranking.document_weight:
                scores = self.document_bm25.scores(terms, threads).take(self.documents.of, axis=1)
                by_words.append(("document_sparse", scores, weight * ranking.document_weight))
            for name, scores, weight in by_words:
                if ranking.by_rank:
                    stages.append(_Stage(name, Sparse(scores, allowed, threads), weight, members))
                else:  # a weighted mean of BM25 is one array again, and so one source
                    means = Sparse(members.means(scores), allowed, threads)
                    stages.append(_Stage(name, means, weight, Members.number([[1.0]] * len(queries))))
        names = [stage.name for stage in stages]
        if ranking.by_rank and (len(stages) > 1 or not all(stage.members.single for stage in stages)):
            ranked = self._by_rank(stages, len(queries), count)
        elif (both := _scanned_and_sparse(stages)) is not None:
            ranked = scanned_with(*both, count)
        else:
            batches = [
                stage.batch if stage.members.single else Together(stage.batch, stage.members) for stage in stages
            ]
            sources: list[list[fusion.Source]] = [
                [batch.source(number) for batch in batches] for number in range(len(queries))
            ]

            def ahead(numbers: list[int], depth: int) -> None:
                for batch in batches:
                    batch.fetch(numbers, depth)

            ranked = fusion.weighted(sources, [stage.weight for stage in stages], count, ahead)
        ranked = [each.nonzero() for each in ranked]
        if "dense" not in names:
            return [(each, names, None) for each in ranked]
        by_sentence, members = near[0][1], stages[0].members
        return [
            (each, names, by_sentence.source(own[0]).best(each.chunks) if own else np.full(len(each.chunks), -1))
            for each, own in zip(ranked, members.of, strict=True)
        ]

    @staticmethod
    def _by_rank(stages: Sequence[_Stage], queries: int, count: int) -> list[Ranked]:
        """Reciprocal ranks of all probes by all stages; the score of a stage is the mean of its probes."""
        for stage in stages:
            stage.batch.fetch(stage.members.flat(range(queries)), fusion.rank_depth(count))
        found = []
        for number in range(queries):
            sources: list[fusion.Source] = []
            weights: list[float] = []
            shared: list[bool] = []
            for stage in stages:
                for probe, share in zip(stage.members.of[number], stage.members.shares[number], strict=True):
                    sources.append(stage.batch.source(probe))
                    weights.append(stage.weight * share)
                    shared.append(stage.name.startswith("document_"))
            ranked = fusion.reciprocal_rank(sources, weights, count, shared)
            parts = []
            first = 0
            for stage in stages:
                shares = stage.members.shares[number]
                own = ranked.parts[first : first + len(shares)]
                first += len(shares)
                mean = sum(np.float32(share) * part for share, part in zip(shares, own, strict=True))
                parts.append(np.asarray(mean + np.zeros(len(ranked.chunks)), np.float32))
            found.append(Ranked(ranked.chunks, ranked.scores, parts))
        return found

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
        """Sources of chunks by the vectors of an index, of its sentences or of the chunks themselves."""
        known = None if sentences or self._ahead is None else self._ahead.of(vectors, allowed)
        if self._scanned(index, allowed, ranges):
            return Scanned(index.scan, vectors, allowed, threads, ranges, known)
        if not sentences:
            rows = None
            if known is not None and all(index.begins(depth, asked) for asked, *_ in known):
                rows = np.array([found[: min(depth, len(index))] for *_, found in known])
            return Nearest(index, vectors, allowed, None, depth, threads, rows)
        mask = None if allowed is None else np.repeat(allowed, np.diff(self.offsets))
        return Nearest(index, vectors, mask, self.chunk_of, depth, threads)

    def look_ahead(
        self, queries: Sequence[Sequence[Probe]], depth: int, threads: int | None, good: Sequence[I64]
    ) -> None:
        """Looks for the ``depth`` best rows of the finest level by cosine, for all searches by the vectors of queries.

        ``good``: of each query rows whose documents may hold some of these.

        Not where an index is approximate and finds others than it does for fewer. It is kept until the next call.
        """
        every = [probe.vector for own in queries for probe in own if probe.vector is not None]
        alone = len(every) == len(queries)
        if self.pooled is None or self.sentences is not None or not every:
            return
        vectors = np.array(every[: max(1, KEPT // depth)], np.float32)
        names = list(self.levels)[:1]
        allowed, ranges = self._at(tuple(names)), self.ranges.at(names)
        ahead = Ahead(allowed)
        for begin in range(0, len(vectors), _TOGETHER):
            own = vectors[begin : begin + _TOGETHER]
            if self._scanned(self.pooled, allowed, ranges):
                batch = Scanned(self.pooled.scan, own, allowed, threads, ranges)
                for number, rows in enumerate(good[begin : begin + len(own)] if alone else ()):
                    batch.expect(number, self.documents.rows(self.documents.of[rows])[0][:INSIDE])
                batch.fetch(range(len(own)), depth)
                ahead.keep(own, [batch.found[number] for number in range(len(own))])
            elif self.pooled.begins(1, depth):
                found = zip(*self.pooled.search(own, depth, allowed, threads), strict=True)
                ahead.keep(own, [(depth, scores, rows) for scores, rows in found])
        self._ahead = ahead

    def best_sentences(self, vector: F32) -> tuple[I64, F32] | None:
        """(rows, cosines) of the best rows of the finest level, exact, as far as :meth:`look_ahead` knows them."""
        ahead = self._ahead
        if ahead is None or self.pooled is None:
            return None
        if not self._scanned(self.pooled, ahead.allowed, self.ranges.at(list(self.levels)[:1])):
            return None
        known = ahead.of(vector[None], ahead.allowed)
        return None if known is None else (known[0][2], known[0][1])

    def _scanned(self, index: VectorIndex, allowed: Mask | None, ranges: Sequence[int]) -> bool:
        """Whether vectors are scanned, which is exact."""
        return index.scanned(allowed) or bool(ranges and allowed is not None and self._worth_a_scan(index, ranges))

    def _worth_a_scan(self, index: VectorIndex, ranges: Sequence[int]) -> bool:
        """Whether an index that is approximate leaves levels to the scan: see :data:`RARE`."""
        rows = self.ranges.rows(ranges)
        return RARE * rows <= len(index) and rows * index.row_bytes <= SCANNED

    def _near_documents(
        self, name: str, near: Batch, vectors: F32, allowed: Mask | None, depth: int, threads: int | None
    ) -> NearDocuments:
        """Sources of chunks by the vectors of their documents; ``near``: by their own."""
        sentences = name == "dense"
        index = self.sentences if sentences else self.pooled
        assert index is not None
        whole = self.documents.whole(allowed)
        if whole is not None and allowed is not None and not np.array_equal(whole, allowed):
            near = self._near(index, vectors, whole, sentences, depth, threads)
        by = ByVectors(index.scan, self.documents, self.offsets if sentences else None)
        return NearDocuments(by, near, vectors, allowed)

    @cached_property
    def chunks(self) -> ChunkRows:
        """What the chunk table says of rows."""
        assert self.stored is not None
        return ChunkRows(self.stored, self.check, self._checked)

    @cached_property
    def outline(self) -> Outline:
        """The trees of headings of its documents."""
        assert self.stored is not None
        self.check(["subtree", "parent", "chunk"])
        for part in self._parts:
            part.check_tree()
        return Outline.of(self.stored, self._document_of)

    def path(self, row: int) -> list[str] | None:
        """The headings over a chunk."""
        found: list[str] | None = self.chunks.row(row).get("path")
        return found

    def passages(self, rows: Sequence[int]) -> tuple[Passage, ...]:
        """Chunks by row, of one document."""
        values = [self.chunks.row(row) for row in rows if self.alive[row]]
        return tuple(Passage(each["chunk"], each["start"], each["end"], each["text"]) for each in values)

    def around(self, row: int, width: int, names: Sequence[str] = ()) -> tuple[Passage, ...]:
        """Up to ``width`` chunks of the same document before and after a chunk, and itself.

        In an index of levels those of one level, the coarsest that the chunk is at, of ``names`` if there are any.
        """
        assert self.stored is not None
        if self.levels:
            beside = self.nodes.beside(row, width, names)
            if len(beside):
                return self.passages(beside.tolist())
        begin, end = max(0, row - width), min(self.rows, row + width + 1)
        names = [
            name for name in ("document", "id", "chunk", "start", "end", "text") if name in self.stored.column_names
        ]
        self.check(names, begin, end)
        near = self.stored.select(names).slice(begin, end - begin).to_pylist()
        here = near[row - begin]
        kept = [
            each
            for at, each in enumerate(near, begin)
            if self.alive[at]
            and each["document"] == here["document"]
            and each.get("id") == here.get("id")
            and abs(at - row) <= abs(each["chunk"] - here["chunk"]) <= width  # of chunks removed there may be no rows
            and (each["chunk"] - here["chunk"]) * (at - row) >= 0
        ]
        return tuple(Passage(each["chunk"], each["start"], each["end"], each["text"]) for each in kept)

    @cached_property
    def _document_of(self) -> I64:
        """A number for each row's document: of its id; where there is none, its chunks follow one another."""
        assert self.stored is not None
        self.check(["document", "chunk", "id"])
        document, chunk = (np.asarray(self.stored[name]) for name in ("document", "chunk"))
        begins = (document[1:] != document[:-1]) | (chunk[1:] <= chunk[:-1])
        found = np.concatenate([[0], np.cumsum(begins)]).astype(np.int64)
        if "id" in self.stored.column_names:
            ids = self.stored["id"].cast(pa.large_string()).combine_chunks().dictionary_encode()
            known = np.asarray(ids.indices.fill_null(-1), np.int64)
            found = np.where(known < 0, found, known + self.rows)
        return found
