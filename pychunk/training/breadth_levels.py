"""Searches for questions of mixed breadth at every range of levels, and the scores by range and budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..api import segment_levels
from ..evaluation.hierarchies import CHUNKS
from ..index.index import Index
from ..index.options import Bm25, Mode, Ranking
from ..placement import Placement
from .breadth import BUDGETS, LEVELS, Measure, Questions, ranges

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: The number of hits to read at each level. 150 sentences contain more than 3,000 words, twice the largest budget.
HITS = 150
#: The number of queries in one search.
_BATCH = 256


class Scores(NamedTuple):
    """The scores of q questions at each of r ranges of levels within each of b budgets.

    Attributes:
        f1: The character F1 of the returned text, float64[q, r, b].
        held: Whether a span that fits as a whole contains an answer, bool[q, r, b]: :meth:`.breadth.Measure.holds`.
    """

    f1: F64
    held: npt.NDArray[np.bool_]


def index_of(data: Questions, folder: str | Path, levels: Sequence[str] = LEVELS, threads: int | None = None) -> Index:
    """Make an index of the documents at levels, with the settings of the other measurements on English text."""
    ids, placement = [str(row) for row in range(len(data.documents))], Placement(threads=threads)
    found: Any = segment_levels(
        data.documents,
        list(levels),
        vectors="chunk",
        columns={"blocks": data.blocks},
        ids=ids,
        placement=placement,
        **(CHUNKS if "group" in levels else {}),
    )
    made = Index.create(folder, vectors="chunk", bm25=Bm25(stemmer="english"), placement=placement)
    made.add(found.chunks())
    return made


def scores_of_ranges(
    index: Index,
    data: Questions,
    queries: Sequence[str],
    *,
    levels: Sequence[str] = LEVELS,
    budgets: Sequence[int] = BUDGETS,
    measure: Measure | None = None,
    mode: Mode = "hybrid",
) -> Scores:
    """Return the scores of each question at each of :func:`ranges` within each budget.

    Each level is searched only once. The hits at a range of levels are computed from the hits at its single levels.
    They are sorted by score, and a hit that is nested with a better one is left out. The result is the same as that of
    a search with ``levels=(low, high)``.

    Args:
        index: The index from :func:`index_of`.
        data: The questions.
        queries: One version of each question.
        levels: The levels of the index.
        budgets: The numbers of words that a search may return.
        measure: The measure of the documents; it is made if missing.
        mode: The mode as in :meth:`pychunk.Index.search`.
    """
    measure = measure or Measure(data.documents)
    pairs = ranges(levels)
    found = np.zeros((len(queries), len(pairs), len(budgets)))
    held = np.zeros(found.shape, np.bool_)
    places = [np.asarray(index.table[name], np.int64) for name in ("document_index", "start", "end")]
    for first in range(0, len(queries), _BATCH):
        asked = list(queries[first : first + _BATCH])
        by_level = {level: index.rank(asked, HITS, mode, ranking=Ranking(levels=level)) for level in levels}
        for number, question in enumerate(data.questions[first : first + _BATCH]):
            for place, (low, high) in enumerate(pairs):
                own = levels[levels.index(low) : levels.index(high) + 1]
                rows = _merged([(by_level[level][0][number], by_level[level][1][number]) for level in own])
                spans = [each[rows] for each in places]
                for budget, words in enumerate(budgets):
                    document, start, end = spans
                    at = first + number, place, budget
                    found[at] = measure.f1(question, document, start, end, words)
                    held[at] = measure.holds(question, document, start, end, words)
    return Scores(found, held)


def _merged(lists: Sequence[tuple[I64, npt.NDArray[np.float32]]]) -> I64:
    """Return the rows of several rankings by decreasing score, each once."""
    rows = np.concatenate([own for own, _ in lists])
    scores = np.concatenate([own for _, own in lists])
    rows, scores = rows[rows >= 0], scores[rows >= 0]
    rows = rows[np.lexsort((rows, -scores))]
    return rows[np.sort(np.unique(rows, return_index=True)[1])]
