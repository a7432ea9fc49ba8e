"""The options of a ranking, and its result."""

from __future__ import annotations

from dataclasses import dataclass

from ...defaults import SEARCH
from .. import argument_checks
from ..store.part import Layout
from .fusion import I64, RankedChunks


@dataclass(frozen=True)
class RankingOptions:
    """The options of a ranking: the scores that it combines, and their weights.

    Attributes:
        mode, fusion: See :meth:`pychunk.Index.search` and :class:`pychunk.index.Ranking`.
        weight: The weight of BM25, where the cosine has 1.
        blend: The weight of the best sentence. The chunk's own vector has 1 - ``blend``.
        document_weight: The weight of the document's score.
    """

    mode: str = SEARCH.mode
    fusion: str = SEARCH.fusion
    weight: float = SEARCH.bm25_weight
    blend: float = 1 - SEARCH.chunk_vector_weight
    document_weight: float = SEARCH.document_weight

    @property
    def by_rank(self) -> bool:
        """True if the rankings are fused by reciprocal ranks."""
        return self.fusion == "rrf"

    def check(self, layout: Layout) -> None:
        """Raise ValueError if an option is out of range, or needs what an index of this layout does not hold."""
        if self.mode not in ("dense", "sparse", "hybrid"):
            raise ValueError(f"mode must be 'dense', 'sparse' or 'hybrid'; got {self.mode!r:.80}")
        if self.fusion not in ("score", "rrf", "levels"):
            raise ValueError(f"fusion must be 'score', 'rrf' or 'levels'; got {self.fusion!r:.80}")
        argument_checks.number("bm25_weight", self.weight, 0)
        argument_checks.number("chunk_vector_weight", 1 - self.blend, 0, 1)
        argument_checks.number("document_weight", self.document_weight, 0)
        if self.fusion == "levels" and self.document_weight:
            raise ValueError(
                f"fusion='levels' cannot be combined with document_weight, because documents are a level; got "
                f"{self.document_weight}: leave it out"
            )
        if self.mode != "dense" and layout.analyzer is None:
            raise ValueError(
                f"mode={self.mode!r} needs terms for BM25, but this index has no terms (it was created with "
                "bm25=None): use mode='dense', or build it again without bm25=None"
            )


#: The result for one query: the best chunks, the names of their scores, and the row of each chunk's best sentence, or
#: None if the search used no sentences.
Found = tuple[RankedChunks, list[str], I64 | None]
