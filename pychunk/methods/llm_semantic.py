"""Cuts after the units that a model names."""

from __future__ import annotations

from .llm_base import LLMMethod


class LlmSemantic(LLMMethod):
    """Cut after the numbered units at which a model says that the subject changes (LLMSemantic of Chroma's report).

    Windows, faults and options are those of ``autochunker``; nothing is removed.
    """

    name = "llm_semantic"
