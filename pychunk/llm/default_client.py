"""A client that was given, or the environment's."""

from __future__ import annotations

from collections.abc import Sequence

from .client import LLM
from .connection import http_library
from .messages import Request, Response


class DefaultClient:
    """What a stage asks: the caller's client, or one by the environment, whose connections end after each use.

    Args:
        llm: the client; None: by PYCHUNK_LLM_URL and PYCHUNK_LLM_MODEL.

    Raises:
        ValueError: no endpoint or no model is named. TypeError: something else than a client. ImportError: None, and
            the extra ``llm`` is not installed.

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
        """As :meth:`LLM.ask_many`."""
        try:
            return self.llm.ask_many(asks)
        finally:
            self.rest()

    def rest(self) -> None:
        """Ends the connections of a client that the caller did not give."""
        if self._own:
            self.llm.close()
