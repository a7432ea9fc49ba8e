"""The options of a search, and their checks before the search reads anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...defaults import SEARCH
from .. import argument_checks
from ..options import Expansion, Ranking, Rerank, Rewrite, Stage
from ..scoring.ranking import RankingOptions
from . import expansion


@dataclass(frozen=True)
class SearchOptions:
    """The options of ``Index.search``, with the attributes of its option objects as fields."""

    k: int = SEARCH.k
    mode: str = SEARCH.mode
    fusion: str = SEARCH.fusion
    weight: float = SEARCH.bm25_weight
    blend: float = 1 - SEARCH.chunk_vector_weight
    document_weight: float = SEARCH.document_weight
    where: Any = None
    ids: Any = None
    levels: Any = None
    plan: Any = None
    rerank: Any = None
    depth: int = SEARCH.rerank_depth
    expand: int | str = 0
    words: int | None = None
    parents: bool = False
    distinct: float | None = None
    by_document: bool = False
    min_score: float | None = None
    threads: int | None = None
    rewrite: Any = None
    rewrite_error: str = "raise"
    rerank_error: str = "raise"

    @classmethod
    def of(
        cls,
        k: int,
        mode: str,
        *,
        where: Any,
        ids: Any,
        ranking: Ranking | None,
        expansion: Expansion | int | str | None,
        stages: Stage | Sequence[Stage],
        threads: int | None,
    ) -> SearchOptions:
        """Return the options for the arguments of ``Index.search``.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: A stage occurs twice.
        """
        own = Ranking() if ranking is None else ranking
        if not isinstance(own, Ranking):
            raise TypeError(f"ranking must be a pychunk.index.Ranking; got {ranking!r:.80}")
        around = Expansion() if expansion is None else expansion
        around = around if isinstance(around, Expansion) else Expansion(cast(Any, around))
        argument_checks.number("chunk_vector_weight", own.chunk_vector_weight, 0, 1)
        rewrite, rerank = _stages(stages)
        return cls(
            k=k,
            mode=mode,
            fusion=own.fusion,
            weight=own.bm25_weight,
            blend=1 - own.chunk_vector_weight,
            document_weight=own.document_weight,
            where=where,
            ids=ids,
            levels=own.levels,
            plan=own.planner,
            rerank=None if rerank is None else rerank.by,
            depth=SEARCH.rerank_depth if rerank is None else rerank.depth,
            expand=around.by,
            words=around.max_words,
            parents=around.parents,
            distinct=around.distinct,
            min_score=own.min_score,
            threads=threads,
            rewrite=None if rewrite is None else rewrite.by,
            rewrite_error="raise" if rewrite is None else rewrite.on_error,
            rerank_error="raise" if rerank is None else rerank.on_error,
        )

    @property
    def ranking(self) -> RankingOptions:
        """The options of the ranking."""
        return RankingOptions(self.mode, self.fusion, self.weight, self.blend, self.document_weight)

    @property
    def by_tree(self) -> bool:
        """True if hits are expanded to a subtree or section."""
        return isinstance(self.expand, str)

    @property
    def merges(self) -> bool:
        """True if regions of hits may be nested, so that k results may take more than k hits."""
        return self.by_tree and not self.by_document and not self.rerank

    @property
    def count(self) -> int:
        """The number of hits that are ranked for each query, at first."""
        return max(self.k, self.depth) if self.rerank else 2 * self.k if self.merges else self.k

    def check(self) -> None:
        """Check the options that are not checked elsewhere.

        Raises:
            ValueError: An option is out of range, or two options cannot be combined.
        """
        if self.fusion == "levels" and self.by_document:
            raise ValueError(
                "search_documents() cannot be combined with fusion='levels': pass ranking=Ranking(levels='document')"
            )
        argument_checks.whole("depth", self.depth, 1)
        for name in (self.rewrite_error, self.rerank_error):
            if name not in ("raise", "skip"):
                raise ValueError(f"on_error must be 'raise' or 'skip'; got {name!r:.80}")
        if not isinstance(self.expand, str):
            argument_checks.whole("expansion", self.expand, 0)
        elif self.expand not in expansion.WAYS:
            ways = ", ".join(map(repr, expansion.WAYS))
            raise ValueError(f"expansion must be {ways} or a whole number of at least 0; got {self.expand!r:.80}")
        if self.words is not None:
            argument_checks.whole("max_words", self.words, 1)
        if self.distinct is not None:
            argument_checks.number("distinct", self.distinct, 0, 1)
            if self.distinct == 0:
                raise ValueError("distinct must be above 0, which every hit reaches; got 0: leave it out, or pass 0.9")
        if self.min_score is not None:
            argument_checks.number("min_score", self.min_score, -math.inf)
        if self.parents and not self.by_tree:
            raise ValueError(
                f"parents= needs a tree; got it with an expansion of {self.expand!r}: pass "
                "Expansion('subtree', parents=True) or Expansion('section', parents=True)"
            )


def _stages(stages: Stage | Sequence[Stage]) -> tuple[Rewrite | None, Rerank | None]:
    """Return the rewriting and the reranking of a search."""
    found: dict[type, Any] = {}
    for stage in stages if isinstance(stages, (list, tuple)) else [stages]:
        if not isinstance(stage, (Rewrite, Rerank)):
            raise TypeError(f"stages must be pychunk.index.Rewrite or pychunk.index.Rerank; got {stage!r:.80}")
        if stage.by is None:
            raise TypeError(f"{type(stage).__name__} needs a name or a function; got None: leave the stage out")
        if type(stage) in found:
            raise ValueError(f"stages must have one {type(stage).__name__} at most; got two: leave one out")
        found[type(stage)] = stage
    return found.get(Rewrite), found.get(Rerank)
