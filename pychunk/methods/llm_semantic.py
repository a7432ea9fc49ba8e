"""Cuts after the units that a model names."""

from __future__ import annotations

from .asked import Asked


class LlmSemantic(Asked):
    """Cut after the numbered units at which a model says that the subject changes (LLMSemantic of Chroma's report).

    Windows, faults and options are those of ``autochunker``; nothing is removed.
    """

    name = "llm_semantic"
