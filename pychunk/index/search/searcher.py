"""The ranking of chunks for queries in one state of an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..levels import level_ranking, level_selection
from ..levels.node_spans import Nodes
from ..levels.score_calibration import Calibration, calibrated
from ..scoring import fusion
from ..scoring.document_scores import NearDocuments
from ..scoring.fusion import I64, RankedChunks
from ..scoring.ranking import Found, RankingOptions
from ..scoring.scorers import Batch, Bm25Scorer, Mask, ScanScorer, scanned_with
from ..scoring.snapshot import TOGETHER, Snapshot
from ..scoring.subqueries import Members, Subquery, SubqueryScorer
from .heading_outline import Outline
from .hits import Hit, Passage

#: The most BM25 scores, float32, that are in memory at a time for several queries: 128 MB.
_SCORES = 1 << 25
#: A function that maps chunks, best first, to the positions of the chunks to keep.
Choice = Callable[[I64], I64]


@dataclass(frozen=True)
class _Stage:
    """One kind of score, such as cosine or BM25, for all subqueries, with its weight."""

    name: str
    batch: Batch | Bm25Scorer | NearDocuments
    weight: float
    members: Members


def _scanned_and_sparse(stages: Sequence[_Stage]) -> tuple[ScanScorer, Bm25Scorer, float] | None:
    """Return (scan, BM25, weight of BM25) if there are no other stages and each query is one subquery, else None."""
    if len(stages) != 2 or not all(stage.members.single for stage in stages):
        return None
    (dense, one), (sparse, weight) = ((stage.batch, stage.weight) for stage in stages)
    if isinstance(dense, ScanScorer) and isinstance(sparse, Bm25Scorer) and one == 1.0:
        return dense, sparse, weight
    return None


class Searcher(Snapshot):
    """A snapshot that ranks its chunks for queries.

    Attributes:
        saved: The saved calibration of scores at each level, or None.
    """

    saved: Calibration | None = None

    @cached_property
    def nodes(self) -> Nodes:
        """The nesting of the nodes of an index of levels."""
        return Nodes(list(self.levels), list(self.levels.values()), self.alive, self._document_of, *self._spans)

    @cached_property
    def calibration(self) -> Calibration:
        """The calibration of scores at each level: the saved one if few rows have changed since, or a new one."""
        saved = self.saved
        if saved is None or saved.is_stale(int(self.alive.sum()), self.levels):
            saved = calibrated(self, self.nodes)
        return saved

    def documents_of(self, hits: Sequence[Hit]) -> list[int]:
        """Return a number for the document of each hit. Hits of the same document have the same number."""
        return list(map(int, self._document_of[[hit.row for hit in hits]]))

    def rank(
        self,
        queries: Sequence[Sequence[Subquery]],
        count: int,
        ranking: RankingOptions,
        allowed: Mask | None,
        threads: int | None = None,
        *,
        choose: Choice | None = None,
        names: Sequence[str] = (),
    ) -> list[Found]:
        """Return the ``count`` best chunks of each query.

        Args:
            queries: The subqueries of each query, with terms and vectors as far as ``ranking`` needs them.
            count: The number of chunks for each query.
            ranking: The options of the ranking.
            allowed: The chunks to search, bool[rows]. None: all.
            threads: The number of threads. None: the default number.
            choose: The function that chooses which of the ranked chunks to keep: :meth:`of_documents` or :meth:`apart`.
                The first attempt ranks ``4 * count`` chunks, because a scan takes no longer for them. Each further
                attempt ranks four times as many, until ``count`` chunks are kept or there are no more.
            names: The levels of all allowed rows. Empty: unknown.
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
                chosen = RankedChunks(each.chunks[best], each.scores[best], parts)
                found[number] = chosen, names, None if sentences is None else sentences[best]
            left, wide = again, 4 * wide
        return [found[number] for number in range(len(queries))]

    def of_documents(self, chunks: I64) -> I64:
        """Return the position of each document's first chunk among ``chunks``, in rising order."""
        return np.sort(np.unique(self._document_of[chunks], return_index=True)[1])

    def apart(self, chunks: I64) -> I64:
        """Return the positions of the chunks that share no character with an earlier chosen one, in rising order."""
        return level_selection.apart(*self.places(chunks))

    def _best(
        self,
        queries: Sequence[Sequence[Subquery]],
        count: int,
        ranking: RankingOptions,
        allowed: Mask | None,
        threads: int | None,
        ranges: Sequence[int],
    ) -> list[Found]:
        """Return the best chunks of each query, for as many queries at once as memory allows."""
        found = []
        scores = self.rows * (2 if ranking.document_weight else 1) * max((len(own) for own in queries), default=1)
        together = max(1, min(TOGETHER, _SCORES // max(1, scores)))
        for begin in range(0, len(queries), together):
            found += self._rank(queries[begin : begin + together], count, ranking, allowed, threads, ranges)
        return found

    def rank_across(
        self,
        queries: Sequence[Sequence[Subquery]],
        count: int,
        ranking: RankingOptions,
        allowed: Mask | None,
        threads: int | None = None,
        *,
        names: Sequence[str] = (),
        words: int | None = None,
        kept: bool = False,
    ) -> list[Found]:
        """Return the ``count`` best nodes of each query across levels, with :mod:`.level_ranking`.

        Args:
            queries: The subqueries of each query, as in :meth:`rank`.
            count: The number of nodes for each query.
            ranking: The options of the ranking.
            allowed: The nodes to search, bool[rows]. None: all.
            threads: The number of threads. None: the default number.
            names: The levels of the nodes. Empty: all.
            words: The most words of all nodes of a query together. None: no limit.
            kept: Whether ``allowed`` only restricts the levels, so that the next search can use the same masks.

        Raises:
            ValueError: The index holds no levels, or no vectors of its chunks.
        """
        if not self.levels:
            raise ValueError(
                "fusion='levels' needs an index of levels, and this one has none: make one with pychunk index "
                "--levels, or add the result of pychunk.Hierarchy.chunks()"
            )
        if self.pooled is None or self.sentences is not None:
            kinds = "no" if self.sentences is None else "sentence" if self.pooled is None else "both kinds of"
            raise ValueError(
                f"fusion='levels' needs an index of chunk vectors alone, and this one has {kinds} vectors: create it "
                "with vectors='chunk'"
            )
        groups = self.nodes.groups(names, allowed, kept=kept)
        together = max(1, min(TOGETHER, _SCORES // max(1, self.rows)))
        found = []
        for begin in range(0, len(queries), together):
            own = queries[begin : begin + together]
            found += level_ranking.ranked(
                self, self.nodes, self.calibration, own, count, ranking, groups, words, threads
            )
        for number, probes in enumerate(queries):
            if not any(map(self._asks, probes)):
                ranked, stages, sentences = found[number]
                none = RankedChunks(ranked.chunks[:0], ranked.scores[:0], [part[:0] for part in ranked.parts])
                found[number] = none, stages, sentences
        return found

    def _asks(self, probe: Subquery) -> bool:
        """Return whether a subquery has a vector that is not zero, or terms that the index knows."""
        if probe.vector is not None and np.any(probe.vector):
            return True
        return self.bm25 is not None and probe.terms is not None and bool(self.bm25.idf(list(probe.terms)))

    def _rank(
        self,
        queries: Sequence[Sequence[Subquery]],
        count: int,
        ranking: RankingOptions,
        allowed: Mask | None,
        threads: int | None,
        ranges: Sequence[int],
    ) -> list[Found]:
        depth = 2 * max(4 * count, 32)
        stages: list[_Stage] = []
        if ranking.mode != "sparse":
            probes = [[probe for probe in own if probe.vector is not None] for own in queries]
            if ranking.by_rank:  # By a zero vector, all chunks have the same score, so ranks would mean nothing.
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
                    stages.append(_Stage(name, Bm25Scorer(scores, allowed, threads), weight, members))
                else:  # The weighted mean of the subqueries' BM25 scores is one array, so it can be one source.
                    means = Bm25Scorer(members.means(scores), allowed, threads)
                    stages.append(_Stage(name, means, weight, Members.number([[1.0]] * len(queries))))
        names = [stage.name for stage in stages]
        if ranking.by_rank and (len(stages) > 1 or not all(stage.members.single for stage in stages)):
            ranked = self._by_rank(stages, len(queries), count)
        elif (both := _scanned_and_sparse(stages)) is not None:
            ranked = scanned_with(*both, count)
        else:
            batches = [
                stage.batch if stage.members.single else SubqueryScorer(stage.batch, stage.members) for stage in stages
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
    def _by_rank(stages: Sequence[_Stage], queries: int, count: int) -> list[RankedChunks]:
        """Rank by the reciprocal ranks of all subqueries in all stages.

        The score of a stage in the result is the weighted mean of its subqueries' scores.
        """
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
            found.append(RankedChunks(ranked.chunks, ranked.scores, parts))
        return found

    @cached_property
    def outline(self) -> Outline:
        """The trees of headings of the index's documents."""
        assert self.stored is not None
        self.check(["subtree", "parent", "chunk_index"])
        for part in self._parts:
            part.check_tree()
        return Outline.of(self.stored, self._document_of)

    def path(self, row: int) -> list[str] | None:
        """Return the headings above a chunk."""
        found: list[str] | None = self.chunks.row(row).get("path")
        return found

    def passages(self, rows: Sequence[int]) -> tuple[Passage, ...]:
        """Return chunks, given by row, as passages, without removed ones."""
        values = [self.chunks.row(row) for row in rows if self.alive[row]]
        return tuple(map(Passage.of, values))

    def around(self, row: int, width: int, names: Sequence[str] = ()) -> tuple[Passage, ...]:
        """Return a chunk with up to ``width`` chunks of the same document before and after it.

        In an index of levels, these are nodes of one level: the coarsest of the levels that the chunk belongs to, or if
        ``names`` has any levels, the coarsest among those in ``names``.
        """
        assert self.stored is not None
        if self.levels:
            beside = self.nodes.beside(row, width, names)
            if len(beside):
                return self.passages(beside.tolist())
        begin, end = max(0, row - width), min(self.rows, row + width + 1)
        names = [
            name
            for name in ("document_index", "document_id", *Passage.__dataclass_fields__)
            if name in self.stored.column_names
        ]
        self.check(names, begin, end)
        near = self.stored.select(names).slice(begin, end - begin).to_pylist()
        here = near[row - begin]
        kept = [
            each
            for at, each in enumerate(near, begin)
            if self.alive[at]
            and each["document_index"] == here["document_index"]
            and each.get("document_id") == here.get("document_id")
            and abs(at - row)
            <= abs(each["chunk_index"] - here["chunk_index"])
            <= width  # Removed chunks may have no rows, so numbers of chunks may be further apart than rows.
            and (each["chunk_index"] - here["chunk_index"]) * (at - row) >= 0
        ]
        return tuple(map(Passage.of, kept))
