"""The preparation of queries for a search, which checks texts, finds their terms and computes their vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.counting import counted
from ..._util.lazy_imports import LazyModule
from .. import argument_checks
from ..dense import token_coverage
from ..lexical.analyzer import GRAM_MARK
from ..scoring.fusion import F32
from ..scoring.ranking import RankingOptions
from ..scoring.subqueries import Subquery
from ..store.part import Layout
from .searcher import Searcher

if TYPE_CHECKING:
    from . import query_rewriting as rewriting
else:
    rewriting = LazyModule("pychunk.index.search.query_rewriting")


def texts_and_vectors(queries: Any) -> tuple[Any, Any]:
    """Return (texts or None, vectors or None) of the argument ``queries`` of a search.

    Example:
        >>> texts_and_vectors("Who purrs?")
        ('Who purrs?', None)
        >>> texts_and_vectors((["Who purrs?"], [[0.6, 0.8]]))
        (['Who purrs?'], [[0.6, 0.8]])
    """
    if _is_matrix(queries):
        return None, queries
    if isinstance(queries, tuple) and len(queries) == 2 and _is_matrix(queries[1]):
        return queries
    return queries, None


def _is_matrix(value: Any) -> bool:
    """Return whether a value is one vector or rows of vectors: an array of numbers, or lists that begin with one."""
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and (isinstance(value[0], (int, float, np.number)) or _is_matrix(value[0]))
    return hasattr(value, "__array__") and np.asarray(value).dtype.kind in "fiubc"


@dataclass(frozen=True)
class Queries:
    """A reader of the queries of one index.

    Args:
        layout: The layout of the index.
        encoder: The encoder of queries. None: the caller passes their vectors.
        threads: The number of threads for encoding. None: the default number.
    """

    layout: Layout
    encoder: Any
    threads: int | None = None

    def read(self, queries: Any, given: Any, ranking: RankingOptions) -> tuple[list[str], F32 | None]:
        """Return (texts, unit vectors float32[q, dim]) of q queries.

        If only vectors were passed, the texts are empty.

        Args:
            queries: One text, several, or None.
            given: The vectors that the caller passed, float[q, dim], or None.
            ranking: The options of the ranking.

        Raises:
            ValueError: Options of ``ranking`` are out of range, vectors have the wrong shape, there is no encoder for
                the queries, or only vectors were passed although the search uses BM25.
            TypeError: A query is no text.
        """
        if self.threads is not None:
            argument_checks.whole("threads", self.threads, 1)
        ranking.check(self.layout)
        texts = [] if queries is None else argument_checks.texts(queries)
        if not texts and given is None:
            return [], None
        vectors = self.vectors(texts, given, ranking.mode)
        if not texts and vectors is not None and ranking.mode != "dense":
            raise ValueError(
                f"vectors without texts work only with mode='dense'; got mode={ranking.mode!r}: pass mode='dense', or "
                "the pair (texts, vectors)"
            )
        return texts or [""] * (0 if vectors is None else len(vectors)), vectors

    def probes(
        self, texts: list[str], vectors: F32 | None, ranking: RankingOptions, searcher: Searcher
    ) -> list[list[Subquery]]:
        """Return one subquery for each query, as a search without rewriting uses it."""
        by_words = self.layout.analyzer is not None and ranking.mode != "dense"
        vectors = self._weighed(texts, vectors, ranking, searcher)
        own = [None] * len(texts) if vectors is None or ranking.mode == "sparse" else vectors
        return [
            [Subquery(text, self._terms(text, ranking, searcher) if by_words else None, vector)]
            for text, vector in zip(texts, own, strict=True)
        ]

    def filled(
        self, probes: list[list[Subquery]], plain: list[list[Subquery]], ranking: RankingOptions, searcher: Searcher
    ) -> list[list[Subquery]]:
        """Return the subqueries of a rewrite with their terms and vectors.

        Texts that are in ``plain``, the subqueries without rewriting, are not encoded again.
        """
        encoded = {own[0].text: own[0].vector for own in plain if own[0].vector is not None}
        probes = [
            [
                replace(each, vector=encoded[each.text]) if each.vector is None and each.text in encoded else each
                for each in own
            ]
            for own in probes
        ]

        def encode(texts: list[str]) -> Any:
            return self._weighed(texts, self.vectors(texts, None, ranking.mode), ranking, searcher)

        def terms(text: str) -> list[str]:
            return self._terms(text, ranking, searcher)

        return rewriting.filled(
            probes,
            terms if self.layout.analyzer is not None and ranking.mode != "dense" else None,
            encode if ranking.mode != "sparse" else None,
        )

    def _weighed(self, texts: list[str], vectors: F32 | None, ranking: RankingOptions, searcher: Searcher) -> Any:
        """Return vectors scaled by their worth for each query, which weights them relative to BM25.

        See :mod:`pychunk.index.dense.token_coverage`.
        """
        if vectors is None or not self._adds(ranking):
            return vectors
        worth = token_coverage.worth(self.encoder, texts)
        if (least := self._cosine_weight) < 1:
            worth = worth * token_coverage.by_terms([_share(searcher, text) for text in texts], least)
        return vectors * worth[:, None]

    def _terms(self, text: str, ranking: RankingOptions, searcher: Searcher) -> list[str]:
        """Return the terms of a query, none if it is in another language than the chunks and its cosines decide."""
        terms: list[str] = searcher.query_terms(text)
        weighs = self._adds(ranking) and self._cosine_weight < 1
        return [] if weighs and _held(searcher, terms) < token_coverage.ALONE else terms

    def _adds(self, ranking: RankingOptions) -> bool:
        """Return whether the search adds cosines of an encoder to BM25: mode hybrid without fusion "levels"."""
        return ranking.mode == "hybrid" and ranking.fusion != "levels" and self.encoder is not None

    @property
    def _cosine_weight(self) -> float:
        return float(getattr(self.encoder, "cosine_weight", 1.0))

    def vectors(self, texts: list[str], given: Any, mode: str) -> F32 | None:
        """Return unit vectors, float32[q, dim], from ``given`` or the encoder; None if the search uses no vectors.

        Raises:
            ValueError: ``given`` has the wrong shape or is not finite, or it is None and the index has no encoder, or
                the encoder's vectors have another width than those of the index.
        """
        if given is not None:
            vectors, dim = _floats(given), self.layout.dim
            if vectors.ndim != 2 or vectors.shape[1] != dim or (texts and len(vectors) != len(texts)):
                raise ValueError(f"vectors of queries must be float[{len(texts) or 'q'}, {dim}]; got {vectors.shape}")
            argument_checks.finite("vectors of queries", vectors)
            return _unit(vectors)
        if mode == "sparse":
            return None
        if self.encoder is None:
            raise ValueError(
                f"the index was created without an encoder (encoder=None); got {counted(len(texts), 'text')} "
                "without vectors: pass vectors as queries, or the pair (texts, vectors)"
            )
        found: F32 = self.encoder.encode_queries(texts, threads=self.threads)
        if found.shape[1] != self.layout.dim:  # An encoder of the caller's own has the name of the index's.
            raise ValueError(
                f"encoder {self.encoder.name!r} returned vectors of {found.shape[1]} numbers, and those of the index "
                f"have {self.layout.dim}: open the index with the encoder that made its vectors"
            )
        return found


def _share(searcher: Searcher, text: str) -> float:
    """Return the share of a query's words that any chunk has."""
    return _held(searcher, [term for term in searcher.query_terms(text) if not term.startswith(GRAM_MARK)])


def _held(searcher: Searcher, terms: list[str]) -> float:
    """Return the share of terms that any chunk has."""
    held = searcher.bm25.idf(terms) if searcher.bm25 is not None else {}
    return sum(term in held for term in terms) / max(1, len(terms))


def _floats(given: Any) -> F32:
    """Return vectors from the caller as float32[q, dim]. Raise ValueError if they are no real numbers."""
    try:
        found = np.atleast_2d(np.asarray(given))
        if found.dtype.kind in "OSU":
            found = found.astype(np.float64)
        if found.dtype.kind not in "fiub":
            raise ValueError(f"{found.dtype} is no type of real numbers")
    except (TypeError, ValueError) as error:
        raise ValueError(f"vectors of queries must be numbers, float[q, dim]: {error}") from error
    with np.errstate(over="ignore"):  # A later check finds an infinity, and names its row.
        return found.astype(np.float32)


def _unit(vectors: F32) -> F32:
    """Return vectors scaled to unit length, except those of length 0.

    Squares of very large or small numbers exceed the range of float32, so vectors of such numbers are first divided by
    their largest number.

    Example:
        >>> _unit(np.array([[3, 4], [3e30, 4e30], [3e-30, 4e-30], [0, 0]], np.float32)).round(2).tolist() == [
        ...     *[[np.float32(0.6), np.float32(0.8)]] * 3, [0, 0]
        ... ]
        True
    """
    most = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    beyond = (most > 1e15) | ((most > 0) & (most < 1e-10))
    if beyond.any():
        vectors = np.where(beyond, vectors / np.where(beyond, most, np.float32(1)), vectors)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.maximum(norms, np.float32(1e-12)))
