"""Chunks that a model puts together of numbered units, without those that it names as noise."""

from __future__ import annotations

from .llm_base import LLMMethod


class Autochunker(LLMMethod):
    """Ranges of numbered units that belong together, by a model; units that it names as noise are in no chunk.

    AutoChunker, section 3.1: the model sees sentences (or blocks, where documents have them) with numbers and answers
    with the first and last number of each chunk, so that it can change no text. It is asked about ``window_tokens`` at
    a time, the last ``overlap_units`` units of them again with the next. An answer that cannot be read is asked for
    once more with its fault named; then ``fallback`` cuts the window, and ``ChunkBatch.errors`` says so
    (``strict=True`` raises). What it says nothing of is a chunk of its own. Noise is listed in ``ChunkBatch.removed``.
    ``llm``: a :class:`pychunk.llm.LLM`; default: by the environment.
    """

    name = "autochunker"
