"""The partition with the highest within-chunk similarity."""

from .base import Method


class Cluster(Method):
    """Optimal partition: the sum over chunks of pairwise similarity less its mean, by dynamic programming.

    Chunks hold up to ``max_tokens``; only pairs of sentences that can share a chunk are scored, so a document of
    n sentences takes O(n x window). Chroma's ClusterSemanticChunker.
    """

    name = "cluster"
    reason = "score"
    needs = frozenset({"tokens", "vectors"})
    auto_max_tokens = 512
    auto_min_tokens = 64
