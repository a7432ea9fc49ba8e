"""The method ``llm_semantic``: cuts after the units that an LLM names."""

from __future__ import annotations

from .llm_base import LLMMethod


class LlmSemantic(LLMMethod):
    """A method that cuts after the units where an LLM sees the subject change (LLMSemantic of Chroma's report).

    The units are numbered. Windows, error handling and options are the same as in ``autochunker``. No text is removed.
    """

    name = "llm_semantic"
