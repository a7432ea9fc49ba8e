"""The method ``cluster``: the partition with the highest similarity inside chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..defaults import CHUNKS
from .base import UNITS, Method, check_choice

if TYPE_CHECKING:
    from .._engine.data.plan import Plan

#: The largest and the smallest size of a chunk that "auto" stands for, by unit. In tokens these are BERT's longest
#: input and an eighth of it. The sizes in words and characters assume 0.7 words, or 4 characters, for each token.
_LIMITS = {"tokens": (CHUNKS.max_by_meaning, CHUNKS.min_by_meaning), "words": (360, 45), "characters": (2048, 256)}


class Cluster(Method):
    """A method that finds the partition with the highest similarity inside chunks (Chroma's ClusterSemanticChunker).

    A chunk holds up to ``max_tokens``. Each pair of sentences in one chunk scores its cosine minus the mean cosine of
    all pairs that can share a chunk. Dynamic programming maximizes the sum of these scores. Only pairs that can share a
    chunk are scored, so a document of n sentences takes O(n x w) time if a chunk holds at most w sentences. The option
    ``unit`` (tokens, words or characters) sets what ``max_tokens``, ``min_tokens`` and ``overlap`` count in this
    method.
    """

    name = "cluster"
    reason = "score"
    needs = frozenset({"tokens", "vectors"})

    def __init__(self, *, unit: str = "tokens") -> None:
        self.unit = check_choice("unit", unit, UNITS)
        self.auto_max_tokens, self.auto_min_tokens = _LIMITS[self.unit]

    def plan(self, shared: Plan) -> Plan:
        """Return the shared plan with the method's unit filled in."""
        return super().plan(shared).with_(unit=self.unit)
