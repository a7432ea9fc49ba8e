"""Queries as an index searches by them: texts checked, their terms counted, their vectors encoded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import checks
from . import rewrite as rewriting
from .fusion import F32
from .part import Layout
from .probes import Probe
from .searcher import Ranking


@dataclass(frozen=True)
class Queries:
    """Reads the queries of one index.

    Args:
        layout: what the index holds. encoder: of its queries; None: their vectors come with them.
        threads: to encode on; None: the default number.
    """

    layout: Layout
    encoder: Any
    threads: int | None = None

    def read(self, queries: Any, given: Any, ranking: Ranking) -> tuple[list[str], F32 | None]:
        """(texts, unit vectors float32[q, dim]) of queries; empty texts for vectors that came alone.

        Args:
            queries: one text, several, or None. given: vectors float[q, dim], or None.

        Raises:
            ValueError: options of ``ranking`` out of range, vectors of another shape, queries that nothing can encode,
                vectors alone where BM25 counts. TypeError: a query that is no text.
        """
        if self.threads is not None:
            checks.whole("threads", self.threads, 1)
        ranking.check(self.layout)
        texts = [] if queries is None else checks.texts(queries)
        if not texts and given is None:
            return [], None
        vectors = self.vectors(texts, given, ranking.mode)
        if not texts and vectors is not None and ranking.mode != "dense":
            raise ValueError("query_vectors without texts serve mode='dense' alone: pass it, or the texts, too")
        return texts or [""] * (0 if vectors is None else len(vectors)), vectors

    def probes(self, texts: list[str], vectors: F32 | None, ranking: Ranking) -> list[list[Probe]]:
        """What queries are searched by as they are."""
        analyzer = self.layout.analyzer if ranking.mode != "dense" else None
        own = [None] * len(texts) if vectors is None or ranking.mode == "sparse" else vectors
        return [
            [Probe(text, None if analyzer is None else analyzer.terms(text), vector)]
            for text, vector in zip(texts, own, strict=True)
        ]

    def filled(self, probes: list[list[Probe]], plain: list[list[Probe]], ranking: Ranking) -> list[list[Probe]]:
        """Probes of a rewrite with their terms and vectors; a query's own text, of ``plain``, is not encoded again."""
        known = {own[0].text: own[0].vector for own in plain if own[0].vector is not None}
        probes = [
            [
                replace(each, vector=known[each.text]) if each.vector is None and each.text in known else each
                for each in own
            ]
            for own in probes
        ]

        def encode(texts: list[str]) -> Any:
            return self.vectors(texts, None, ranking.mode)

        return rewriting.filled(
            probes,
            self.layout.analyzer.terms if self.layout.analyzer is not None and ranking.mode != "dense" else None,
            encode if ranking.mode != "sparse" else None,
        )

    def vectors(self, texts: list[str], given: Any, mode: str) -> F32 | None:
        """Unit vectors float32[q, dim]: those given, else the encoder's; None where none are searched by.

        Raises:
            ValueError: given ones of another shape, or not finite; there are none, and no encoder.
        """
        if given is not None:
            vectors, dim = np.atleast_2d(np.asarray(given, np.float32)), self.layout.dim
            if vectors.ndim != 2 or vectors.shape[1] != dim or (texts and len(vectors) != len(texts)):
                raise ValueError(f"query_vectors must be float[{len(texts) or 'q'}, {dim}]; got {vectors.shape}")
            checks.finite("query_vectors", vectors)
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            return np.ascontiguousarray(vectors / np.maximum(norms, np.float32(1e-12)))
        if mode == "sparse":
            return None
        if self.encoder is None:
            raise ValueError("the index was created without an encoder (encoder=None): pass query_vectors=")
        found: F32 = self.encoder.encode_queries(texts, threads=self.threads)
        return found
