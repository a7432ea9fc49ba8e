"""The client that sends requests to an endpoint and returns its responses, with retries and a cache."""

from __future__ import annotations

import asyncio
import json
import os
import random
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .._util.urls import without_secrets
from ..defaults import CLIENT
from . import cache as caches
from .account import Account, Counts, check_limits, is_amount
from .connection import OUTPUTS, AttemptError, Connection, Timeouts, body_of, http_library, reply_of
from .errors import LimitReachedError, LLMError
from .event_loop import LoopThread
from .messages import Request, Response
from .secret import Secret

#: The seconds before the first retry, and the most seconds before a later one, if the endpoint prescribes no wait. The
#: actual wait is drawn at random between half of this time and all of it.
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
#: The longest wait, in seconds, that an endpoint may prescribe.
_LONGEST_TOLD = 600.0
#: The number of consecutive calls that must fail, each after all attempts, before the run ends with an error.
_GONE_AFTER = 8
#: The fewest requests that :meth:`LLM.stream` takes at a time. It takes at least 32 for each worker, because workers
#: wait while the last calls of such a batch end. With 32, that is about 1/32 of the batch's time.
_PART = 1024


class LLM:
    """A client of an LLM at an OpenAI-compatible endpoint (``/chat/completions``), with a cache and an account.

    Threads can share a client. A pickle holds everything but the key, which the other process takes from
    PYCHUNK_LLM_KEY. Calls also work while an event loop is running, because they run in another thread.

    Args:
        url: The URL of the endpoint up to the version, such as ``"http://127.0.0.1:8099/v1"``. The default is
            PYCHUNK_LLM_URL.
        model: The name of the model at the endpoint. The default is PYCHUNK_LLM_MODEL.
        key: The API key. The default is PYCHUNK_LLM_KEY. No log, error or pickle contains it. If an endpoint repeats
            the key in an answer, it stays there: the client and the cache keep answers as the endpoint sent them.
        concurrency: The number of calls at the same time.
        retries: The number of retries after an error that may be temporary. Such errors are the HTTP statuses 408, 409,
            425, 429 and 500 or more, a connection that hangs or breaks, and a response that is not a completion. The
            waits grow from 0.5 s to 1 s, 2 s and so on, up to 30 s; each is shortened at random by at most half. A wait
            that ``Retry-After`` prescribes applies to all calls.
        connect_timeout, first_byte_timeout, timeout: The limits of an attempt in seconds: until the connection is open,
            until the next bytes arrive, and in total.
        temperature, seed: The parameters of the same names in requests: a number of at least 0, and an integer. A
            parameter that is None is not sent.
        output: The way to request JSON: ``"schema"``, ``"json"`` (JSON mode) or ``"text"`` (in words only). ``"auto"``
            takes the first of these that the endpoint accepts.
        cache: The file with earlier answers, which are kept apart by endpoint. True means ``llm.sqlite`` in the user's
            cache (PYCHUNK_CACHE), and False means no cache.
        price: The price of a million input tokens and of a million output tokens, in any currency.
        max_calls, max_tokens, max_cost: The limits of a run. At a limit, the calls under way end, and the run stops
            with :class:`LimitReachedError`. Every attempt counts as a call. Tokens count even if the response held no
            answer, if the endpoint reported them.
        dry_run: Whether to call nothing and only count the calls and tokens that a run would need. Calls whose answers
            are cached do not count. With a cache, equal calls count once. Input tokens are estimated, and output tokens
            count as the most that each request allows. The real counts of cached answers of the same stage correct the
            estimates.

    Raises:
        ValueError: The URL or the model is missing, or a value is out of range.
        TypeError: The key or the cache has another type.

    Example:
        >>> llm = LLM("http://127.0.0.1:8099/v1", "test", cache=False, dry_run=True)
        >>> llm.ask("What is a chunk?").error, llm.account.line()
        ('dry run', '1 call, 0 cached, 8 tokens in, 1,024 out')
    """

    def __init__(
        self,
        url: str | None = None,
        model: str | None = None,
        key: str | None = None,
        *,
        concurrency: int = CLIENT.concurrency,
        retries: int = CLIENT.retries,
        connect_timeout: float = CLIENT.connect,
        first_byte_timeout: float = CLIENT.first_byte,
        timeout: float = CLIENT.whole,
        temperature: float | None = 0.0,
        seed: int | None = 0,
        output: str = "auto",
        cache: bool | str | Path = True,
        price: tuple[float, float] | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        dry_run: bool = False,
    ) -> None:
        self.url = _checked_url(url)
        self.model = _said(model, "model", "PYCHUNK_LLM_MODEL", "the name of the model at the endpoint")
        self._secret = Secret(key)
        for name, value, least in (("concurrency", concurrency, 1), ("retries", retries, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 10_000:
                raise ValueError(f"{name} must be a whole number from {least} to 10,000; got {value!r:.80}")
        waits = {"connect_timeout": connect_timeout, "first_byte_timeout": first_byte_timeout, "timeout": timeout}
        for name, seconds in waits.items():
            if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= 86_400:
                raise ValueError(f"{name} must be a number of seconds above 0 and at most 86,400; got {seconds!r:.80}")
        if output != "auto" and output not in OUTPUTS:
            raise ValueError(f"output must be one of auto, {', '.join(OUTPUTS)}; got {output!r:.80}")
        self.concurrency, self.retries, self.output, self.dry_run = concurrency, retries, output, bool(dry_run)
        self._timeouts = Timeouts(connect_timeout, first_byte_timeout, timeout)
        if temperature is not None and not is_amount(temperature):
            raise ValueError(f"temperature must be a number of at least 0, or None; got {temperature!r:.80}")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
            raise ValueError(f"seed must be a whole number, or None; got {seed!r:.80}")
        said = {"temperature": temperature, "seed": seed}
        self.parameters: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
        if not isinstance(cache, (bool, str, Path)):
            raise TypeError(f"cache must be True, False or the path of a file; got {type(cache).__name__}")
        path = caches.default_path() if cache is True else None if cache is False else Path(cache)
        self.cache = None if path is None else caches.Cache(path)
        limits, self.price = check_limits(max_calls, max_tokens, max_cost, price)
        self.account = Account(limits, self.price)
        self._start()

    def _start(self) -> None:
        """Set the state that is not pickled, because it belongs to this process."""
        self._thread = LoopThread()
        self._wire: tuple[asyncio.AbstractEventLoop, Connection, asyncio.Semaphore] | None = None
        self._output = OUTPUTS[0] if self.output == "auto" else self.output
        self._limit_name = "max_tokens"
        self._pause_until = 0.0
        self._answered = self._failed_in_a_row = 0
        self._under_way: dict[bytes, asyncio.Future[Response]] = {}
        self._random = random.Random()
        self._lock = threading.Lock()
        #: By stage: the real input tokens of cached answers, and their estimates. Their ratio corrects the estimates of
        #: a dry run.
        self._counted: dict[str, tuple[int, int]] = {}
        #: The keys of the requests that a dry run has counted. A real run would find a repeated one in the cache.
        self._foreseen: set[bytes] = set()

    def __repr__(self) -> str:
        return f"LLM({self.url!r}, {self.model!r})"

    def __getstate__(self) -> dict[str, Any]:
        own = ("url", "model", "_secret", "concurrency", "retries", "output", "dry_run", "parameters", "cache", "price")
        return {**{name: vars(self)[name] for name in (*own, "_timeouts")}, "limits": self.account.limits}

    def __setstate__(self, state: dict[str, Any]) -> None:
        limits = state.pop("limits")
        vars(self).update(state)
        self.account = Account(limits, self.price)
        self._start()

    def __enter__(self) -> LLM:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and end the thread; the next call starts new ones."""
        if self._wire is not None and self._thread.began_here:
            self._thread.run(self._wire[1].close())
        self._wire = None
        self._thread.close()
        if self.cache is not None:
            self.cache.close()

    @property
    def facts(self) -> dict[str, Any]:
        """The model and the parameters on which answers depend, for the metadata of results."""
        return {"model": self.model, **self.parameters}

    def ask(self, ask: Request | str, *, system: str = "", **more: Any) -> Response:
        """Return the response to one request. See :meth:`ask_many`.

        Args:
            ask: The request, or the text of the user.
            system: The system prompt, if ``ask`` is text.
            **more: Other fields of :class:`Request`, such as ``schema`` and ``max_tokens``, if ``ask`` is text.

        Raises:
            TypeError: A name is not a field of :class:`Request`, or fields are passed although ``ask`` is a
                :class:`Request`.
        """
        if isinstance(ask, Request) and (system or more):
            names = ", ".join([*(["system"] if system else []), *more])
            raise TypeError(f"ask takes no further fields with a Request; got {names}: pass them to Request()")
        unknown = sorted(set(more) - {each.name for each in fields(Request)})
        if unknown:
            name = unknown[0]
            raise TypeError(f"a Request has no field {name}; pass it to the endpoint by parameters={{{name!r}: ...}}")
        return self.ask_many([ask if isinstance(ask, Request) else Request(ask, system, **more)])[0]

    def ask_many(self, asks: Sequence[Request | str]) -> list[Response]:
        """Return the responses to requests, in order.

        At most ``concurrency`` calls run at a time, and equal requests are sent once. If a request fails after all
        attempts, or if the endpoint refuses it as too long or ill-formed, its response has an ``error``.

        Raises:
            LLMError: The endpoint cannot be reached, refuses the key, lacks the model, or fails for several calls in a
                row.
            LimitReachedError: A limit is reached. The cache holds the answers that arrived before.
        """
        return [reply for part in self._parts(asks) for reply in self._replies(part)]

    def stream(self, asks: Iterable[Request | str]) -> Iterator[Response]:
        """Yield the responses to any number of requests, as :meth:`ask_many` does, in constant memory."""
        for part in self._parts(asks):
            yield from self._replies(part)

    def _parts(self, asks: Iterable[Request | str]) -> Iterator[list[Request]]:
        if isinstance(asks, (str, Request)):
            raise TypeError(f"the requests must be a list; got one {type(asks).__name__}: pass a single one to ask()")
        size = max(_PART, 32 * self.concurrency)
        part: list[Request] = []
        for ask in asks:
            part.append(ask if isinstance(ask, Request) else Request(ask))
            if len(part) == size:
                yield part
                part = []
        if part:
            yield part

    def _replies(self, asks: list[Request]) -> list[Response]:
        keys = [ask.key(self.url, self.model, self.parameters) for ask in asks]
        known = {} if self.cache is None else self.cache.get_many(keys)
        replies: dict[int, Response] = {}
        for place, (ask, key) in enumerate(zip(asks, keys, strict=True)):
            found = _stored(known.get(key))
            if found is not None:
                replies[place] = found
                self.account.settle(ask.stage, Counts(cached=1))
                if self.dry_run:
                    paid, estimated = self._counted.get(ask.stage, (0, 0))
                    self._counted[ask.stage] = paid + found.tokens_in, estimated + ask.tokens
        rest: dict[bytes, list[int]] = {}  # equal requests are sent once
        for place in range(len(asks)):
            if place not in replies:
                rest.setdefault(keys[place], []).append(place)
        first = [(asks[places[0]], key) for key, places in rest.items()]
        if first and self.dry_run:
            answers = {key: self._foreseen_of(ask, key) for ask, key in first}
        elif first:
            http_library()
            answers = self._thread.run(self._all(first))
        else:
            answers = {}
        for key, places in rest.items():
            replies |= {place: replace(answers[key], cached=True) for place in places}
            replies[places[0]] = answers[key]
            self.account.settle(asks[places[0]].stage, Counts(cached=len(places) - 1))
        return [replies[place] for place in range(len(asks))]

    def _foreseen_of(self, ask: Request, key: bytes) -> Response:
        """Return the response of a dry run, and count the call with its estimated tokens."""
        if key in self._foreseen:
            self.account.settle(ask.stage, Counts(cached=1))
        else:
            if self.cache is not None:
                self._foreseen.add(key)
            paid, estimated = self._counted.get(ask.stage, (0, 0))
            size = round(ask.tokens * paid / estimated) if estimated else ask.tokens
            self.account.settle(ask.stage, Counts(calls=1, attempts=1, tokens_in=size, tokens_out=ask.max_tokens))
        return Response(error="dry run")

    async def _all(self, asks: list[tuple[Request, bytes]]) -> dict[bytes, Response]:
        """Send requests by several workers. After an error, the workers finish their current requests, then stop."""
        self._connected()
        waiting = iter(asks)
        replies: dict[bytes, Response] = {}
        errors: list[Exception] = []

        async def work() -> None:
            for ask, key in waiting:
                try:
                    replies[key] = await self._once(ask, key)
                except Exception as error:
                    errors.append(error)
                if errors:
                    return

        tasks = [asyncio.ensure_future(work()) for _ in range(min(self.concurrency, len(asks)))]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if errors:
            raise next((error for error in errors if not isinstance(error, LimitReachedError)), errors[0])
        return replies

    async def _once(self, ask: Request, key: bytes) -> Response:
        """Return the response, shared with callers that send the same request at the same time."""
        while (other := self._under_way.get(key)) is not None:
            try:
                reply = await asyncio.shield(other)
            except asyncio.CancelledError:
                if not other.cancelled():
                    raise
                continue  # the first caller was interrupted
            self.account.settle(ask.stage, Counts(cached=1))
            return replace(reply, cached=True)
        future = self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            reply = await self._called(ask, key)
            future.set_result(reply)
            return reply
        except Exception as error:
            future.set_exception(error)
            future.exception()  # else asyncio warns if no other caller waits for it
            raise
        finally:
            if not future.done():
                future.cancel()
            self._under_way.pop(key, None)

    async def _called(self, ask: Request, key: bytes) -> Response:
        wire, places = self._connected()
        async with places:
            begun, attempts = time.monotonic(), 0
            try:
                while True:
                    await self._pause()
                    self.account.book()
                    output, limit_name = self._output, self._limit_name
                    attempts += 1
                    try:
                        data = await wire.post(body_of(ask, self.model, self.parameters, output, limit_name))
                        reply = reply_of(data, ask, wire.hide)
                        break
                    except AttemptError as error:
                        paid_in, paid_out = error.tokens
                        self.account.settle(ask.stage, Counts(tokens_in=paid_in, tokens_out=paid_out))
                        if self._otherwise(ask, error, output, limit_name):
                            continue
                        if not error.passes or attempts > self.retries or not (error.connected or self._answered):
                            return self._given_up(ask, error, attempts)
                        await self._wait(error, attempts)
            finally:
                self.account.settle(ask.stage, Counts(attempts=attempts, retries=max(0, attempts - 1)))
            seconds = time.monotonic() - begun
            self.account.settle(
                ask.stage, Counts(calls=1, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out, seconds=seconds)
            )
            self._answered, self._failed_in_a_row = self._answered + 1, 0
            if self.cache is not None:
                kept = {name: value for name, value in vars(reply).items() if name != "cached"}
                self.cache.put(key, json.dumps(kept))
            return reply

    def _connected(self) -> tuple[Connection, asyncio.Semaphore]:
        loop = asyncio.get_running_loop()
        if self._wire is None or self._wire[0] is not loop:
            made = Connection(self.url, self._secret, self._timeouts)
            self._wire = loop, made, asyncio.Semaphore(self.concurrency)
            self._under_way.clear()
        return self._wire[1:]

    async def _pause(self) -> None:
        """Wait until the endpoint allows calls again, if a response asked the client to wait."""
        while (left := self._pause_until - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def _wait(self, error: AttemptError, attempts: int) -> None:
        if error.after is not None:
            if error.after > _LONGEST_TOLD:
                raise LLMError(f"{self.url} asks to wait {error.after:.0f} s: start the run again after this time")
            self._pause_until = max(self._pause_until, time.monotonic() + error.after)
            return
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempts - 1))
        await asyncio.sleep(longest * self._random.uniform(0.5, 1.0))

    def _otherwise(self, ask: Request, error: AttemptError, output: str, limit_name: str) -> bool:
        """Choose another form of requests if the endpoint refused the current one. Return whether to try again."""
        if error.status not in (400, 415, 422, 501):
            return False
        if "limit" in error.about and limit_name == "max_tokens":
            self._limit_name = "max_completion_tokens"
            return True
        if ask.schema is None or output == OUTPUTS[-1] or self.output != "auto" or "form" not in error.about:
            return False
        if self._output == output:
            self._output = OUTPUTS[OUTPUTS.index(output) + 1]
        return True

    def _given_up(self, ask: Request, error: AttemptError, attempts: int) -> Response:
        """Return a response with an error if other requests may succeed; else raise LLMError."""
        remedy = ""
        if error.status in (401, 403):
            remedy = "the endpoint refuses the key: check key= or PYCHUNK_LLM_KEY"
        elif error.status in (404, 405) or 300 <= error.status < 400 or "model" in error.about:
            remedy = "check url= (PYCHUNK_LLM_URL, up to /v1) and model= (PYCHUNK_LLM_MODEL)"
        elif not error.connected:
            remedy = "nothing answers there: check url= or PYCHUNK_LLM_URL"
        if not remedy and error.passes:
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= _GONE_AFTER:
                remedy = f"{self._failed_in_a_row} calls failed in a row; start the run again when the endpoint works"
        self.account.settle(ask.stage, Counts(failed=1))
        if remedy:
            raise LLMError(f"{self.url}, model {self.model!r}: {error}; {remedy}")
        tried = f" (after {attempts} attempts)" if attempts > 1 else ""
        return Response(error=f"{error}{tried}")


def _stored(text: str | None) -> Response | None:
    """Return a response from the cache, or None if it cannot be read, for example after an upgrade."""
    try:
        found = json.loads(text or "")
        logprobs = found.pop("logprobs")
        return Response(**found, logprobs=None if logprobs is None else tuple(logprobs), cached=True)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def _checked_url(url: str | None) -> str:
    found = _said(url, "url", "PYCHUNK_LLM_URL", "such as http://127.0.0.1:8099/v1").rstrip("/")
    shown = repr(without_secrets(found))
    try:
        parts = urlsplit(found)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_web = False
    if not is_web:
        raise ValueError(
            f"url must begin with http:// or https:// and a host, such as http://127.0.0.1:8099/v1; got {shown}"
        )
    if parts.username is not None or parts.password is not None:
        raise ValueError("url must not hold a user or password: pass the key by key= or PYCHUNK_LLM_KEY")
    if parts.query:
        raise ValueError(
            f"url must not have a query (?...); got one after {shown}: leave it out, and pass a key by key= or "
            "PYCHUNK_LLM_KEY"
        )
    if parts.fragment:
        raise ValueError(f"url must not have a fragment (#...); got one after {shown}: leave it out")
    try:
        is_port = parts.port is None or parts.port > 0
    except ValueError:
        is_port = False
    if not is_port:
        raise ValueError(f"the port in url must be a number from 1 to 65535; got {shown}")
    return found.removesuffix("/chat/completions")


def _said(value: str | None, name: str, environment: str, what: str) -> str:
    found = os.environ.get(environment, "") if value is None else value
    if not isinstance(found, str) or not found.strip():
        raise ValueError(f"an LLM needs {name}=, or {environment} in the environment: {what}")
    return found.strip()
