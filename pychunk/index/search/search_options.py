"""The options of a search, and what is checked of them before anything is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...defaults import SEARCH
from .. import argument_checks
from ..scoring.ranking import Ranking
from . import expansion


@dataclass(frozen=True)
class SearchOptions:
    """The options of ``Index.search``, under the same names and defaults."""

    k: int = SEARCH.k
    mode: str = SEARCH.mode
    fusion: str = SEARCH.fusion
    weight: float = SEARCH.weight
    blend: float = SEARCH.blend
    document_weight: float = SEARCH.document_weight
    where: Any = None
    ids: Any = None
    levels: Any = None
    plan: Any = None
    rerank: Any = None
    depth: int = SEARCH.depth
    expand: int | str = 0
    words: int | None = None
    parents: bool = False
    by_document: bool = False
    min_score: float | None = None
    threads: int | None = None
    rewrite: Any = None
    on_error: str = "raise"

    @property
    def ranking(self) -> Ranking:
        """The options of the ranking."""
        return Ranking(self.mode, self.fusion, self.weight, self.blend, self.document_weight)

    @property
    def by_tree(self) -> bool:
        """Return whether hits bring parts of the tree of headings."""
        return isinstance(self.expand, str)

    @property
    def skips(self) -> bool:
        """Return whether a stage that fails is left out, with the reason."""
        return self.on_error == "skip"

    @property
    def count(self) -> int:
        """Return how many hits are ranked for each query."""
        return max(self.k, self.depth) if self.rerank else self.k

    def check(self) -> None:
        """Check the options that no other part checks.

        Raises:
            ValueError: an option out of range, or two that do not go together.
        """
        if self.fusion == "levels" and self.by_document:
            raise ValueError("fusion='levels' goes without by_document=: search with levels='document'")
        argument_checks.whole("depth", self.depth, 1)
        if self.on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip'; got {self.on_error!r}")
        if not isinstance(self.expand, str):
            argument_checks.whole("expand", self.expand, 0)
        elif self.expand not in expansion.WAYS:
            ways = " or ".join(map(repr, expansion.WAYS))
            raise ValueError(f"expand must be a whole number of at least 0, {ways}; got {self.expand!r}")
        if self.words is not None:
            argument_checks.whole("words", self.words, 1)
        if self.min_score is not None:
            argument_checks.number("min_score", self.min_score, -math.inf)
        if self.parents and not self.by_tree:
            raise ValueError("parents= are those of a tree: pass expand='subtree' or expand='section', too")
