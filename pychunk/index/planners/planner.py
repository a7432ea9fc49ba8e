"""Planners, which choose the levels of an index for a query, with their input and the fallback if a planner fails.

A planner is any callable ``plan(query, metadata)`` that returns the finest and the coarsest level worth searching,
``(low, high)``, or ``(low, high, why)``. The idea comes from SmartChunk, whose planner knows which document a query is
about. Here the document is unknown. Instead, a first, cheap pass over the finest and the coarsest level shows how
sharply scores peak, and over how many documents the best hits spread.
"""

from __future__ import annotations

import contextlib
import os
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..._util.counting import counted
from ..._util.lazy_imports import by_name
from ...telemetry import logger
from .. import argument_checks
from ..levels import level_ranking
from ..scoring.ranking import RankingOptions
from ..search import query_rewriting as rewriting
from ..search.hits import DocumentHits, Hits
from ..search.search_options import SearchOptions
from .planner_timeout import TimedPlanner
from .term_statistics import Terms, terms_of

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from ..scoring.subqueries import Subquery
    from ..search.searcher import Searcher

    F32 = npt.NDArray[np.float32]
    I64 = npt.NDArray[np.int64]


#: The word budget of a plan if the caller passes none.
WORDS = 500
#: FIRST is the number of hits of the first pass. The first pass also finds the best sentences for the search that
#: follows it, but not more than a search for MOST_HITS hits needs.
FIRST, MOST_HITS = 32, 256
#: The planners by name, with the modules of their classes.
PLANNERS = {
    "fixed": ("pychunk.index.planners.planner", "FixedLevels"),
    "rules": ("pychunk.index.planners.rule_planner", "Rules"),
    "learned": ("pychunk.index.planners.model_planner", "ModelPlanner"),
    "llm": ("pychunk.index.planners.llm_planner", "LLMPlanner"),
}
#: The planners in a folder that ``pychunk train`` wrote, by the file with the facts about the model.
TRAINED = {
    "planner.json": ("pychunk.index.planners.model_planner", "ModelPlanner"),
    "stitch.json": ("pychunk.training.stitch.planner", "StitchPlanner"),
}
#: The most first lines of sections that a planner gets, the hits that are examined for them, and the longest line.
MOST_HEADINGS, HEADED_HITS, LONGEST_HEADING = 3, 8, 80
#: The range of levels, from the finest to the coarsest, with the best results if all queries use the same range, and
#: hits of 500 words are returned (bench/levels/mixed_breadth.py).
BEST_FIXED = ("paragraph", "document")


@dataclass(frozen=True)
class FirstPass:
    """The best hits of one level, best first.

    Attributes:
        score, dense, sparse: The scores by which the n hits are ranked, their cosines, and BM25 as a share of the
            highest score that the query allows, float32[n] each. ``sparse`` is zeros if the index has no terms, and
            ``dense`` if the pass uses no vectors.
        document, start, end: A number for each hit's document, and the hit's span in characters, int64[n] each.
        inside: The number of the node of each level that contains each hit, int64[levels, n], from fine to coarse. It
            is empty except for the pass over the finest level.
    """

    score: F32
    dense: F32
    sparse: F32
    document: I64
    start: I64
    end: I64
    inside: I64 = field(default_factory=lambda: np.empty((0, 0), np.int64))


@dataclass(frozen=True)
class Metadata:
    """The information that a planner receives in addition to the query.

    Attributes:
        levels: The levels of the index, from fine to coarse.
        nodes: The number of nodes at each level.
        words: The word budget of the query. None: unknown.
        fine, coarse: The first pass over the finest and the coarsest level. None without a first pass, which planners
            can decline by an attribute ``looks = False``.
        vector: The query's vector, float32[dim]. None without a first pass or without an encoder.
        encoder: The fingerprint of the index's encoder.
        terms: Statistics of the query's terms. None without a first pass, or if the index has no terms.
        headings: The first lines of the sections of the first hits, each once. They are read from the index only for
            planners with an attribute ``headings = True``.
    """

    levels: tuple[str, ...]
    nodes: tuple[int, ...] = ()
    words: int | None = None
    fine: FirstPass | None = None
    coarse: FirstPass | None = None
    vector: F32 | None = None
    encoder: str = ""
    terms: Terms | None = None
    headings: tuple[str, ...] = ()


class Plan(NamedTuple):
    """The levels that a planner chose.

    Attributes:
        low, high: The finest and the coarsest level that is searched.
        why: The reason in a few words.
        failed: Whether the planner raised an error, did not answer in time, or did not return two levels of the index.
            The levels are then chosen by the planner that its attribute ``otherwise`` names, or else by ``"fixed"``.
    """

    low: str
    high: str
    why: str
    failed: bool = False

    def __str__(self) -> str:
        return f"{self.low if self.low == self.high else f'{self.low} to {self.high}'}: {self.why}"


Planner = Callable[[str, Metadata], "tuple[str, str] | tuple[str, str, str]"]


class FixedLevels:
    """A planner that returns the same levels for each query.

    They are ``low`` and ``high``. By default they are :data:`BEST_FIXED` if the index has both, else its finest and its
    coarsest level.

    Example:
        >>> FixedLevels()("Who?", Metadata(("sentence", "paragraph", "section", "document")))
        ('paragraph', 'document', 'fixed')
        >>> FixedLevels()("Who?", Metadata(("sentence", "256", "document")))
        ('sentence', 'document', 'fixed')
    """

    looks = False
    timeout = None

    def __init__(self, low: str | None = None, high: str | None = None) -> None:
        self.low, self.high = low, high

    def __call__(self, query: str, metadata: Metadata) -> tuple[str, str, str]:
        """Return the finest level, the coarsest level and the reason "fixed", whatever the query."""
        known = metadata.levels
        low, high = BEST_FIXED if set(BEST_FIXED) <= set(known) else (known[0], known[-1])
        return self.low or low, self.high or high, "fixed"


def trained(folder: str | os.PathLike[str]) -> tuple[str, str] | None:
    """Return the module and class of the planner in a folder, or None if the folder has none."""
    for facts, place in TRAINED.items():
        with contextlib.suppress(OSError, ValueError):  # a text that is too long for a path, or has a null character
            if (Path(os.fspath(folder)) / facts).is_file():
                return place
    return None


def load(plan: Any) -> Planner:
    """Return the planner of a name or of a folder, or ``plan`` itself if it is a function.

    Raises:
        ValueError: The name is unknown, or the folder has no planner.
        TypeError: ``plan`` is neither a name or folder nor callable.
    """
    if isinstance(plan, str) and plan in PLANNERS:
        made: Planner = by_name(*PLANNERS[plan])()
        return made
    if isinstance(plan, (str, os.PathLike)):
        place = trained(plan)
        if place is not None:
            made = by_name(*place)(Path(os.fspath(plan)))
            return made
        raise ValueError(
            f"planner must be one of {', '.join(map(repr, PLANNERS))}, the folder of a planner that pychunk train "
            f"planner or pychunk train stitch wrote, or a function; got {os.fspath(plan)!r:.80}"
        )
    if not callable(plan):
        raise TypeError(
            f"planner must be one of {', '.join(map(repr, PLANNERS))}, a folder, or a function (query, metadata) -> "
            f"(finest level, coarsest level); got {plan!r:.80}"
        )
    found: Planner = plan
    return found


def decide(planner: Planner, query: str, metadata: Metadata, ask: Planner | None = None) -> Plan:
    """Return the plan of a planner for one query, after a check. For an empty query, the plan is to search all levels.

    A planner fails if it raises an error, does not return a pair of levels of the index, the finer first, or does not
    answer in time. The time limit is the planner's attribute ``timeout``, by default :data:`.planner_timeout.SECONDS`.
    If it fails, the planner that its attribute ``otherwise`` names makes the plan, by default ``"fixed"``, and
    ``failed`` is True.

    Args:
        planner: The planner.
        query: The text of the query.
        metadata: The information for the planner.
        ask: The :class:`.planner_timeout.TimedPlanner` of the planner, if several queries share it. None: a new one.

    Example:
        >>> known = Metadata(("sentence", "document"))
        >>> print(decide(lambda query, metadata: ("document", "sentence"), "Who?", known))
        sentence to document: fixed, as the planner returned ('document', 'sentence')
        >>> print(decide(FixedLevels(), "  ", known))
        sentence to document: the query is empty
    """
    levels = metadata.levels
    if not query.strip():
        return Plan(levels[0], levels[-1], "the query is empty")
    ask = ask or TimedPlanner(planner)
    try:
        answer: Any = ask(query, metadata)
    except Exception as error:  # The search goes on after any error.
        reason = f"the planner failed: {error}"
    else:
        reason = f"the planner returned {answer!r:.80}"
        if isinstance(answer, (tuple, list)) and len(answer) in (2, 3) and all(isinstance(one, str) for one in answer):
            low, high, *why = answer
            if low in levels and high in levels and levels.index(low) <= levels.index(high):
                return Plan(low, high, why[0] if why else getattr(planner, "__name__", type(planner).__name__))
    other = getattr(planner, "otherwise", "fixed")
    logger.warning("%s; planner %r chooses the levels instead", reason, other)
    if other != "fixed":
        plan = decide(load(other), query, metadata)
        return Plan(plan.low, plan.high, f"{other}, as {reason}: {plan.why}", failed=True)
    low, high, _ = FixedLevels()(query, metadata)
    return Plan(low, high, f"fixed, as {reason}", failed=True)


def looks(planner: Planner) -> bool:
    """Return whether a planner needs a first pass. Functions do, unless their attribute ``looks`` is False."""
    return bool(getattr(planner, "looks", True))


def metadata_of(
    searcher: Searcher,
    probes: Sequence[Sequence[Subquery]],
    *,
    words: int | None = None,
    encoder: str = "",
    ranking: RankingOptions | None = None,
    hits: int = 5,
    headings: bool = False,
    threads: int | None = None,
) -> list[Metadata]:
    """Return the information that planners receive for each query.

    Args:
        searcher: The searcher of the index.
        probes: The subqueries of each query, with the terms and vectors that ``ranking`` needs.
        words: The word budget of each query. None: unknown.
        encoder: The fingerprint of the index's encoder.
        ranking: The ranking of the first pass. None: without a first pass.
        hits: The number of hits that the later search across levels will request. The first pass already finds as many
            best sentences as that search needs.
        headings: Whether to read the first lines of the sections of the first hits.
        threads: The number of threads. None: the default number.

    Raises:
        ValueError: The index has no levels.
    """
    known = searcher.levels
    if not known:
        raise ValueError(
            "a planner needs an index of levels, and this one has none: make one with pychunk index --levels, or add "
            "the result of pychunk.Hierarchy.chunks()"
        )
    names = tuple(known)
    nodes = searcher.level_sizes
    if ranking is None:
        return [Metadata(names, nodes, words, encoder=encoder) for _ in probes]
    coarse, coarse_rows = _passes(searcher, probes, ranking, names[-1], threads)
    searcher.look_ahead(probes, level_ranking.sentences_for(hits), threads, coarse_rows)
    fine, fine_rows = _passes(searcher, probes, ranking, names[0], threads)
    every = [np.stack([searcher.nodes.number_at(level, rows) for level in names]) for rows in fine_rows]
    fine = [replace(own, inside=inside) for own, inside in zip(fine, every, strict=True)]
    terms = terms_of(searcher, [list(own[0].terms or ()) for own in probes], fine_rows, coarse_rows)
    lines = [first_lines(searcher, rows) if headings else () for rows in fine_rows]
    return [
        Metadata(names, nodes, words, one, other, own[0].vector, encoder, held, head)
        for own, one, other, held, head in zip(probes, fine, coarse, terms, lines, strict=True)
    ]


def first_lines(searcher: Searcher, rows: I64) -> tuple[str, ...]:
    """Return the first lines of the sections that contain the first hits, each once.

    Without the level ``section``, it is the level ``page`` or else the coarsest level. A line is cut after
    :data:`LONGEST_HEADING` characters.
    """
    level = next((name for name in ("section", "page") if name in searcher.levels), list(searcher.levels)[-1])
    found: dict[str, None] = {}
    for row in searcher.nodes.rows_at(level, rows[:HEADED_HITS]).tolist():
        if row >= 0 and len(found) < MOST_HEADINGS:
            (passage,) = searcher.passages([row])
            line = next((line for line in passage.text.split("\n") if line.strip()), "")
            found.setdefault(" ".join(line.split())[:LONGEST_HEADING])
    return tuple(found)


def _passes(
    searcher: Searcher, probes: Sequence[Sequence[Subquery]], ranking: RankingOptions, level: str, threads: int | None
) -> tuple[list[FirstPass], list[I64]]:
    """Return (the :data:`FIRST` best hits of each query at one level; the rows of these hits)."""
    found = []
    rows = []
    allowed = searcher.allowed(None, None, [level])
    for ranked, names, _ in searcher.rank(probes, FIRST, ranking, allowed, threads, names=[level]):
        parts = dict(zip(names, ranked.parts, strict=True))
        none = np.zeros(len(ranked.chunks), np.float32)
        dense, sparse = parts.get("chunk", parts.get("dense", none)), parts.get("sparse", none)
        found.append(FirstPass(ranked.scores, dense, sparse, *searcher.places(ranked.chunks)))
        rows.append(ranked.chunks)
    return found, rows


#: A function (queries, their vectors, options) that searches and returns the hits of each query.
Searches = Callable[[Any, Any, SearchOptions], Hits[Any]]


class Searchable(Protocol):
    """The interface of an index that this module needs."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the index."""
        ...

    @property
    def plan_metadata(self) -> Callable[..., list[Metadata]]:
        """The method that returns the information that planners receive for each query."""
        ...


def plans(index: Searchable, plan: Any, queries: Any, *, with_headings: bool = True, **told: Any) -> list[Plan]:
    """Return the plan for each query.

    Args:
        index: The index.
        plan: A planner, its name or its folder.
        queries: The text of one query, or the texts of several.
        with_headings: Whether planners that ask for the first lines of sections get them.
        told: Further arguments of :meth:`Index.plan_metadata`.
    """
    planner = load(plan)
    texts = argument_checks.texts(queries)
    headings = with_headings and bool(getattr(planner, "headings", False))
    metadata = index.plan_metadata(texts, look=looks(planner), headings=headings, **told)
    ask = TimedPlanner(planner)
    return [decide(planner, text, each, ask) for text, each in zip(texts, metadata, strict=True)]


def searched(
    index: Searchable, search: Searches, queries: Any, query_vectors: Any, options: SearchOptions
) -> Hits[Any]:
    """Return the hits of each query at the levels that its plan has.

    Queries with the same levels are searched together.

    Args:
        index: The index.
        search: The function that searches at the levels of its options.
        queries: The text of one query, or the texts of several.
        query_vectors: The vectors of the queries. None: the index encodes their texts.
        options: The options, whose ``plan`` is a planner, its name, or a list of one plan for each query.

    Raises:
        ValueError: The options also have levels, only query vectors were passed, or there is not one plan for each
            query.
    """
    if options.levels is not None:
        raise ValueError("levels= and planner= both choose the levels to search: pass one of them")
    if queries is None:
        raise ValueError("a planner reads the texts of queries; got vectors alone: pass the pair (texts, vectors)")
    queries = [queries] if isinstance(queries, str) else list(queries)
    texts = rewriting.choices(queries)[0] if options.rewrite == "options" else queries
    chosen = options.plan
    if not isinstance(chosen, (list, tuple)):
        if not index.schema.names:
            return search(queries, query_vectors, replace(options, plan=None))
        # The first pass knows no filter, so a filtered search shows a model no lines of documents that it may not find.
        filtered = options.where is not None or options.ids is not None
        told = {"max_words": options.words, "hits": _hits(options)}
        chosen = plans(index, chosen, texts, with_headings=not filtered, **told)
    if len(chosen) != len(queries):
        raise ValueError(
            f"planner must have one plan for each query; got {counted(len(chosen), 'plan')} for "
            f"{counted(len(queries), 'query', 'queries')}"
        )
    groups: dict[tuple[str, str], list[int]] = {}
    for row, each in enumerate(chosen):
        groups.setdefault((each.low, each.high), []).append(row)
    found: list[Any] = [None] * len(queries)
    for pair, rows in groups.items():
        vectors = None if query_vectors is None else np.atleast_2d(np.asarray(query_vectors))[rows]
        lists = search([queries[row] for row in rows], vectors, replace(options, plan=None, levels=pair))
        for row, hits in zip(rows, lists, strict=True):
            found[row] = Hits(_told(hit, str(chosen[row])) for hit in hits)
    return Hits(found)


def _hits(options: SearchOptions) -> int:
    """Return the number of hits that a search with these options ranks, at most :data:`MOST_HITS`."""
    argument_checks.whole("k", options.k, 1)
    if options.rerank:
        argument_checks.whole("depth", options.depth, 1)
    return min(int(options.count), MOST_HITS)


def _told(hit: Any, plan: str) -> Any:
    if isinstance(hit, DocumentHits):
        return replace(hit, hits=tuple(_told(each, plan) for each in hit.hits))
    return replace(hit, scores={**hit.scores, "plan": plan})


def unreadable(query: str) -> str | None:
    """Return why planners that were made for English cannot judge a query, or None if they can.

    Example:
        >>> unreadable("Хто перетнув Анди?"), unreadable("Who crossed the Andes?"), unreadable("?!")
        ('the query is in another script', None, 'the query has no words')
    """
    letters = [character for character in query if character.isalpha()]
    if not letters:
        return None if any(character.isdigit() for character in query) else "the query has no words"
    latin = sum(character.isascii() or unicodedata.name(character, "").startswith("LATIN") for character in letters)
    return None if 2 * latin >= len(letters) else "the query is in another script"
