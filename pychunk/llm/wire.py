"""One attempt at one call: the request as the endpoint takes it, the answer as it comes, and which errors pass."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .ask import Ask, Reply, estimate
from .secret import Secret

if TYPE_CHECKING:
    import httpx2

#: How an answer in JSON is asked for, from the strictest; an endpoint that takes one not is asked by the next.
OUTPUTS = ("schema", "json", "text")
#: Statuses that pass: busy, not ready, too many requests; and all of 500 and more.
PASSING = frozenset({408, 409, 425, 429})


class AttemptError(Exception):
    """An attempt without an answer: ``status`` of HTTP (0: none came), ``after``: seconds to wait, as it was told.

    ``connected``: whether anything listened.
    """

    def __init__(self, text: str, status: int = 0, after: float | None = None, *, connected: bool = True) -> None:
        super().__init__(text)
        self.status, self.after, self.connected = status, after, connected

    @property
    def passes(self) -> bool:
        """Whether another attempt may be answered."""
        return self.status == 0 or self.status in PASSING or self.status >= 500


@dataclass(frozen=True)
class Timeouts:
    """Seconds: until the connection stands, until the next bytes of the answer, and of the attempt in all."""

    connect: float = 10.0
    first_byte: float = 120.0
    whole: float = 300.0


def body_of(ask: Ask, model: str, parameters: Mapping[str, Any], output: str, limit_name: str) -> dict[str, Any]:
    """The JSON of a request; ``limit_name``: what the endpoint calls the longest answer."""
    body: dict[str, Any] = {"model": model, "messages": ask.messages, **parameters, **ask.parameters}
    body[limit_name] = ask.max_tokens
    if ask.schema is not None and output == "schema":
        named = {"name": "answer", "strict": True, "schema": ask.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif ask.schema is not None and output == "json":
        body["response_format"] = {"type": "json_object"}
    if ask.logprobs:
        body |= {"logprobs": True, "top_logprobs": ask.logprobs}
    return body


class Wire:
    """Connections to one endpoint, for one event loop; the only place that knows the HTTP library.

    Each connection has a client of its own, the last one used first: a client of 32 connections looks at all of them
    before and after each call: 2.4 ms of CPU a call in place of 1.6, on a busy machine.
    """

    def __init__(self, url: str, secret: Secret, timeouts: Timeouts) -> None:
        library = http_library()
        self._secret, self._timeouts = secret, timeouts
        parts = urlsplit(url)
        context = library.create_ssl_context() if parts.scheme == "https" else False
        self._made: Callable[[], httpx2.AsyncClient] = lambda: library.AsyncClient(
            headers={**secret.headers, "Content-Type": "application/json"},
            timeout=library.Timeout(timeouts.first_byte, connect=timeouts.connect, pool=None),
            limits=library.Limits(max_connections=1, max_keepalive_connections=1),
            verify=context,
            # a proxy of the environment is not for this machine
            trust_env=parts.hostname not in ("localhost", "127.0.0.1", "::1"),
        )
        self._free: list[httpx2.AsyncClient] = []
        self._all: list[httpx2.AsyncClient] = []
        self._url = url
        self._errors = library.HTTPError, library.InvalidURL, library.StreamError
        self._unreached = library.ConnectError, library.ConnectTimeout, library.UnsupportedProtocol

    async def post(self, body: Mapping[str, Any]) -> bytes:
        """The bytes of an answer of status 200.

        Raises:
            AttemptError: anything else.
        """
        return await self._sent("POST", "/chat/completions", json.dumps(body).encode())

    async def get(self, path: str) -> bytes:
        """The same of another address."""
        return await self._sent("GET", path, None)

    async def _sent(self, method: str, path: str, content: bytes | None) -> bytes:
        client = self._free.pop() if self._free else self._another()
        try:
            work = client.request(method, self._url + path, content=content)
            response = await asyncio.wait_for(work, self._timeouts.whole)
        # No error of the library goes on: they hold the request, and with it the key.
        except self._unreached as error:
            raise AttemptError(f"no connection: {self._hidden(error)}", connected=False) from None
        except asyncio.TimeoutError:
            raise AttemptError(f"no whole answer within {self._timeouts.whole:g} s") from None
        except self._errors as error:
            raise AttemptError(f"the connection failed: {self._hidden(error)}") from None
        finally:
            self._free.append(client)
        data = self._secret.hide_bytes(response.content)
        if response.status_code != 200:
            text = data.decode("utf-8", "replace")
            after = seconds_of(response.headers.get("retry-after"))
            raise AttemptError(f"status {response.status_code}: {message_of(text)}", response.status_code, after)
        return data

    def _hidden(self, error: Exception) -> str:
        return self._secret.hide(f"{type(error).__name__} {error}".strip())[:300]

    def _another(self) -> httpx2.AsyncClient:
        client = self._made()
        self._all.append(client)
        return client

    async def close(self) -> None:
        """Close all connections."""
        for client in self._all:
            await client.aclose()
        self._all, self._free = [], []


def http_library() -> Any:
    """httpx2; ImportError, saying how to get it."""
    try:
        import httpx2
    except ImportError as error:
        raise ImportError('an LLM is called through httpx2: pip install "pychunk-native[llm]"') from error
    return httpx2


def seconds_of(header: str | None) -> float | None:
    """What Retry-After says: seconds, or a date; None where it says nothing that can be read.

    >>> seconds_of("2"), seconds_of("Mon, 01 Jan 2001 00:00:00 GMT"), seconds_of("soon"), seconds_of(None)
    (2.0, 0.0, None, None)
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None


def message_of(text: str) -> str:
    """What an endpoint says of an error, in a line."""
    try:
        found = json.loads(text)
        found = found.get("error", found) if isinstance(found, dict) else found
        text = str(found.get("message", found) if isinstance(found, dict) else found)
    except ValueError:
        pass
    return " ".join(text.split())[:300]


def reply_of(data: bytes, ask: Ask) -> Reply:
    """The answer in a completion.

    Raises:
        AttemptError: it is none: cut JSON, no choices.
    """
    try:
        found = json.loads(data)
        choice = found["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise AttemptError(f"no completion: {data[:80].decode('utf-8', 'replace')!r}") from None
    text = text if isinstance(text, str) else ""
    usage = found.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        text=text.encode("utf-8", "replace").decode(),  # JSON may escape half a character
        finish=str(choice.get("finish_reason") or "stop"),
        refusal=refusal if isinstance(refusal, str) else "",
        tokens_in=_whole(usage.get("prompt_tokens"), ask.tokens),
        tokens_out=_whole(usage.get("completion_tokens"), estimate(text)),
        logprobs=_logprobs(choice.get("logprobs")),
    )


def _whole(value: Any, otherwise: int) -> int:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return int(value) if good else otherwise


def _logprobs(value: Any) -> tuple[dict[str, float], ...] | None:
    """For each token its candidates; None where the endpoint sent none, or what cannot be read."""
    try:
        rows = []
        for each in value["content"]:
            row = {str(other["token"]): float(other["logprob"]) for other in each.get("top_logprobs") or ()}
            row.setdefault(str(each["token"]), float(each["logprob"]))
            rows.append(row)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    return tuple(rows) or None
