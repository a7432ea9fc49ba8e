"""A single attempt at a call, from the body of the request to the response, and the errors of an attempt."""

from __future__ import annotations

import asyncio
import json
import re
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..defaults import CLIENT
from .messages import Request, Response, estimate
from .secret import Secret

if TYPE_CHECKING:
    import httpx2

#: The ways to request JSON, the strictest first. If an endpoint refuses a way, the client takes the next.
OUTPUTS = ("schema", "json", "text")
#: The HTTP statuses below 500 after which a retry may succeed, such as 429, too many requests. After any status from
#: 500 on, a retry may succeed.
PASSING = frozenset({408, 409, 425, 429})
#: The most bytes of a response, both compressed and decompressed, so that 8 responses at a time take 256 MB. A response
#: of 1,024 tokens with the log-probabilities of 20 candidates each takes 2 MB.
MAX_REPLY = 16 << 20
#: The most bytes that are read if a response reports an error.
_MAX_ERROR = 1 << 16
#: The number of characters of an endpoint's message that an error repeats.
_SAID = 300
#: The patterns that recognise error messages of endpoints: that an endpoint lacks the model, or that it refuses a form
#: of request. A message about the model counts whatever the HTTP status; the others only with 400, 415, 422 or 501.
_COMPLAINTS = {
    "model": r"\bmodel\b.*\b(not found|does not exist|not available)|(unknown|invalid|no such) model",
    "limit": "max_completion_tokens",
    "form": "response_format|json_schema|json_object|json mode",
}


class AttemptError(Exception):
    """An error that ended an attempt without an answer.

    Attributes:
        status: The HTTP status, 0 without a response.
        after: The seconds that the endpoint asks to wait, or None.
        connected: Whether a server was reached.
        about: The keys of ``_COMPLAINTS`` whose patterns the endpoint's message matches.
        tokens: The input and output tokens that the endpoint counted although there is no answer.
    """

    def __init__(
        self,
        text: str,
        status: int = 0,
        after: float | None = None,
        *,
        connected: bool = True,
        about: frozenset[str] = frozenset(),
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(text)
        self.status, self.after, self.connected = status, after, connected
        self.about, self.tokens = about, tokens

    @property
    def passes(self) -> bool:
        """True if another attempt may succeed."""
        return self.status == 0 or self.status in PASSING or self.status >= 500


@dataclass(frozen=True)
class Timeouts:
    """The seconds until the connection is open, until the next bytes of the answer, and of the whole attempt."""

    connect: float = CLIENT.connect
    first_byte: float = CLIENT.first_byte
    whole: float = CLIENT.whole


def body_of(ask: Request, model: str, parameters: Mapping[str, Any], output: str, limit_name: str) -> dict[str, Any]:
    """Return the JSON of a request. ``limit_name`` is the name of the endpoint's limit on the tokens of an answer."""
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


class Connection:
    """The connections to one endpoint from one event loop. Only this class uses the HTTP library.

    Each connection has an HTTP client of its own. A call takes the free connection that was used last. A single HTTP
    client with 32 connections would check all of them before and after each call. On a busy machine, a call would then
    take 2.4 ms of CPU time instead of 1.6 ms.
    """

    def __init__(self, url: str, secret: Secret, timeouts: Timeouts) -> None:
        library = http_library()
        self._secret, self._timeouts = secret, timeouts
        parts = urlsplit(url)
        context = library.create_ssl_context() if parts.scheme == "https" else False
        self._made: Callable[[], httpx2.AsyncClient] = lambda: library.AsyncClient(
            headers={**secret.headers, "Content-Type": "application/json", "Accept-Encoding": "gzip"},
            timeout=library.Timeout(timeouts.first_byte, connect=timeouts.connect, pool=None),
            limits=library.Limits(max_connections=1, max_keepalive_connections=1),
            verify=context,
            # a proxy from the environment must not be used for this machine
            trust_env=parts.hostname not in ("localhost", "127.0.0.1", "::1"),
        )
        self._free: list[httpx2.AsyncClient] = []
        self._all: list[httpx2.AsyncClient] = []
        self._url = url
        self._errors = library.HTTPError, library.InvalidURL, library.StreamError
        self._unreached = library.ConnectError, library.ConnectTimeout, library.UnsupportedProtocol

    async def post(self, body: Mapping[str, Any]) -> bytes:
        """Send a request and return the bytes of a response with status 200.

        Raises:
            AttemptError: The response has another status, or there is none.
        """
        return await self._sent("POST", "/chat/completions", json.dumps(body).encode())

    async def get(self, path: str) -> bytes:
        """Return the bytes at another address. See :meth:`post`."""
        return await self._sent("GET", path, None)

    async def _sent(self, method: str, path: str, content: bytes | None) -> bytes:
        client = self._free.pop() if self._free else self._another()
        try:
            work = self._read(client, method, self._url + path, content)
            status, after, data = await asyncio.wait_for(work, self._timeouts.whole)
        # Errors of the library must not leave this method, because they hold the request and with it the key.
        except self._unreached as error:
            raise AttemptError(f"no connection: {self._hidden(error)}", connected=False) from None
        except asyncio.TimeoutError:
            raise AttemptError(f"no whole answer within {self._timeouts.whole:g} s") from None
        except self._errors as error:
            raise AttemptError(f"the connection failed: {self._hidden(error)}") from None
        finally:
            self._free.append(client)
        if status != 200:
            refused = self._refused(status, after, data)
            data = b""  # a traceback with the values of variables must not show the key
            raise refused
        return data

    def _refused(self, status: int, after: str | None, data: bytes) -> AttemptError:
        text = message_of(data.decode("utf-8", "replace"))
        said = text[:_SAID]
        about = frozenset(name for name, words in _COMPLAINTS.items() if re.search(words, said, re.IGNORECASE))
        return AttemptError(f"status {status}: {self.hide(text)[:_SAID]}", status, seconds_of(after), about=about)

    async def _read(
        self, client: httpx2.AsyncClient, method: str, url: str, content: bytes | None
    ) -> tuple[int, str | None, bytes]:
        """Return (status, Retry-After, body). If the response reports an error, only the beginning of its body is read.

        This method decompresses the body itself, up to a limit. The library would decompress whole blocks, however
        large they become.
        """
        async with client.stream(method, url, content=content) as response:
            is_good = response.status_code == 200
            largest = MAX_REPLY if is_good else _MAX_ERROR
            encoding = response.headers.get("content-encoding", "identity").strip().lower()
            packed = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding in ("gzip", "x-gzip", "deflate") else None
            if packed is None and encoding not in ("identity", ""):
                named = self.hide(response.headers["content-encoding"])[:20]
                raise AttemptError(
                    f"the response is compressed as {named!r}; only gzip is supported", response.status_code
                )
            body, sent = bytearray(), 0
            async for block in response.aiter_raw():
                sent += len(block)
                try:
                    body += block if packed is None else packed.decompress(block, largest + 1 - len(body))
                except zlib.error as error:
                    raise AttemptError(f"the response cannot be decompressed: {error}") from None
                if max(sent, len(body)) > largest:
                    if is_good:
                        raise AttemptError(f"the response is longer than the limit of {largest:,} bytes", 200)
                    break
            if is_good and packed is not None and not packed.eof:  # without its end, its checksum was not compared
                raise AttemptError("the response cannot be decompressed: it ends too early")
            return response.status_code, response.headers.get("retry-after"), bytes(body)

    def hide(self, text: str) -> str:
        """Return a message without the key."""
        return self._secret.hide(text)

    def _hidden(self, error: Exception) -> str:
        return self.hide(f"{type(error).__name__} {error}".strip())[:_SAID]

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
    """Return httpx2, or raise an ImportError that says how to install it."""
    try:
        import httpx2
    except ImportError as error:
        raise ImportError('calls to an LLM need httpx2: pip install "pychunk-native[llm]"') from error
    return httpx2


def seconds_of(header: str | None) -> float | None:
    """Return the seconds that a Retry-After header prescribes, as a number or a date, or None if it cannot be read.

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
    """Return an endpoint's message about an error, on one line."""
    try:
        found = json.loads(text)
        found = found.get("error", found) if isinstance(found, dict) else found
        text = str(found.get("message", found) if isinstance(found, dict) else found)
    except (ValueError, RecursionError):
        pass
    return " ".join(text.split())


def reply_of(data: bytes, ask: Request, hide: Callable[[str], str] = str) -> Response:
    """Return the response in a completion. ``hide`` removes the key from errors and refusals, not from answers.

    Raises:
        AttemptError: The data are not a completion, but for example truncated JSON or JSON without choices.
    """
    found: Any = None
    try:
        found = json.loads(data)
        choice = found["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        said = hide(data[:_MAX_ERROR].decode("utf-8", "replace"))[:80]
        usage = _usage(found)
        tokens = _whole(usage.get("prompt_tokens"), 0), _whole(usage.get("completion_tokens"), 0)
        raise AttemptError(f"no completion: {said!r}", tokens=tokens) from None
    text = text if isinstance(text, str) else ""
    usage = _usage(found)
    return Response(
        text=text.encode("utf-8", "replace").decode(),  # JSON may hold the escape of a lone surrogate
        finish=str(choice.get("finish_reason") or "stop"),
        refusal=hide(refusal) if isinstance(refusal, str) else "",
        tokens_in=_whole(usage.get("prompt_tokens"), ask.tokens),
        tokens_out=_whole(usage.get("completion_tokens"), estimate(text)),
        logprobs=_logprobs(choice.get("logprobs")),
    )


def _usage(found: Any) -> dict[str, Any]:
    usage = found.get("usage") if isinstance(found, dict) else None
    return usage if isinstance(usage, dict) else {}


def _whole(value: Any, otherwise: int) -> int:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return int(value) if good else otherwise


def _logprobs(value: Any) -> tuple[dict[str, float], ...] | None:
    """Return the candidates of each token, or None if the endpoint sent none that can be read."""
    try:
        rows = []
        for each in value["content"]:
            row = {str(other["token"]): float(other["logprob"]) for other in each.get("top_logprobs") or ()}
            row.setdefault(str(each["token"]), float(each["logprob"]))
            rows.append(row)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    return tuple(rows) or None
