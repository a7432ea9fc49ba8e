"""The method ``proposition``: chunks by structure, each with the propositions that an LLM extracts from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import check_flag, check_whole
from .structure import Structure

if TYPE_CHECKING:
    from .._engine.data.plan import Plan


class Proposition(Structure):
    """A method that cuts like ``structure`` and gives each chunk the propositions that an LLM extracts from it.

    A proposition is a sentence with one statement that can be understood alone ("Dense X Retrieval", Chen et al.). Here
    propositions do not replace the text. They are in the column ``context``, which an index searches in addition to a
    chunk's text, and as lists in the column ``propositions``. An index with vectors of sentences also stores a vector
    of each proposition. The chunk's text and span are still those of the document. One call shows the LLM up to
    ``window_tokens`` tokens of numbered chunks, and each proposition names the chunks that it comes from. If an answer
    is not usable, pychunk asks once more and names the error. If the second answer fails too, the chunks of that call
    have no context, and ``ChunkBatch.errors`` says so. With ``strict=True`` pychunk raises an error instead.
    ``augment="propositions:llm"`` does the same for the chunks of any method. ``llm`` is a :class:`pychunk.llm.LLM`.
    The default LLM is the one that the environment describes.
    """

    name = "proposition"

    def __init__(self, *, llm: Any = None, window_tokens: int = 1000, strict: bool = False) -> None:
        super().__init__()
        self.llm = llm
        self.window_tokens = check_whole("window_tokens", window_tokens, least=1)
        self.strict = check_flag("strict", strict)

    @property
    def facts(self) -> dict[str, Any]:
        """The name of the method, which the plan replaces by ``structure``."""
        return {"method": self.name}

    def plan(self, shared: Plan) -> Plan:
        """Return the shared plan of the method ``structure``."""
        return super().plan(shared).with_(method=Structure.name)
