"""The levels that a planner chose for each kind of question, and the length of what is found there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

import pychunk
from pychunk.evaluation import hierarchies
from pychunk.index import Ranking
from pychunk.training.breadth import LEVELS


def chosen(
    index: pychunk.Index, kinds: Sequence[str], queries: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Return, for each kind of question, how often a level is finest and coarsest, and the length of what is found."""
    rows, _ = hierarchies.ranked(index, pairs, queries, None, 5, "hybrid", Ranking())
    lengths = np.array([len(text.split()) for text in index.table["text"].to_pylist()])
    finest = np.array(pc.list_element(index.table["levels"].combine_chunks(), 0).to_pylist())
    out = []
    for kind in dict.fromkeys(kinds):
        mask = np.array([each == kind for each in kinds])
        best = rows[mask]
        best = best[best >= 0]
        row: dict[str, Any] = {"questions for": kind, "questions": int(mask.sum())}
        for place, name in enumerate(("finest", "coarsest")):
            levels = [pair[place] for pair, here in zip(pairs, mask, strict=True) if here]
            row |= {f"{name} {level}": round(levels.count(level) / len(levels), 3) for level in LEVELS}
        row |= {f"hits, {level}": round(float((finest[best] == level).mean()), 3) for level in LEVELS}
        row["words a hit"] = round(float(lengths[best].mean()), 1)
        out.append(row)
    return out
