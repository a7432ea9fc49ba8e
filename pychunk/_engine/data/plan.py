"""What one call of the engine computes: a method with its options and the budget that all methods share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Traits:
    """The facts of a method that stages ask for, in place of its name; csrc/methods/methods.cc has the native ones.

    Attributes:
        needs: features that its cuts are made of, besides sentences: ``"tokens"`` (counts), ``"vectors"``, ``"pairs"``
            (scores of neighbours, by a model of pairs), ``"topics"`` (the same by a topic model), ``"summaries"``; or
            ``"cuts"``, which the caller gives.
        scores: what a chunk's score is the mean of: ``"sentences"``, ``"pairs"`` or nothing.
        reason: why it cuts, one of ``columns.CUT_REASONS``.
        sized: whether it has a ``size`` in a ``unit`` of its own, which no chunk exceeds.
        pages: whether the table says which pages a chunk lies on.
        outline: whether it cuts by headings and keeps atoms itself, and the table holds their tree.
    """

    needs: frozenset[str] = frozenset()
    scores: str = ""
    reason: str = "given"
    sized: bool = False
    pages: bool = False
    outline: bool = False


@dataclass(frozen=True)
class Plan:
    """Options of the engine, all of them resolved: no "auto", no None. A budget of 0 is none."""

    method: str
    traits: Traits = Traits()
    wrap: str | bool = "auto"
    unit: str = "tokens"
    size: int = 0
    balance: bool = False
    within: str = "size"
    separators: tuple[str, ...] = ()
    threshold: str = "percentile"
    threshold_value: float = 0.0
    window: int = 1
    summary: str = "extractive"
    k: float = 0.0
    summaries_out: bool = False
    max_tokens: int = 0
    min_tokens: int = 0
    overlap: int = 0
    #: Whether nobody asked for just these limits: characters count, then, where the tokenizer does not know the words.
    auto_limits: bool = False
    atoms: bool = False
    min_characters: int = 0
    chunk_vectors: bool = False
    sentence_vectors: bool = False

    @property
    def cuts_text(self) -> bool:
        """Whether pieces need not be runs of sentences."""
        return bool(self.separators)

    @property
    def needs_vectors(self) -> bool:
        """Whether sentence vectors must be computed or given."""
        return "vectors" in self.traits.needs or self.chunk_vectors or self.sentence_vectors

    @property
    def needs_tokens(self) -> bool:
        """Whether tokens must be counted: for the method, a budget, or to weigh the sentences of a chunk's vector."""
        by_tokens = self.unit == "tokens" if self.traits.sized else "tokens" in self.traits.needs
        overlap = self.overlap and (not self.traits.sized or self.unit == "tokens")
        return bool(by_tokens or self.max_tokens or self.min_tokens or overlap or self.chunk_vectors)

    @property
    def budgets_tokens(self) -> bool:
        """Whether a limit that somebody asked for counts tokens."""
        limited = (self.max_tokens or self.min_tokens) and not self.auto_limits
        if self.traits.sized:
            return bool(limited or (self.size and self.unit == "tokens"))
        return bool(limited and self.unit == "tokens")

    def with_(self, **changes: Any) -> Plan:
        """A copy with some fields changed."""
        return replace(self, **changes)
