"""The options of an index and of a search, as objects: Bm25, Ranking, Expansion, Rewrite and Rerank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from ..defaults import BM25, SEARCH

if TYPE_CHECKING:
    from .search.hits import Hit

Mode = Literal["hybrid", "dense", "sparse"]
#: The q queries of a search: texts, vectors float[q, dim], a pair (texts, vectors), or for ``Rewrite("options")`` pairs
#: of a question and its possible answers.
QueriesLike = (
    str
    | Sequence[str]
    | Sequence[tuple[str, Sequence[str]]]
    | Sequence[Sequence[float]]
    | npt.NDArray[Any]
    | tuple[Sequence[str], npt.ArrayLike]
)


@dataclass(frozen=True)
class Bm25:
    """The terms of an index that BM25 counts, and its parameters.

    Attributes:
        terms: ``"auto"``: words, and in addition character n-grams of words that are not English. ``"words"``: only
            words. ``"ngrams"``: only character n-grams.
        ngram: The length of an n-gram in characters.
        stemmer: The language of the stemmer, such as ``"english"``; None: words are not stemmed.
        stop_words: The words that are not counted.
        fold_diacritics: Whether diacritics are ignored, in chunks and queries.
        cjk_bigrams: Whether pairs of characters are terms in scripts without spaces, such as Chinese and Thai.
        k1: The saturation of term counts. With a higher ``k1``, further occurrences of a term in a chunk add more.
        b: The normalization by length, from 0 (none) to 1 (full). With a higher ``b``, long chunks score less.

    Example:
        >>> from pychunk.index import Bm25
        >>> Bm25(stemmer="english").terms
        'auto'
    """

    terms: Literal["auto", "words", "ngrams"] = "auto"
    ngram: int = 4
    stemmer: str | None = None
    stop_words: Sequence[str] = ()
    fold_diacritics: bool = False
    cjk_bigrams: bool = True
    k1: float = BM25.k1
    b: float = BM25.b


@dataclass(frozen=True)
class Ranking:
    """The way in which a search ranks chunks.

    Attributes:
        fusion: The combination of vectors and BM25 in mode hybrid. ``"score"``: cosine plus ``bm25_weight`` times BM25,
            where BM25 is divided by the highest score that any text could have for the query. ``"rrf"``: reciprocal
            ranks, in which the rank by BM25 has the weight ``bm25_weight``. ``"levels"``, in an index of levels: scores
            that can be compared between nodes of all sizes (:mod:`pychunk.index.levels.level_ranking`). They include a
            deduction for length, so a longer node comes first only if it matches the query better. With a budget of
            words, nodes that no longer fit are skipped.
        bm25_weight: The weight of BM25, where the cosine has the weight 1.
        chunk_vector_weight: The weight of the chunk's own vector, from 0 to 1, if an index has both kinds of vectors or
            with fusion ``"levels"``. The vector of its best sentence has the weight 1 - ``chunk_vector_weight``.
        document_weight: The weight with which the score of a chunk's document is added to the chunk's score. In mode
            sparse, a document's score is the BM25 of all its chunks as one text. In mode dense, it is the mean of its
            three highest cosines. In mode hybrid, both are added, with the weights of BM25 and cosine. Filters restrict
            which chunks are found, but a document's score counts all its chunks.
        levels: The level to search in an index of levels, or a pair of the finest and the coarsest level, such as
            ``("paragraph", "section")``. Of nested hits, the search returns only the best.
        planner: The planner that chooses the levels for each query: ``"learned"``, ``"rules"``, ``"llm"``, ``"fixed"``,
            the folder of a planner that ``pychunk train`` made, a function ``(query, metadata) -> (finest level,
            coarsest level)``, or the result of :meth:`pychunk.Index.plan`. ``hit.scores["plan"]`` has the choice and
            its reason.
        min_score: The least score of returned hits; after a reranking, the least score by the reranker. With fusion
            ``"score"`` and without ``document_weight``, scores by cosine or BM25 are at most 1, and hybrid scores at
            most 1 + ``bm25_weight``.
    """

    fusion: Literal["score", "rrf", "levels"] = SEARCH.fusion
    bm25_weight: float = SEARCH.bm25_weight
    chunk_vector_weight: float = SEARCH.chunk_vector_weight
    document_weight: float = SEARCH.document_weight
    levels: Any = None
    planner: Any = None
    min_score: float | None = None


@dataclass(frozen=True)
class Expansion:
    """The text that a search returns: the text around each hit, its budget, and whether hits may repeat each other.

    Attributes:
        by: A number: that many chunks of the same document on either side of the hit; in an index of levels, the chunks
            are of the hit's level, and chunks that a better hit has already brought are left out. ``"subtree"``: all
            chunks below the hit in the tree of headings (for chunks of method ``structure``). ``"section"``: the whole
            section of the hit. Of nested subtrees, the search returns only the outermost, with its best hit, so there
            may be fewer than ``k`` hits.
        max_words: The word budget of each query. Hits are added in rank order, each with as much text around it as
            fits; a hit that is longer than the rest of the budget is skipped. With ``"subtree"`` or ``"section"``, the
            budget goes first to the hits with the highest score for their length.
        parents: With ``"subtree"`` or ``"section"``: whether to return the chunks above each hit in the tree, too. A
            chunk above several hits comes only with the first of them.
        distinct: The least share of common text, above 0 and at most 1, at which a hit is left out because it is a
            near-copy of a better hit. Further hits take its place, so a search still returns ``k`` hits if the index
            has enough. The share counts shingles (three consecutive words) of the texts of two hits: those in common,
            divided by those of the longer text. Words are separated by white space; in scripts without spaces, each
            character is one. At 1, only hits with the same words are left out. A reranker gets the hits that remain.
            None: hits may repeat each other.
    """

    by: int | Literal["subtree", "section"] = 0
    max_words: int | None = None
    parents: bool = False
    distinct: float | None = None


@dataclass(frozen=True)
class Rewrite:
    """The stage of a search that replaces each query by several texts, terms or vectors.

    The scores of these texts, terms or vectors are fused, or with fusion ``"rrf"`` their ranks.

    Attributes:
        by: ``"feedback"``: adds terms and vectors of the first hits; ``"options"``: searches pairs of a question and
            its possible answers; ``"hyde"``: adds a passage that a language model writes; ``"multi"``: adds queries
            that a language model writes; or a function (:mod:`pychunk.index.search.query_rewriting`).
        on_error: ``"raise"``; or ``"skip"``: if the rewriting fails, the search goes on with the original query, and
            ``hit.scores["rewrite"]`` has the reason.
    """

    by: Any
    on_error: Literal["raise", "skip"] = "raise"


@dataclass(frozen=True)
class Rerank:
    """The stage of a search that orders the best hits again.

    Attributes:
        by: ``"features"``: a weighted sum of features that the search computes from the index
            (:mod:`pychunk.index.rerank.linear_reranker`), or a folder with other weights for them. Or a cross-encoder:
            ``"reranker"``, after ``pychunk model get reranker``, or a folder that ``pychunk export`` wrote. Or a
            function ``(queries, hits) -> scores``. It gets the texts of the queries, and a list of hits for each query.
            It returns a list for each query, with one number for each hit; the highest number is the best.
        depth: The number of best hits of each query that are ordered again.
        on_error: ``"raise"``; or ``"skip"``: if the reranker fails or a score is NaN, hits keep their order, and
            ``hit.scores["rerank"]`` has the reason.
    """

    by: str | Path | Callable[[Sequence[str], Sequence[Sequence[Hit]]], Sequence[Any]]
    depth: int = SEARCH.rerank_depth
    on_error: Literal["raise", "skip"] = "raise"


Stage = Rewrite | Rerank

_OF_BM25 = "pass bm25=pychunk.index.Bm25({}=...)"
_OF_RANKING = "pass ranking=pychunk.index.Ranking({}=...)"
_WHERE = "pass where=, such as where={'year': {'gte': 2015}}"
_THREADS = "pass placement=pychunk.Placement(threads=...) to Index.open or Index.create"
_STAGES = "pass stages=[pychunk.index.{}(...)]"
#: The advice in errors for keywords that other packages or earlier versions of pychunk use, by keyword.
OF_CREATE = {
    **{name: _OF_BM25.format(name) for name in ("ngram", "stemmer", "stop_words", "fold_diacritics", "cjk_bigrams")},
    **{name: _OF_BM25.format(name) for name in ("k1", "b")},
    "terms": "pass bm25='words' or 'ngrams', or bm25=None for no BM25",
    "runtime": "pass placement=pychunk.Placement(runtime=...)",
    "device": "pass placement=, such as placement='cuda'",
    "threads": "pass placement=pychunk.Placement(threads=...)",
    **dict.fromkeys(
        ("weight", "fusion", "document_weight"), "it belongs to pychunk.index.Ranking, for search and rank"
    ),
    "embedding": "pass encoder=",
    "embedding_function": "pass encoder=",
    "embeddings": "pass encoder=",
    "dimension": "pass dim=",
    "dimensions": "pass dim=",
}
OF_SEARCH = {
    **{name: _OF_RANKING.format(name) for name in ("fusion", "document_weight", "levels", "min_score")},
    **dict.fromkeys(("top_k", "n", "n_results", "limit", "similarity_top_k"), "pass k="),
    **dict.fromkeys(("filter", "filters", "condition"), _WHERE),
    "weight": _OF_RANKING.format("bm25_weight"),
    "alpha": _OF_RANKING.format("bm25_weight"),
    "blend": "pass ranking=pychunk.index.Ranking(chunk_vector_weight=...), which is 1 - blend",
    "plan": _OF_RANKING.format("planner"),
    "score_threshold": _OF_RANKING.format("min_score"),
    "expand": "pass expansion=, such as expansion=1 or expansion='section'",
    "words": "pass expansion=pychunk.index.Expansion(max_words=...)",
    "parents": "pass expansion=pychunk.index.Expansion('subtree', parents=True)",
    "distinct": "pass expansion=pychunk.index.Expansion(distinct=...)",
    "rerank": _STAGES.format("Rerank"),
    "reranker": _STAGES.format("Rerank"),
    "depth": _STAGES.format("Rerank"),
    "rewrite": _STAGES.format("Rewrite"),
    "on_error": "pass it to the stage, pychunk.index.Rerank or pychunk.index.Rewrite",
    "by_document": "call search_documents",
    "query_vectors": "pass vectors as queries, or the pair (texts, vectors)",
    "query": "pass queries=, one text or several",
    "threads": _THREADS,
}
OF_RANK = {
    name: "rank returns rows alone; call search" if "expansion" in text or "stages" in text else text
    for name, text in OF_SEARCH.items()
    if name != "on_error"
}
OF_PLAN = {"plan": "pass by=", "words": "pass max_words=", "threads": _THREADS}
OF_OPEN = {name: text for name, text in OF_CREATE.items() if name in ("runtime", "device", "threads")}
