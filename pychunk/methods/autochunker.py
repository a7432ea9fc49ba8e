"""The method ``autochunker``: chunks that an LLM composes of numbered units, without the units that it calls noise."""

from __future__ import annotations

from .llm_base import LLMMethod


class Autochunker(LLMMethod):
    """A method that lets an LLM group numbered units into chunks and name the noise (AutoChunker, section 3.1).

    The LLM sees numbered sentences, or numbered blocks if the documents have them. It answers with the first and the
    last number of each chunk, so it cannot change any text. One request holds up to ``window_tokens`` tokens. The next
    request repeats the last ``overlap_units`` units. If an answer cannot be read, pychunk asks once more and names the
    error. If the second answer fails too, the method that ``fallback`` names cuts the window, and ``ChunkBatch.errors``
    says so. With ``strict=True`` pychunk raises an error instead. A unit that the answer does not mention becomes a
    chunk of its own. ``ChunkBatch.removed`` lists the noise, which is in no chunk. ``llm`` is a
    :class:`pychunk.llm.LLM`. The default LLM is the one that the environment describes.
    """

    name = "autochunker"
