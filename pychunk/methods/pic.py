"""The method ``pic``: runs of sentences near to the document's summary, or far from it."""

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

#: The sources of the summary. The class :class:`Pic` describes them.
SOURCES = ("extractive", "mean", "lead", "title", "given", "llm", "sentence", "random")

#: The columns with summaries, for each source whose summaries come from the caller or an LLM. pychunk computes the
#: summaries of the other sources itself.
_WANTS = {"title": frozenset({"titles"}), "given": frozenset({"summaries"}), "llm": frozenset({"summaries"})}


class Pic(Method):
    """A method that makes runs of sentences near to the document's summary, or far from it (PIC, section 3.2, eq. 1-4).

    A sentence is relevant if ``r_i = cos(e_i, e_D)``, its cosine to the summary, is at least ``mean(r) + k * std(r)``.
    A chunk is a maximal run of sentences that are all relevant, or all irrelevant. The column ``relevance`` says which
    of the two holds for a chunk, and the column ``score`` is the mean ``r`` of its sentences.

    The option ``summary`` chooses the summary. ``"extractive"`` takes up to five sentences that are central and unlike
    each other. ``"mean"`` is the mean of all sentences, and ``"lead"`` the first paragraph. ``"title"`` takes the
    titles in the column ``titles``, and ``"given"`` the summaries in the column ``summaries``. With ``"llm"``, an LLM
    writes the summaries, with one call for each document. The option ``llm`` is this :class:`pychunk.llm.LLM`. The
    default LLM is the one that the environment describes. Two values are for comparisons, with random numbers seeded by
    the text. ``"sentence"`` takes a sentence at random, and ``"random"`` a random vector, which has no text. The
    paper's Random is the summary of another document. No option offers that, because the chunks of a document must not
    depend on the rest of the batch.

    ``summaries_out=True`` returns the summaries in ``ChunkBatch.summaries``.
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
            raise ValueError(
                f"llm= is for summary='llm'; got summary={summary!r}: leave llm= out, or pass summary='llm'"
            )
        self._write: Any = None

    def hand(self, write: Any) -> None:
        """Set the callable that writes summaries. It takes texts, and returns summaries and notes."""
        self._write = write

    @property
    def facts(self) -> dict[str, Any]:
        """The facts about the LLM, if it writes the summaries."""
        return {} if self._write is None else {"llm": self._write.facts}

    @property
    def writes(self) -> Any:
        """The callable that writes the summaries of texts before they are cut, or None."""
        return self._write

    @property
    def score_name(self) -> str:
        """The meaning of a score in words."""
        return "cosine to the summary"

    def held(self, scores: Ragged, plan: Plan) -> tuple[Ragged, npt.NDArray[np.float64]]:
        """Return the scores as they are, and the threshold of each document."""
        return scores, native.thresholds(plan, scores, threads=1)

    @property
    def wants(self) -> frozenset[str]:
        """The values that the chosen summary needs from the caller, such as "titles"."""
        return _WANTS.get(self.summary, frozenset())

    @property
    def has_kernel(self) -> bool:
        """Return whether a GPU computes everything that the method cuts by."""
        return not self.summaries_out and self.summary in ("extractive", "mean", "lead", "title", "given", "llm")

    def plan(self, shared: Plan) -> Plan:
        """Return the shared plan with the summary and its options filled in."""
        source = "given" if self.summary in ("title", "llm") else self.summary
        return super().plan(shared).with_(summary=source, k=self.k, summaries_out=self.summaries_out)
