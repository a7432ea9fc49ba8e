"""The partition with the highest within-chunk similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..defaults import CHUNKS
from .base import UNITS, Method, check_choice

if TYPE_CHECKING:
    from .._engine.data.plan import Plan

#: What "auto" means, most and least: BERT's longest input and an eighth of it; a token is .7 words, or 4 characters.
_LIMITS = {"tokens": (CHUNKS.max_by_meaning, CHUNKS.min_by_meaning), "words": (360, 45), "characters": (2048, 256)}


class Cluster(Method):
    """Optimal partition: the sum over chunks of pairwise similarity less its mean, by dynamic programming.

    Chunks hold up to ``max_tokens``; only pairs of sentences that can share a chunk are scored, so a document of
    n sentences takes O(n x window). Chroma's ClusterSemanticChunker. ``unit`` is what ``max_tokens``, ``min_tokens``
    and ``overlap`` count here: tokens, words or characters.
    """

    name = "cluster"
    reason = "score"
    needs = frozenset({"tokens", "vectors"})

    def __init__(self, *, unit: str = "tokens") -> None:
        self.unit = check_choice("unit", unit, UNITS)

    @property
    def auto_max_tokens(self) -> int:
        return _LIMITS[self.unit][0]

    @property
    def auto_min_tokens(self) -> int:
        return _LIMITS[self.unit][1]

    def plan(self, shared: Plan) -> Plan:
        return super().plan(shared).with_(unit=self.unit)
