"""Cuts where a model says that the content turns, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .llm_base import GroupingResult, LLMMethod, Units, of_sentences

if TYPE_CHECKING:
    from .._engine.data.features import Features
    from .._engine.data.method_results import MethodResult


class Lumber(LLMMethod):
    """Cut at the first unit of each window at which a model says that the content turns (LumberChunker).

    The next window begins there, so a document is asked about step by step, and documents of a call at the same time.
    A window of which it says that the content does not turn is a chunk. Faults are those of ``autochunker``: a window
    without an answer of use is cut by ``fallback`` once, and the next begins there.
    """

    name = "lumber"

    def __init__(
        self, *, llm: Any = None, window_tokens: int = 550, fallback: str = "auto", strict: bool = False
    ) -> None:
        super().__init__(llm=llm, window_tokens=window_tokens, overlap_units=0, fallback=fallback, strict=strict)

    def decided(self, features: Features) -> MethodResult:
        out = GroupingResult(self, features)
        units = [Units(features, row) for row in range(features.documents)]
        begins = [np.zeros(own.count, bool) for own in units]
        at = [0] * len(units)
        while active := [row for row, own in enumerate(units) if at[row] < len(own)]:
            ends = [self.window_end(units[row], at[row]) for row in active]
            asked = [place for place, row in enumerate(active) if ends[place] - at[row] > 1]
            texts = [units[active[place]].texts[at[active[place]] : ends[place]] for place in asked]
            answers = dict(zip(asked, self.asker(texts), strict=True))
            for place, row in enumerate(active):
                own, a, b = units[row], at[row], ends[place]
                begins[row][own.first[a]] = True
                at[row] = b
                if place not in answers:
                    continue
                if self.asker.dry_run:
                    at[row] = a + 1  # no answer decides, so every unit may begin a window: an upper bound
                    continue
                answer = answers[place]
                if answer.groups is None:
                    found, _ = out.instead(row, own, a, b, f"the window from unit {a + 1}", answer.fault)
                else:
                    found, _ = of_sentences(own, a, b, answer.groups)
                turns = np.flatnonzero(found)[1:2] + own.first[a]
                if len(turns):
                    # a fallback may cut inside a block: the next window begins with the block after it
                    begins[row][turns[0]] = True
                    at[row] = max(a + 1, int(np.searchsorted(own.first, turns[0], "left")))
        for own, mask in zip(units, begins, strict=True):
            out.add(own, mask, np.zeros(own.count, bool))
        return out.decided()
