"""The questions of SQuAD and of Chroma's evaluation at every range of levels, compared with plain chunks.

Plain chunks are those of ``recursive`` with at most 110 words, in an index of their own, searched as usual. The levels
are those of :mod:`pychunk.training.breadth`, whose level ``group`` has the same chunks, cut at paragraphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk.evaluation import datasets, hierarchies, runner, systems
from pychunk.evaluation.measures import intervals
from pychunk.index import Bm25
from pychunk.index.planners.model_planner import ModelPlanner
from pychunk.training import breadth

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
RANGES = breadth.ranges()
CREATE = {"bm25": Bm25(stemmer="english")}


@dataclass(frozen=True)
class Asked:
    """A dataset's questions, and a measure of each.

    Attributes:
        texts: The questions.
        value: The measure of each question at each range of levels, float64[questions, ranges].
        plain: The measure with plain chunks, float64[questions].
        learned: The range that the learned planner chooses for each question, int64[questions].
    """

    texts: list[str]
    value: F64
    plain: F64
    learned: I64


def asked(data: datasets.Dataset, measure: str) -> Asked:
    """Search a dataset's questions at every range of levels and in plain chunks."""
    encoder = systems.Encoder("static")
    texts = [question.text for question in data.questions]
    vectors = encoder.asked(texts)

    def found(chunked: systems.SystemChunks) -> tuple[F64, Any]:
        result = runner.retrieve(chunked, data, encoder, "hybrid", vectors, CREATE)
        return runner.measure(result, data, encoder)[0][measure], result.planned

    cut = dict(hierarchies.CHUNKS)
    plain, _ = found(systems.by_method(cut.pop("method"), cut, data, encoder))
    chunked = hierarchies.by_levels({"levels": "+".join(breadth.LEVELS)}, data, encoder)
    assert chunked.levelled is not None
    values = [found(replace(chunked, levelled=replace(chunked.levelled, plan=pair)))[0] for pair in RANGES]
    _, planned = found(replace(chunked, levelled=replace(chunked.levelled, plan=ModelPlanner())))
    return Asked(texts, np.stack(values, axis=1), plain, np.array([RANGES.index(pair) for pair in planned.pairs]))


def rows_of(own: Asked, bag: Callable[[str], str], best: dict[str, tuple[str, str]]) -> list[dict[str, Any]]:
    """Return a row for each way: its mean, its difference from plain chunks, and from what the planner chooses.

    Args:
        own: The questions.
        bag: The bag of words, which guesses the breadth of a question.
        best: The best range for each breadth.
    """
    rows = np.arange(len(own.texts))
    guessed = np.array([RANGES.index(best[bag(text)]) for text in own.texts])
    fixed = int(own.value.mean(axis=0).argmax())
    ways: dict[str, F64] = {
        "plain chunks": own.plain,
        f"best fixed levels ({told_of(RANGES[fixed])})": own.value[:, fixed],
        "all levels": own.value[:, -1],
        "bag of words": own.value[rows, guessed],
        "learned": own.value[rows, own.learned],
        "oracle": own.value.max(axis=1),
    }
    return compared(ways)


def compared(ways: dict[str, F64]) -> list[dict[str, Any]]:
    """Return a row for each way: its mean, and the paired differences of the planner and of plain chunks from it."""
    out = []
    for name, value in ways.items():
        row: dict[str, Any] = {"levels": name, "mean": intervals.interval(value)._asdict()}
        row["learned minus this"] = intervals.paired(ways["learned"], value)._asdict()
        row["this minus plain chunks"] = intervals.paired(value, ways["plain chunks"])._asdict()
        out.append(row)
    return out


def told_of(pair: Sequence[str]) -> str:
    """Return a range of levels in words."""
    return pair[0] if pair[0] == pair[1] else f"{pair[0]} to {pair[1]}"


def sets(folder: Path, questions: int = 1500) -> dict[str, tuple[datasets.Dataset, str]]:
    """Return the two datasets with their measures, by the titles of their tables.

    The questions of SQuAD are those about the articles of the test and validation parts, from which no planner learned,
    among all articles.
    """
    squad = datasets.squad(folder / "squad" / "dev-v2.0.json")
    kept = [each for each in squad.questions if breadth.part_of(squad.ids[each.document]) != "train"]
    chosen = np.sort(np.random.default_rng(0).permutation(len(kept))[:questions])
    squad = replace(squad, questions=[kept[number] for number in chosen])
    chroma = datasets.chunking_evaluation(folder / "chunking_evaluation")
    return {
        f"{len(squad.questions):,} questions of SQuAD": (squad, "strict hits in 500 words"),
        f"{len(chroma.questions):,} questions of Chroma's evaluation": (chroma, "recall in 500 words"),
    }
