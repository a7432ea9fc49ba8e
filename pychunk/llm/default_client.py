"""The client of a stage, which the caller passes or the environment describes."""

from __future__ import annotations

from collections.abc import Sequence

from .client import LLM
from .connection import http_library
from .messages import Request, Response


class DefaultClient:
    """A base class of stages that ask an LLM, through the caller's client or one from the environment.

    A client that comes from the environment closes its connections after each use.

    Args:
        llm: The client, or None for the one that PYCHUNK_LLM_URL and PYCHUNK_LLM_MODEL name.

    Raises:
        ValueError: No endpoint or no model is named.
        TypeError: The value is not a client.
        ImportError: The client comes from the environment, and the extra ``llm`` is not installed.

    Example:
        >>> DefaultClient(LLM("http://127.0.0.1:8099/v1", "test", cache=False)).llm.model
        'test'
    """

    def __init__(self, llm: LLM | None) -> None:
        self._own = llm is None
        if llm is not None and not isinstance(llm, LLM):
            raise TypeError(f"llm must be a pychunk.llm.LLM; got {type(llm).__name__}")
        self.llm = LLM() if llm is None else llm
        if self._own:
            http_library()

    def replies(self, asks: Sequence[Request]) -> list[Response]:
        """Return the responses to the requests, as :meth:`LLM.ask_many` does."""
        try:
            return self.llm.ask_many(asks)
        finally:
            self.rest()

    def rest(self) -> None:
        """Close the connections of a client that came from the environment."""
        if self._own:
            self.llm.close()
