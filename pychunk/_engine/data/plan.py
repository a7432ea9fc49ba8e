"""The plan of one call of the engine: a method with its options, and the budget that all methods share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Traits:
    """The properties of a method that the stages look up, so that they need not know its name.

    csrc/methods/methods.cc declares the traits of the native methods.

    Attributes:
        needs: The features that the method reads in addition to sentences. ``"vectors"`` and ``"summaries"`` are
            features of that name. ``"tokens"`` are counts of tokens. ``"pairs"`` and ``"topics"`` are scores of
            neighbouring sentences, by a model of pairs and by a topic model. ``"cuts"`` are cuts by the caller.
        scores: The scores whose mean is a chunk's score: ``"sentences"``, ``"pairs"`` of neighbouring sentences, or ""
            for no scores.
        reason: The reason for the method's cuts, one of ``columns.CUT_REASONS``.
        sized: Whether the method has the options ``size`` and ``unit``, and no chunk may be longer than this size.
        pages: Whether the table has the pages of each chunk.
        outline: Whether the method cuts by headings, and itself keeps spans together. The table then has the tree of
            headings.
    """

    needs: frozenset[str] = frozenset()
    scores: str = ""
    reason: str = "given"
    sized: bool = False
    pages: bool = False
    outline: bool = False


@dataclass(frozen=True)
class Plan:
    """The resolved options of the engine, without "auto" or None. A budget of 0 means no limit."""

    method: str
    traits: Traits = Traits()
    unwrap_lines: str | bool = "auto"
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
    #: True if the limits are the defaults, not set by the user. Such limits count characters instead of tokens in a
    #: document whose words the tokenizer mostly splits into letters.
    auto_limits: bool = False
    keep_together: bool = False
    min_characters: int = 0
    chunk_vectors: bool = False
    sentence_vectors: bool = False

    @property
    def cuts_text(self) -> bool:
        """True if chunks may begin and end inside sentences."""
        return bool(self.separators)

    @property
    def needs_vectors(self) -> bool:
        """True if sentence vectors are needed, whether the caller passes them or pychunk computes them."""
        return "vectors" in self.traits.needs or self.chunk_vectors or self.sentence_vectors

    @property
    def needs_tokens(self) -> bool:
        """True if the method, a budget, or the weights of sentences in a chunk's vector need counts of tokens."""
        by_tokens = self.unit == "tokens" if self.traits.sized else "tokens" in self.traits.needs
        overlap = self.overlap and (not self.traits.sized or self.unit == "tokens")
        return bool(by_tokens or self.max_tokens or self.min_tokens or overlap or self.chunk_vectors)

    @property
    def budgets_tokens(self) -> bool:
        """True if a limit that the user set counts tokens."""
        limited = (self.max_tokens or self.min_tokens) and not self.auto_limits
        if self.traits.sized:
            return bool(limited or (self.size and self.unit == "tokens"))
        return bool(limited and self.unit == "tokens")

    def with_room_for(self, special: int) -> Plan:
        """Return a plan whose limits in tokens leave room for tokens that a model adds to each chunk."""
        counted = self.traits.sized or self.unit == "tokens"
        return replace(
            self,
            max_tokens=self.max_tokens - special if self.max_tokens and counted else self.max_tokens,
            min_tokens=max(0, self.min_tokens - special) if counted else self.min_tokens,
            size=self.size - special if self.size and self.unit == "tokens" else self.size,
        )

    def with_(self, **changes: Any) -> Plan:
        """Return a copy with some fields changed."""
        return replace(self, **changes)
