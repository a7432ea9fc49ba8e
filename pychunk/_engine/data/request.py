"""One call of the engine: documents, what is known of them, what to compute and with what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .features import Features
from .plan import Plan

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .cuts import Cuts
    from .models import PairHead, TokenTable, TopicHead
    from .ragged import Ragged


@dataclass(frozen=True)
class Request:
    """A batch of documents for the engine, which reads it attribute by attribute (csrc/python/bindings_segment.cc)."""

    features: Features
    plan: Plan
    #: What a method decided outside the engine, which then only fits chunks to the budget and builds the table.
    cuts: Cuts | None = None
    #: Counts tokens.
    tokenizer: TokenTable | None = None
    #: int8[v, d], its rows: what makes vectors natively, also of parts of sentences.
    table: npt.NDArray[np.int8] | None = None
    #: The network that makes probabilities from static vectors.
    pair_head: PairHead | None = None
    #: The network that says from vectors and text where topics begin.
    topic_head: TopicHead | None = None
    #: UTF-8 of the caller's document ids.
    ids: Ragged | None = None
    #: Number of the first document in errors and in the table.
    first_row: int = 0
    threads: int = 1
    #: Sentences that a transformer reads in windows, as they are longer than its input.
    windowed: int = 0
    #: (document, counted from 0; what happened): of a method whose decisions may fail.
    notes: tuple[tuple[int, str], ...] = ()

    @property
    def documents(self) -> int:
        return self.features.documents

    def with_(self, **changes: Any) -> Request:
        """A copy with some fields changed; those of the features go by their own names."""
        own: dict[str, Any] = {name: value for name, value in changes.items() if name in self.__dataclass_fields__}
        parts = {name: value for name, value in changes.items() if name not in own}
        if parts:
            own["features"] = self.features.with_(**parts)
        return replace(self, **own)

    def only_sentences(self) -> Request:
        """The same documents, with given sentences, pages and blocks, for their sentences alone."""
        known = self.features
        only = Features(
            known.text,
            known.offsets,
            sentences=known.sentences,
            flags=known.flags,
            page_starts=known.page_starts,
            blocks=known.blocks,
            removed=known.removed,
        )
        plan = Plan("sentence", wrap=self.plan.wrap)
        return Request(only, plan, first_row=self.first_row, threads=self.threads)
