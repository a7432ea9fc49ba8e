"""The reranker ``"features"``: a weighted sum of features that are computed from a hit's stored vectors and its words.

The weights were learned from Wikipedia without any labels (``pychunk train rank``), for the vectors of each encoder
that pychunk ships. No text is encoded again.
"""

from __future__ import annotations

import copy
import itertools
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._util.weights import read_weights
from ...encoders import static_encoder
from ...encoders.model_cache import loaded
from ..search.hits import Hit
from .rerankers import RerankScores

if TYPE_CHECKING:
    from ..search.searcher import Searcher

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]

FACTS = "rank.json"
#: The features of a hit, in the order of the weights. Shares of the query's terms are weighted by the terms' rarity.
INPUTS = (
    "dense",  # The cosine of the best sentence.
    "second",  # The cosine of the second-best sentence; if there is only one, its cosine minus 0.3.
    "pooled",  # The cosine of the sum of all sentence vectors.
    "pair",  # The cosine of the sum of two adjacent sentence vectors, for the best such pair.
    "sparse",  # BM25 as a share of the highest score that the query allows.
    "coverage",  # The share of the query's terms that are in the chunk.
    "in sentence",  # The share of the query's terms that are in the best sentence.
    "in window",  # The highest share of the query's terms that are within 20 consecutive words of the chunk.
    "in order",  # The share of the query's pairs of adjacent terms that are adjacent in the chunk, too.
)
_WINDOW, _ALONE = 20, np.float32(0.3)
#: The most words whose stems are cached for each language.
_STEMS = 1 << 17
_stems: dict[str, dict[str, str]] = {}


class RankModel:
    """The weights of :data:`INPUTS`, with the encoder whose vectors they are for.

    Args:
        path: The directory with ``rank.json`` and the weights that it names. The default is the directory of weights
            that pychunk ships.

    Raises:
        ValueError: A file is missing, damaged, or of a newer format.
    """

    def __init__(self, path: str | Path = static_encoder.SHIPPED) -> None:
        self.path = Path(path)
        file = self.path / FACTS
        remedy = (
            f"train it again with pychunk train rank --out {self.path}, or install pychunk again if it came with it"
        )
        self.facts, stored = read_weights(file, "weights for reranking", remedy, ("encoder", "inputs"))
        self.weights: F32 = np.asarray(stored["weights"], np.float32)
        if tuple(self.facts["inputs"]) != INPUTS or self.weights.shape != (len(INPUTS),):
            raise ValueError(
                f"{file} is for other features than the {len(INPUTS)} that this pychunk computes; got "
                f"{self.weights.size} weights for {', '.join(map(str, self.facts['inputs'])):.80}; {remedy}"
            )


class LinearReranker:
    """The reranker ``"features"`` for hits that were found in one state of an index.

    Args:
        searcher: The searcher that found the hits.
        vectors: The vectors of the queries, float32[q, dim].
        encoder: The fingerprint of the index's encoder.
        model: The weights. None: the weights that pychunk ships.
        mode: The mode of the search that found the hits.

    Raises:
        ValueError: The index has no sentence vectors or no terms, the search did not use both (``mode="hybrid"``), or
            the weights are for another encoder than that of the index.
    """

    name = "features"

    def __init__(
        self,
        searcher: Searcher,
        vectors: F32 | None,
        encoder: str,
        model: RankModel | None = None,
        *,
        mode: str = "hybrid",
    ) -> None:
        others = (
            "leave out Rerank('features'), or use a cross-encoder, such as Rerank('reranker') (pychunk model get "
            "reranker)"
        )
        if searcher.sentences is None or searcher.bm25 is None:
            lacking = "vectors of sentences" if searcher.sentences is None else "terms"
            kind = "index of levels" if searcher.levels else "index"
            raise ValueError(f"Rerank('features') needs {lacking}, and this {kind} has none: {others}")
        if vectors is None or mode != "hybrid":
            raise ValueError(
                f"Rerank('features') needs a search by both terms and vectors of sentences; got mode={mode!r}: search "
                "with mode='hybrid', or " + others
            )
        self.model = model or load()
        wanted = self.model.facts["encoder"]
        if encoder != wanted:
            raise ValueError(
                f"Rerank('features') is for vectors of {wanted}, but vectors of this index are of {encoder}: " + others
            )
        self.searcher, self.vectors = searcher, vectors

    def score(self, queries: Sequence[str], hits: Sequence[Sequence[Hit]], threads: int | None) -> RerankScores:
        """Return the weighted sum of each hit's features. A hit of 110 words takes 80 us on one thread."""
        inputs = Inputs(self.searcher)
        return RerankScores(
            [
                inputs.of(query, vector, own) @ self.model.weights
                for query, vector, own in zip(queries, self.vectors, hits, strict=True)
            ]
        )


class Inputs:
    """The computation of the features :data:`INPUTS` of hits, from one state of an index."""

    def __init__(self, searcher: Searcher) -> None:
        assert searcher.sentences is not None
        assert searcher.bm25 is not None
        assert searcher.layout.analyzer is not None
        self.searcher, self.sentences, self.bm25 = searcher, searcher.sentences, searcher.bm25
        self._analyzer = searcher.layout.analyzer

    @cached_property
    def terms(self) -> Any:
        """The ``terms`` method of the index's analyzer, with a cache of stems, which makes it 3 times as fast."""
        analyzer = self._analyzer
        if analyzer.stem is None:
            return analyzer.terms
        language, stem = str(analyzer.stemmer), analyzer.stem

        def remembered(words: list[str]) -> list[str]:
            known = _stems.setdefault(language, {})
            if len(known) > _STEMS:  # Other threads may go on using the old cache.
                known = _stems[language] = {}
            try:
                return list(map(known.__getitem__, words))
            except KeyError:
                known.update(zip(words, stem(words), strict=True))
                return [known[word] for word in words]

        made = copy.copy(analyzer)
        made.stem = remembered
        return made.terms

    def of(self, query: str, vector: F32, hits: Sequence[Hit]) -> F32:
        """Return the features of hits, float32[hits, features]. The features of a hit do not depend on other hits."""
        out = np.zeros((len(hits), len(INPUTS)), np.float32)
        if not hits:
            return out
        out[:, :4] = self._by_vector(vector, np.array([hit.row for hit in hits], np.int64))
        asked = self.terms(query)
        rarity = {term: float(weight) for term, weight in self.bm25.idf(asked).items()}
        whole = sum(rarity.values()) or 1.0
        pairs = {pair: min(rarity.get(term, 0.0) for term in pair) for pair in itertools.pairwise(asked)}
        pairs_whole = sum(pairs.values()) or 1.0
        compress, pairwise = itertools.compress, itertools.pairwise
        weights, pair_weights = list(rarity.values()), list(pairs.values())
        terms_of, wanted = self.terms, rarity.__contains__
        found = []
        for hit in hits:
            text, (begin, end) = hit.text, hit.sentence or (hit.start, hit.end)
            begin, end = max(0, begin - hit.start), max(0, end - hit.start)
            terms = terms_of(text[:begin]) if begin else []
            inside = terms_of(text[begin:end])
            terms += inside
            if end < len(text):
                terms += terms_of(text[end:])
            places = list(compress(enumerate(terms), map(wanted, terms)))
            held = {term for _, term in places}
            near = {(a, b) for (at, a), (then, b) in pairwise(places) if then == at + 1}
            found.append(
                (
                    hit.scores["sparse"],
                    sum(compress(weights, map(held.__contains__, rarity))) / whole,
                    sum(compress(weights, map(held.intersection(inside).__contains__, rarity))) / whole,
                    _densest(places, rarity) / whole,
                    sum(compress(pair_weights, map(near.__contains__, pairs))) / pairs_whole if near else 0.0,
                )
            )
        out[:, 4:] = found
        return out

    def _by_vector(self, vector: F32, rows: I64) -> F32:
        """Return the first four features of chunks, given by row, which are cosines: float32[n, 4]."""
        begins, ends = self.searcher.offsets[rows], self.searcher.offsets[rows + 1]
        counts = ends - begins
        out = np.zeros((len(rows), 4), np.float32)
        for place in np.flatnonzero(counts == 0).tolist():  # Blank chunks have no sentence.
            out[place] = -_ALONE
        some = np.flatnonzero(counts)
        if not len(some):
            return out
        counts, first = counts[some], np.concatenate([[0], np.cumsum(counts[some])[:-1]])
        own = np.repeat(np.arange(len(some)), counts)
        vectors = self.sentences.rows(np.repeat(begins[some] - first, counts) + np.arange(len(own)))
        cosine = np.einsum("ij,j->i", vectors, vector)
        order = np.lexsort((-cosine, own))
        best = cosine[order[first]]
        second = best - _ALONE
        more = counts > 1
        second[more] = cosine[order[first[more] + 1]]
        sums = np.add.reduceat(vectors, first, axis=0)
        pooled = np.add.reduceat(cosine, first) / np.maximum(np.sqrt(np.einsum("ij,ij->i", sums, sums)), 1e-9)
        pair = best.copy()
        if len(own) > 1:
            both = vectors[1:] + vectors[:-1]
            near = (cosine[1:] + cosine[:-1]) / np.maximum(np.sqrt(np.einsum("ij,ij->i", both, both)), 1e-9)
            near[own[1:] != own[:-1]] = -1
            pair[more] = np.maximum.reduceat(np.append(near, np.float32(-1)), first)[more]
        out[some] = np.stack([best, second, pooled, pair], axis=1)
        return out


def _densest(places: Sequence[tuple[int, str]], rarity: dict[str, float]) -> float:
    """Return the highest total rarity of different terms within a window of 20 words.

    ``places`` has (position, term) of each occurrence of a query's term in the chunk.
    """
    most = now = 0.0
    held: dict[str, int] = {}
    begin = 0
    for place, term in places:
        held[term] = held.get(term, 0) + 1
        if held[term] == 1:
            now += rarity[term]
        while place - places[begin][0] >= _WINDOW:
            gone = places[begin][1]
            begin += 1
            held[gone] -= 1
            if not held[gone]:
                now -= rarity[gone]
        if now > most:
            most = now
    return most


def named(rerank: Any, encoder: Any = None) -> RankModel | None:
    """Return the weights for ``"features"``, or for a folder of ``pychunk train rank``; None for other rerankers.

    ``"features"`` are the weights in the folder of ``encoder``, and those for the static encoder if it has none.

    Raises:
        ValueError: The files of the folder are damaged.
    """
    if isinstance(rerank, str) and rerank == "features":
        own = getattr(encoder, "path", None)
        return load(own if isinstance(own, Path) and (own / FACTS).is_file() else static_encoder.SHIPPED)
    if isinstance(rerank, (str, Path)) and os.path.isfile(Path(rerank) / FACTS):
        return load(rerank)
    return None


def load(path: str | Path = static_encoder.SHIPPED) -> RankModel:
    """Return the weights in a directory. They are loaded once and then cached."""
    return loaded(path, FACTS, lambda: RankModel(path), RankModel)
