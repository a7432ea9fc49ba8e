"""One call of the engine: documents, their features, the plan to carry out, and the models that the plan needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .features import Features
from .plan import Plan

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .cuts import Cuts
    from .models import KeptSentences, PairHead, TokenCounter, TokenTable, TopicHead
    from .ragged import Ragged


@dataclass(frozen=True)
class Request:
    """A batch of documents for the engine, which reads it by attribute (csrc/python/bindings_segment.cc)."""

    features: Features
    plan: Plan
    #: Cuts that were made outside the engine, which then only fits the chunks to the budget and builds the table.
    cuts: Cuts | None = None
    #: The tokenizer of the table. It also counts tokens, unless there is a counter.
    tokenizer: TokenTable | None = None
    #: The tokenizer that counts tokens for limits and sizes.
    counter: TokenCounter | None = None
    #: The table of the static encoder, int8[vocabulary, d]. The core computes vectors from it, also for parts of
    #: sentences.
    table: npt.NDArray[np.int8] | None = None
    #: The network that computes next-sentence probabilities from static vectors.
    pair_head: PairHead | None = None
    #: The network that finds the beginnings of topics from vectors and text.
    topic_head: TopicHead | None = None
    #: The caller's document ids, as text in UTF-8.
    ids: Ragged | None = None
    #: For the one document of an edit: the sentences from before the edit (``native.KeptSentences``), which the core
    #: replaces by those of this request. The reference computes all sentences again.
    kept: KeptSentences | None = None
    #: The number that errors and the table give to the first document of this request.
    first_row: int = 0
    threads: int = 1
    #: The number of sentences that are longer than the transformer's input, which therefore reads them in windows.
    windowed: int = 0
    #: (number of the document from 0, message) for each decision that failed, from methods whose decisions may fail.
    notes: tuple[tuple[int, str], ...] = ()

    #: True if ``encoder="auto"`` chose the models of other languages than English.
    foreign: bool = False

    @property
    def documents(self) -> int:
        return self.features.documents

    def with_(self, **changes: Any) -> Request:
        """Return a copy with some fields changed. Names that are no fields of a request are fields of its features."""
        own: dict[str, Any] = {name: value for name, value in changes.items() if name in self.__dataclass_fields__}
        parts = {name: value for name, value in changes.items() if name not in own}
        if parts:
            own["features"] = self.features.with_(**parts)
        return replace(self, **own)

    def only_sentences(self) -> Request:
        """Return a request for the same documents that asks only for their sentences.

        Of the features, it keeps those on which sentences depend: sentences, flags, pages, blocks and removed spans.
        """
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
        plan = Plan("sentence", unwrap_lines=self.plan.unwrap_lines)
        return Request(only, plan, first_row=self.first_row, threads=self.threads)
