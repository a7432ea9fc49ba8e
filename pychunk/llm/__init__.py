"""The client of OpenAI-compatible endpoints, with retries, a cache and an account of calls.

    llm = LLM("http://127.0.0.1:8099/v1", "my-model")  # LLM(): by PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL, PYCHUNK_LLM_KEY
    llm.ask("What is a chunk?").text
    pychunk.segment(texts, "autochunker", llm=llm)
    llm.account.line()

``pychunk llm check`` reports whether an endpoint answers, and what it offers. Modules import this package only when
they need it.
"""

from __future__ import annotations

from .client import LLM
from .errors import LimitReachedError, LLMError
from .messages import Request, Response

__all__ = ["LLM", "LLMError", "LimitReachedError", "Request", "Response"]
