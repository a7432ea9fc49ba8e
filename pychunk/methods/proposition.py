"""Chunks by structure, each found by what a model says that it states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import check_flag, check_whole
from .structure import Structure

if TYPE_CHECKING:
    from .._engine.data.plan import Plan


class Proposition(Structure):
    """Chunks of ``structure``, each with what it states as sentences that a model makes to be understood alone.

    The idea is that of propositions in "Dense X Retrieval" (Chen et al.), but not in place of the text: they stand in
    the column ``context``, by which an index finds a chunk beside its text; ``text`` and spans are the document's. A
    call shows ``window_tokens`` of numbered chunks, and each proposition names those that it comes from. An answer of
    no use is asked for once more with its fault named; then the chunks of that call have no context, and
    ``ChunkBatch.errors`` says so (``strict=True`` raises). ``augment="propositions:llm"`` does the same for the chunks
    of any method. ``llm``: a :class:`pychunk.llm.LLM`; default: by the environment.
    """

    name = "proposition"

    def __init__(self, *, llm: Any = None, window_tokens: int = 1000, strict: bool = False) -> None:
        super().__init__()
        self.llm = llm
        self.window_tokens = check_whole("window_tokens", window_tokens, least=1)
        self.strict = check_flag("strict", strict)

    @property
    def facts(self) -> dict[str, Any]:
        return {"method": self.name}

    def plan(self, shared: Plan) -> Plan:
        return super().plan(shared).with_(method=Structure.name)
