"""What a model is asked, and what it answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Added to every message in counts of tokens: its role and its borders.
MESSAGE_TOKENS = 4


@dataclass(frozen=True)
class Request:
    """One question.

    Raises:
        TypeError: ``user`` or ``system`` is no text.

    Attributes:
        user: the text of the user.
        system: the text of the system; "" is none.
        stage: what it is for, by which the account adds up: ``"autochunker"``, ``"summary"``.
        version: that of the prompt, part of the key of the cache.
        schema: JSON schema of the answer; where the endpoint takes none, JSON mode is asked for, else plain text.
        max_tokens: longest answer, in the model's tokens.
        logprobs: for each token of the answer the log-probabilities of so many candidates; 0 is none.
        parameters: others of the endpoint, such as ``{"temperature": 0.7}``, in place of the client's.
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
                raise TypeError(f"a question must be text; got {type(each).__name__}")

    @property
    def messages(self) -> list[dict[str, str]]:
        """As the endpoint takes them."""
        first = [{"role": "system", "content": self.system}] if self.system else []
        return [*first, {"role": "user", "content": self.user}]

    @property
    def tokens(self) -> int:
        """An estimate of its length in the model's tokens; see :func:`estimate`."""
        return sum(MESSAGE_TOKENS + estimate(each["content"]) for each in self.messages)

    def key(self, url: str, model: str, parameters: Mapping[str, Any]) -> bytes:
        """Return the SHA-256 of all that an answer depends on, the endpoint included: its key in the cache.

        Example:
            >>> Request("a").key("u", "m", {}) == Ask("a", stage="other").key("u", "m", {}) != Ask("b").key("u", "m",
            {}) True
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
        text = json.dumps(said, sort_keys=True, separators=(",", ":"))  # ASCII: lone surrogates are escaped
        return hashlib.sha256(text.encode()).digest()


@dataclass(frozen=True)
class Response:
    """One answer.

    Attributes:
        text: what the model wrote; "" where there is none.
        finish: why it ended: ``"stop"``, ``"length"``, ``"content_filter"``.
        refusal: what it said in place of an answer; "" where it did not refuse.
        tokens_in, tokens_out: as the endpoint counted them, else estimated.
        logprobs: for each token of the answer the log-probability of each candidate; None where there are none.
        cached: whether it came from the cache.
        error: why there is no answer, after all retries; "" where there is one.
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
        """Why the text is no whole answer, in words; "" where it is one."""
        if self.error:
            return self.error
        if self.refusal or self.finish == "content_filter":
            return f"the model refused: {self.refusal[:200] or 'its content filter'}"
        if self.finish == "length":
            return "the answer was longer than max_tokens"
        return "" if self.text.strip() else "the answer was empty"


def estimate(text: str) -> int:
    """Tokens of a text where nobody counted: one for four bytes of UTF-8, rounded up.

    >>> estimate("four bytes"), estimate("")
    (3, 0)
    """
    return -(-len(text.encode("utf-8", "replace")) // 4)
