"""Documents at several levels as a system to compare: all nodes are in one index, searched at some levels."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ..index.index import Index
from ..index.options import Ranking
from ..index.planners import planner
from ..inputs.document_columns import DocumentColumns
from ..levels.hierarchy_builder import hierarchy_by
from ..segmenter import Segmenter
from ..vectors import Vectors
from .datasets import Dataset
from .systems import Encoder, LevelSetup, SystemChunks

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]

#: The name of this system in reports, next to those of methods.
NAME = "hierarchy"
LEVELS = "sentence+group+paragraph+section+document"
#: The options of :class:`pychunk.Segmenter` that make the plain chunks of the level ``group``: at most 110 words each.
CHUNKS: dict[str, Any] = {"method": "recursive", "size": 110}
#: The number of hits whose levels are counted.
BEST = 5


@dataclass(frozen=True)
class LevelPlans:
    """The levels searched for each question, the mean time of a plan, and the number of plans that failed.

    The time is in milliseconds, and None without a planner.
    """

    pairs: list[tuple[str, str]]
    milliseconds: float | None
    failed: int


def by_levels(
    options: Mapping[str, Any], data: Dataset, encoder: Encoder, name: str = "", llm: Any = None
) -> SystemChunks:
    """Build all nodes of the documents at some levels.

    Args:
        options: ``levels`` lists the levels from fine to coarse, joined by ``+``. ``method`` makes the chunks of the
            level ``group``; its default is :data:`CHUNKS`. ``pooling`` is the argument of
            :func:`pychunk.segment_levels`. ``plan`` is a planner's name or folder, the level to search, or the finest
            and the coarsest level joined by ``+``; without it, all levels are searched. ``fusion`` is the argument of
            :class:`pychunk.index.Ranking`. All other options are arguments of :class:`pychunk.Segmenter`.
        data: The dataset.
        encoder: The encoder of the evaluation.
        name: The name of the row; default: ``hierarchy``.
        llm: The client of a method or planner that asks a model.

    Raises:
        ValueError: A level is unknown, levels are not nested, the plan is unknown, or the dataset is one of boundaries.
    """
    if data.kind == "boundaries":
        raise ValueError(
            f"{NAME} cannot be compared by boundaries, because each of its levels has its own; "
            "name a method, such as structure"
        )
    if encoder.index["encoder"] is None:
        raise ValueError(f"{NAME} needs an encoder given by its name or folder; got {encoder.name}")
    own = dict(options)
    if "method" not in own:
        own = CHUNKS | own
    names = tuple(str(own.pop("levels", LEVELS)).split("+"))
    plan, pooling = own.pop("plan", None), str(own.pop("pooling", "tokens"))
    levelled = LevelSetup(names, _plan(plan, names, llm), str(own.pop("fusion", "score")))
    method = own.pop("method", None)
    asked = {} if llm is None or plan == "llm" else {"llm": llm}
    segmenter = Segmenter(method, **own, **asked, vectors=Vectors("chunk", encoder.name))
    columns: DocumentColumns = {}
    if data.page_starts:
        columns["page_starts"] = data.page_starts
    begun = time.perf_counter()
    table = (
        hierarchy_by(segmenter, data.documents, list(names), pooling=pooling, ids=data.ids, columns=columns)
        .chunks()
        .table
    )
    seconds = time.perf_counter() - begun
    return SystemChunks(name or NAME, table, seconds, options=dict(options), levelled=levelled)


def _plan(plan: Any, names: Sequence[str], llm: Any) -> Any:
    """Return a planner, or the finest and the coarsest level to search for all questions."""
    if plan is None:
        return names[0], names[-1]
    if plan == "llm":
        from ..index.planners.llm_planner import LLMPlanner

        return LLMPlanner(llm)
    pair = str(plan).split("+")
    if plan in planner.PLANNERS or (not set(pair) <= set(names) and planner.trained(str(plan)) is not None):
        return planner.load(plan)
    if len(pair) > 2 or not set(pair) <= set(names) or names.index(pair[0]) > names.index(pair[-1]):
        raise ValueError(
            f"plan must be one of {', '.join(planner.PLANNERS)}, the folder of a planner, or one or two of the levels "
            f"{', '.join(names)}, the finer first, with + between them; got {plan!r}"
        )
    return pair[0], pair[-1]


def planned(index: Index, levelled: LevelSetup, queries: Sequence[str]) -> LevelPlans:
    """Return the levels to search for each query."""
    if isinstance(levelled.plan, tuple):
        return LevelPlans([levelled.plan] * len(queries), None, 0)
    begun = time.perf_counter()
    plans = index.plan(list(queries), levelled.plan)
    spent = 1000 * (time.perf_counter() - begun) / max(1, len(queries))
    return LevelPlans([(plan.low, plan.high) for plan in plans], spent, sum(plan.failed for plan in plans))


def ranked(
    index: Index,
    pairs: Sequence[tuple[str, str]],
    queries: Sequence[str],
    vectors: F32 | None,
    depth: int,
    mode: Any,
    ranking: Ranking,
) -> tuple[I64, F32]:
    """Rank chunks as :meth:`pychunk.Index.rank` does, each query at its levels.

    Queries with equal levels share a call.
    """
    rows, scores = np.full((len(queries), depth), -1, np.int64), np.full((len(queries), depth), np.nan, np.float32)
    for pair in sorted(set(pairs)):
        own = [number for number, each in enumerate(pairs) if each == pair]
        asked: Any = [queries[number] for number in own]
        if vectors is not None:
            asked = asked, vectors[own]
        rows[own], scores[own] = index.rank(asked, depth, mode, ranking=replace(ranking, levels=pair))
    return rows, scores


def searched(
    index: Index, pairs: Sequence[tuple[str, str]], queries: Any, depth: int, mode: Any, ranking: Ranking, stages: Any
) -> Sequence[Sequence[Any]]:
    """Search as :meth:`pychunk.Index.search` does, each query at its own levels."""
    plans = [planner.Plan(low, high, "") for low, high in pairs]
    return index.search(queries, depth, mode, ranking=replace(ranking, planner=plans), stages=stages)


def chosen(chunked: SystemChunks, rows: I64, told: LevelPlans) -> dict[str, Any]:
    """Return the shares of the best hits and of the plans by level.

    ``hits`` has, for each level, the share of the best hits whose finest level it is. ``finest`` and ``coarsest`` have
    the share of the plans whose finest, or whose coarsest, level it is. The result also has the mean number of words in
    a hit, and the number of plans that failed.
    """
    assert chunked.levelled is not None
    names = chunked.levelled.names
    finest = np.array(pc.list_element(chunked.table["levels"], 0).to_pylist())
    best = rows[:, :BEST]
    best = best[best >= 0]
    hits = Counter(finest[best].tolist())
    ends = [Counter(pair[place] for pair in told.pairs) for place in (0, 1)]
    shares = [
        {level: count[level] / max(1, sum(count.values())) for level in names} for count in (hits, ends[0], ends[1])
    ]
    found: dict[str, Any] = dict(zip(("hits", "finest", "coarsest"), shares, strict=True))
    found["words a hit"] = float(chunked.words[best].mean()) if len(best) else 0.0
    found["plans that failed"] = told.failed
    return found
