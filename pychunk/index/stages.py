"""The stages of a search: it reads and rewrites queries, ranks chunks, builds and reranks hits, and adds context."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .._util.lazy_imports import LazyModule
from ..encoders.runtime.placement import ModelPlacement
from . import argument_checks
from .levels import level_selection as by_level
from .scoring.fusion import F32
from .scoring.subqueries import Subquery
from .search import expansion, near_copies
from .search.hits import DocumentHits, Hit, Hits, once
from .search.queries import Queries
from .search.search_options import SearchOptions
from .search.searcher import Searcher

if TYPE_CHECKING:
    from .rerank import linear_reranker
    from .rerank import rerankers as reranking
    from .scoring.ranking import Found
    from .search import fetch
    from .search import query_rewriting as rewriting
    from .writer import IndexWriter
else:  # Only some searches import these modules.
    linear_reranker, reranking = (
        LazyModule("pychunk.index.rerank.linear_reranker"),
        LazyModule("pychunk.index.rerank.rerankers"),
    )
    rewriting, fetch = LazyModule("pychunk.index.search.query_rewriting"), LazyModule("pychunk.index.search.fetch")


@dataclass(frozen=True)
class Stages:
    """One search in an index.

    Attributes:
        contents: The contents of the index.
        reader: The reader that checks and encodes queries.
        placement: The device and runtime of rerankers.
        encoder: The fingerprint of the index's encoder.
        options: The options of the search.
    """

    contents: IndexWriter
    reader: Queries
    placement: ModelPlacement
    encoder: str
    options: SearchOptions

    def hits(self, queries: Any, query_vectors: Any) -> Hits[Any]:
        """Return the hits of each query, best first, in the levels of the options. A planner is not called here."""
        own = self.options
        ranking = own.ranking
        own.check()
        rewrite = None if own.rewrite is None else rewriting.load(own.rewrite)
        given: list[Any] = []
        if rewrite == "options" and queries is not None:
            queries, given = rewriting.choices(queries)
        argument_checks.whole("k", own.k, 1)
        texts, vectors = self.reader.read(queries, query_vectors, ranking)
        if own.rerank and queries is None:
            raise ValueError("Rerank reads the texts of queries; got vectors alone: pass the pair (texts, vectors)")
        searcher = self.contents.searcher()
        names = [] if own.levels is None or searcher.stored is None else by_level.between(own.levels, searcher.levels)
        allowed = searcher.allowed(own.where, own.ids, names)
        if searcher.stored is None or not texts:
            return Hits([Hits[Hit]() for _ in texts])
        probes = self.reader.probes(texts, vectors, ranking, searcher)
        reasons: dict[int, str] = {}
        if isinstance(rewrite, rewriting.Feedback):
            probes = rewriting.with_feedback(rewrite, searcher, probes, ranking, allowed, own.threads)
        elif rewrite is not None:
            if queries is None:
                raise ValueError("Rewrite reads the texts of queries; got vectors alone: pass (texts, vectors)")
            dim = self.contents.layout.dim
            wanted, reasons = rewriting.rewritten(
                rewrite, texts, given, mode=own.mode, dim=dim, skip=own.rewrite_error == "skip"
            )
            probes = self.reader.filled(wanted, probes, ranking, searcher)
        lists = self._found(searcher, probes, allowed, names, texts)
        for row, reason in reasons.items():
            lists[row] = [replace(hit, scores={**hit.scores, "rewrite": reason}) for hit in lists[row]]
        if self.contents.uuids:
            lists = [[replace(hit, document_id=uuid.UUID(hit.document_id)) for hit in hits] for hits in lists]
        if own.rerank:
            lists = self._reranked(searcher, texts, vectors, lists)
        if own.min_score is not None:
            lists = [[hit for hit in hits if hit.score >= own.min_score] for hits in lists]
        lists = self._in_context(searcher, lists, names)
        if own.by_document:
            return Hits(
                Hits(DocumentHits(hit.document_id, hit.document_index, hit.score, (hit,)) for hit in hits)
                for hits in lists
            )
        return Hits(Hits(hits) for hits in lists)

    def _found(
        self,
        searcher: Searcher,
        probes: Sequence[Sequence[Subquery]],
        allowed: Any,
        names: Sequence[str],
        texts: Sequence[str],
    ) -> list[list[Hit]]:
        """Return the hits of each query, as many as it takes for k results.

        Each query is ranked until it has enough, whatever queries are searched together with it.
        """
        own = self.options
        found: list[list[Hit]] = [[] for _ in probes]
        left, count = list(range(len(probes))), own.count
        while left:
            ranked = self._ranked(searcher, [probes[row] for row in left], allowed, names, count)
            lists = fetch.hits(searcher, ranked, [texts[row] for row in left])
            again = []
            for row, hits in zip(left, lists, strict=True):
                found[row] = hits if own.distinct is None else near_copies.without(hits, own.distinct)
                if len(hits) >= count and not self._is_full(searcher, found[row]):
                    again.append(row)
                elif not own.merges:
                    found[row] = found[row][: own.count]
            left, count = again, 2 * count
        return found

    def _is_full(self, searcher: Searcher, hits: list[Hit]) -> bool:
        """Return whether the hits of a query are enough for k results."""
        own = self.options
        if not own.merges:
            return len(hits) >= own.count
        regions = expansion.regions_of(searcher, hits, str(own.expand), own.parents)
        return expansion.needed(regions, own.k) is not None

    def _ranked(
        self, searcher: Searcher, probes: Sequence[Sequence[Subquery]], allowed: Any, names: Sequence[str], count: int
    ) -> list[Found]:
        own = self.options
        if own.fusion == "levels":
            kept = own.where is None and own.ids is None
            words = None if own.rerank or own.expand or own.distinct else own.words
            return searcher.rank_across(
                probes, count, own.ranking, allowed, own.threads, names=names, words=words, kept=kept
            )
        choose = searcher.of_documents if own.by_document else searcher.apart if len(names) > 1 else None
        return searcher.rank(probes, count, own.ranking, allowed, own.threads, choose=choose, names=names)

    def _reranked(
        self, searcher: Searcher, texts: list[str], vectors: F32 | None, lists: list[list[Hit]]
    ) -> list[list[Hit]]:
        own = self.options
        stage: reranking.Reranker
        if weights := linear_reranker.named(own.rerank, self.reader.encoder):
            stage = linear_reranker.LinearReranker(searcher, vectors, self.encoder, weights, mode=own.mode)
        else:
            stage = reranking.load(own.rerank, self.placement)
        k = own.count if own.by_tree else own.k  # Merging takes hits, which the next ones replace.
        found, _ = reranking.reranked(stage, texts, lists, k, threads=own.threads, on_error=own.rerank_error)
        return found

    def _in_context(self, searcher: Searcher, lists: list[list[Hit]], names: Sequence[str]) -> list[list[Hit]]:
        """Return hits with the text around them that the options ask for, within the word budget."""
        own = self.options
        if isinstance(own.expand, str):
            return [
                expansion.with_context(
                    searcher, hits, own.expand, k=own.k, parents=own.parents, words=own.words, names=names
                )
                for hits in lists
            ]
        if own.expand:
            lists = [
                [replace(hit, around=searcher.around(hit.row, own.expand, names)) for hit in hits] for hits in lists
            ]
            if names or own.fusion == "levels":
                lists = [once(hits, searcher.documents_of(hits)) for hits in lists]
        return lists if own.words is None else [expansion.up_to(hits, own.words) for hits in lists]
