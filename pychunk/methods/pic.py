"""Runs of sentences that are near, or far from, the document's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._engine import native
from ..defaults import CHUNKS
from .base import Method, check_choice, check_flag, check_number

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .._engine.data.plan import Plan
    from .._engine.data.ragged import Ragged

#: Where the summary comes from; ``given`` is what ``summaries=`` or ``titles=`` stand for.
SOURCES = ("extractive", "mean", "lead", "title", "given", "llm", "sentence", "random")

#: What the sources that pychunk does not make need.
_WANTS = {"title": frozenset({"titles"}), "given": frozenset({"summaries"}), "llm": frozenset({"summaries"})}


class Pic(Method):
    """Runs of sentences whose cosine to the summary is at or above, or below, its mean (PIC, section 3.2, eq. 1-4).

    ``r_i = cos(e_i, e_D)``; a sentence is relevant where ``r_i >= mean(r) + k * std(r)``; maximal runs of equal
    label are the chunks (``kind``), scored by their mean ``r``. Sources of the summary: ``extractive`` (up to five
    sentences chosen for being central and unlike each other), ``mean`` of all sentences, ``lead`` (first
    paragraph), ``title`` (with ``titles=``), ``given`` (with ``summaries=``), ``llm`` (written by the model ``llm``, a
    :class:`pychunk.llm.LLM`, by default that of the environment; one call a document); ablations: ``sentence`` (one at
    random) and ``random`` (a random direction, no text: the paper's Random is the summary of another document, which
    no option can be, as results do not depend on the batch; both seeded by the text). ``summaries_out=True`` returns
    what documents were held against, in ``ChunkBatch.summaries``.
    """

    name = "pic"
    reason = "score"
    needs = frozenset({"vectors", "summaries"})
    scores = "sentences"
    auto_max_tokens, auto_min_tokens = CHUNKS.max_by_meaning, CHUNKS.min_by_meaning

    def __init__(
        self, *, summary: str = "extractive", k: float = 0.0, summaries_out: bool = False, llm: Any = None
    ) -> None:
        self.summary = check_choice("summary", summary, SOURCES)
        self.k = check_number("k", k)
        self.summaries_out = check_flag("summaries_out", summaries_out)
        self.llm = llm
        if llm is not None and summary != "llm":
            raise ValueError(f"llm= is for summary='llm'; got summary={summary!r}")
        self._write: Any = None

    def hand(self, write: Any) -> None:
        """What writes summaries: (texts) to (summaries, notes)."""
        self._write = write

    @property
    def facts(self) -> dict[str, Any]:
        return {} if self._write is None else {"llm": self._write.facts}

    @property
    def writes(self) -> Any:
        """What writes the summaries of texts before they are cut; None where nothing does."""
        return self._write

    @property
    def score_name(self) -> str:
        return "cosine to the summary"

    def held(self, scores: Ragged, plan: Plan) -> tuple[Ragged, npt.NDArray[np.float64]]:
        return scores, native.thresholds(plan, scores, threads=1)

    @property
    def wants(self) -> frozenset[str]:
        return _WANTS.get(self.summary, frozenset())

    @property
    def has_kernel(self) -> bool:
        return not self.summaries_out and self.summary in ("extractive", "mean", "lead", "title", "given", "llm")

    def plan(self, shared: Plan) -> Plan:
        source = "given" if self.summary in ("title", "llm") else self.summary
        return super().plan(shared).with_(summary=source, k=self.k, summaries_out=self.summaries_out)
