"""The method ``lumber``: an LLM finds one change of content after the other, and each is a cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .llm_base import GroupingResult, LLMMethod, Units, of_sentences

if TYPE_CHECKING:
    from .._engine.data.features import Features
    from .._engine.data.method_results import MethodResult


class Lumber(LLMMethod):
    """A method that cuts each window at the first unit where an LLM sees the content change (LumberChunker).

    The next window begins at this cut. The windows of a document are therefore processed one after the other, but the
    documents of a call in parallel. If the LLM says that the content of a window does not change, the window is a
    chunk. Errors are handled as in ``autochunker``. If a window gets no usable answer, the first cut of the
    ``fallback`` method is used, and the next window begins there.
    """

    name = "lumber"

    def __init__(
        self, *, llm: Any = None, window_tokens: int = 550, fallback: str = "auto", strict: bool = False
    ) -> None:
        super().__init__(llm=llm, window_tokens=window_tokens, overlap_units=0, fallback=fallback, strict=strict)

    def decided(self, features: Features) -> MethodResult:
        """Return the cuts of all documents, and the windows without a usable answer."""
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
                    # A dry run gets no answers, so it lets every unit begin a window. This counts an upper bound.
                    at[row] = a + 1
                    continue
                answer = answers[place]
                if answer.groups is None:
                    found, _ = out.instead(row, own, a, b, f"the window from unit {a + 1}", answer.fault)
                else:
                    found, _ = of_sentences(own, a, b, answer.groups)
                turns = np.flatnonzero(found)[1:2] + own.first[a]
                if len(turns):
                    # A fallback may cut inside a block. The next window then begins with the following block.
                    begins[row][turns[0]] = True
                    at[row] = max(a + 1, int(np.searchsorted(own.first, turns[0], "left")))
        for own, mask in zip(units, begins, strict=True):
            out.add(own, mask, np.zeros(own.count, bool))
        return out.decided()
