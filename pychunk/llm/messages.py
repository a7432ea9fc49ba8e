"""The requests to a model and its responses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: The tokens that each message adds for its role and its delimiters.
MESSAGE_TOKENS = 4


@dataclass(frozen=True)
class Request:
    """A request with one question.

    Raises:
        TypeError: ``user`` or ``system`` is not text.

    Attributes:
        user: The text of the user's message.
        system: The system prompt, "" for none.
        stage: The purpose under which the account counts the call, such as ``"autochunker"`` or ``"summary"``.
        version: The version of the prompt, which is part of the cache's key.
        schema: The JSON schema of the answer. If the endpoint accepts no schemas, the client requests JSON mode, or
            else text.
        max_tokens: The largest number of tokens of the answer, as the model counts them.
        logprobs: The number of candidates for each token of the answer for which log-probabilities are requested, 0 for
            none.
        parameters: Further parameters for the endpoint, such as ``{"temperature": 0.7}``. They override the client's.
    """

    user: str
    system: str = ""
    stage: str = "ask"
    version: str = ""
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    logprobs: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for each in (self.user, self.system):
            if not isinstance(each, str):
                raise TypeError(f"the texts of a Request must be strings; got {type(each).__name__}")

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages in the form of the endpoint."""
        first = [{"role": "system", "content": self.system}] if self.system else []
        return [*first, {"role": "user", "content": self.user}]

    @property
    def tokens(self) -> int:
        """The estimated length in the model's tokens. See :func:`estimate`."""
        return sum(MESSAGE_TOKENS + estimate(each["content"]) for each in self.messages)

    def key(self, url: str, model: str, parameters: Mapping[str, Any]) -> bytes:
        """Return the key in the cache: the SHA-256 of everything on which the answer depends, including the endpoint.

        Example:
            >>> Request("a").key("u", "m", {}) == Request("a", stage="other").key("u", "m", {})
            True
            >>> Request("a").key("u", "m", {}) == Request("b").key("u", "m", {})
            False
        """
        said = {
            "url": url,
            "model": model,
            "parameters": {**parameters, **self.parameters},
            "version": self.version,
            "schema": self.schema,
            "max_tokens": self.max_tokens,
            "logprobs": self.logprobs,
            "messages": self.messages,
        }
        text = json.dumps(said, sort_keys=True, separators=(",", ":"))  # ASCII, because lone surrogates need escapes
        return hashlib.sha256(text.encode()).digest()


@dataclass(frozen=True)
class Response:
    """A response with one answer.

    Attributes:
        text: The text of the answer, "" if there is none.
        finish: The reason why the text ended, such as ``"stop"``, ``"length"`` or ``"content_filter"``.
        refusal: The text of a refusal in place of an answer, else "".
        tokens_in, tokens_out: The tokens as the endpoint counted them, else estimates.
        logprobs: The log-probability of each candidate for each token of the answer, or None.
        cached: Whether the response came from the cache.
        error: The reason why there is no answer after all retries, else "".
    """

    text: str = ""
    finish: str = "stop"
    refusal: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    logprobs: tuple[dict[str, float], ...] | None = None
    cached: bool = False
    error: str = ""

    @property
    def fault(self) -> str:
        """The reason why the text is not a complete answer, "" if it is complete."""
        if self.error:
            return self.error
        if self.refusal or self.finish == "content_filter":
            return f"the model refused: {self.refusal[:200] or 'its content filter'}"
        if self.finish == "length":
            return "the answer was longer than max_tokens"
        return "" if self.text.strip() else "the answer was empty"


def estimate(text: str) -> int:
    """Return an estimate of a text's tokens, one for every four bytes of UTF-8, rounded up.

    >>> estimate("four bytes"), estimate("")
    (3, 0)
    """
    return -(-len(text.encode("utf-8", "replace")) // 4)
