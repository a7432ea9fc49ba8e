"""The client: questions in, answers out, whatever the endpoint does in between."""

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

#: Seconds before the first further attempt, and the longest wait that is not told; drawn from half to all of each.
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
#: Longest wait that an endpoint may tell.
_LONGEST_TOLD = 600.0
#: Calls that fail one after the other, each after all its attempts, until the endpoint counts as gone.
_GONE_AFTER = 8
#: Questions of :meth:`LLM.stream` at a time, at least; at the end of each part workers wait, for 1/32 of it.
_PART = 1024


class LLM:
    """A model behind an OpenAI-compatible endpoint (``/chat/completions``): a client, its cache and its account.

    Safe to share between threads; a pickle holds all but the key, which the other side takes from PYCHUNK_LLM_KEY.
    Calls work inside a running event loop, too: they run in a thread of their own.

    Args:
        url: up to the version, such as ``"http://127.0.0.1:8099/v1"``; default: PYCHUNK_LLM_URL.
        model: what the endpoint calls it; default: PYCHUNK_LLM_MODEL.
        key: what the endpoint knows the caller by; default: PYCHUNK_LLM_KEY. No log, error or pickle holds it. Answers
            stay as the endpoint sent them, in the cache too.
        concurrency: calls at the same time.
        retries: further attempts after one that may pass: 429, 408, 409, 425, 500 and more, a connection that hangs or
            breaks, an answer that is no completion. Between them some 0.5 s, 1 s, 2 s ... at random from half to all
            of it, or what ``Retry-After`` says, which holds for all calls.
        connect_timeout, first_byte_timeout, timeout: seconds of an attempt: until the connection stands, until the next
            bytes come, in all.
        temperature, seed: of the endpoint, a number of at least 0 and a whole number; None is not sent.
        output: how answers in JSON are asked for: ``"schema"``, ``"json"`` (mode), ``"text"``; ``"auto"``: the first of
            them that the endpoint takes.
        cache: a file of answers, those of each endpoint apart; True: ``llm.sqlite`` in the user's cache
            (PYCHUNK_CACHE); False: none.
        price: money for a million tokens in and a million out, of a currency of your own.
        max_calls, max_tokens, max_cost: where a run stops, with :class:`LimitReachedError`; calls under way end first.
            Every attempt is a call here, and what the endpoint counted of replies without an answer is spent, too.
        dry_run: calls nothing and counts what it would take: calls that are not cached, each once where there is a
            cache, their tokens in as estimated, their tokens out as bound. Estimates are corrected by what the endpoint
            counted of answers of the same stage that are in the cache.

    Raises:
        ValueError: no URL or model, or a value out of range.
        TypeError: a key or a cache of another type.

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
        self.model = _said(model, "model", "PYCHUNK_LLM_MODEL", "the name of a model, as the endpoint knows it")
        self._secret = Secret(key)
        for name, value, least in (("concurrency", concurrency, 1), ("retries", retries, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 10_000:
                raise ValueError(f"{name} must be a whole number from {least} to 10,000; got {value!r}")
        waits = {"connect_timeout": connect_timeout, "first_byte_timeout": first_byte_timeout, "timeout": timeout}
        for name, seconds in waits.items():
            if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= 86_400:
                raise ValueError(f"{name} must be seconds from 0 to 86,400; got {seconds!r}")
        if output != "auto" and output not in OUTPUTS:
            raise ValueError(f"output must be one of auto, {', '.join(OUTPUTS)}; got {output!r}")
        self.concurrency, self.retries, self.output, self.dry_run = concurrency, retries, output, bool(dry_run)
        self._timeouts = Timeouts(connect_timeout, first_byte_timeout, timeout)
        if temperature is not None and not is_amount(temperature):
            raise ValueError(f"temperature must be a number of at least 0, or None; got {temperature!r}")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
            raise ValueError(f"seed must be a whole number, or None; got {seed!r}")
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
        """What is of this process alone."""
        self._thread = LoopThread()
        self._wire: tuple[asyncio.AbstractEventLoop, Connection, asyncio.Semaphore] | None = None
        self._output = OUTPUTS[0] if self.output == "auto" else self.output
        self._limit_name = "max_tokens"
        self._pause_until = 0.0
        self._answered = self._failed_in_a_row = 0
        self._under_way: dict[bytes, asyncio.Future[Response]] = {}
        self._random = random.Random()
        self._lock = threading.Lock()
        #: By stage, tokens in of answers in the cache, and what they had been estimated at: what corrects a dry run.
        self._counted: dict[str, tuple[int, int]] = {}
        #: What a dry run counted: with a cache, it would be there when it is asked again.
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
        """End connections and thread; the next call opens others."""
        if self._wire is not None and self._thread.began_here:
            self._thread.run(self._wire[1].close())
        self._wire = None
        self._thread.close()
        if self.cache is not None:
            self.cache.close()

    @property
    def facts(self) -> dict[str, Any]:
        """What answers depend on, for the metadata of what was made of them."""
        return {"model": self.model, **self.parameters}

    def ask(self, ask: Request | str, *, system: str = "", **more: Any) -> Response:
        """The answer to one question; as :meth:`ask_many`.

        Args:
            system, more: of a question that is given as text, fields of :class:`Request`: ``schema``, ``max_tokens``
            ...

        Raises:
            TypeError: what is no field, or fields beside an :class:`Request`.
        """
        if isinstance(ask, Request) and (system or more):
            raise TypeError("an Ask has its fields already: pass them to Ask()")
        unknown = sorted(set(more) - {each.name for each in fields(Request)})
        if unknown:
            name = unknown[0]
            raise TypeError(f"a question has no {name}; what else an endpoint takes: parameters={{{name!r}: ...}}")
        return self.ask_many([ask if isinstance(ask, Request) else Request(ask, system, **more)])[0]

    def ask_many(self, asks: Sequence[Request | str]) -> list[Response]:
        """The answers, in order; at most ``concurrency`` calls run at a time, and equal questions are asked once.

        A question that fails after all attempts, or that the endpoint refuses as too long or ill-formed, has a reply
        with an ``error``.

        Raises:
            LLMError: the endpoint is not there, refuses the key, has no such model, or fails whatever it is asked.
            LimitReachedError: a limit is reached; answers up to it are in the cache.
        """
        return [reply for part in self._parts(asks) for reply in self._replies(part)]

    def stream(self, asks: Iterable[Request | str]) -> Iterator[Response]:
        """The same for any number of questions, in memory that does not grow with it."""
        for part in self._parts(asks):
            yield from self._replies(part)

    def _parts(self, asks: Iterable[Request | str]) -> Iterator[list[Request]]:
        if isinstance(asks, (str, Request)):
            raise TypeError("questions must be a list; a single one goes to ask()")
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
        rest: dict[bytes, list[int]] = {}  # equal questions are asked once
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
        """The reply of a dry run, which counts what the call would take, by what others of its stage took."""
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
        """Workers take one question after the other; after an error none is begun, and those under way end."""
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
        """The answer, shared with whoever asks the same at the same time."""
        while (other := self._under_way.get(key)) is not None:
            try:
                reply = await asyncio.shield(other)
            except asyncio.CancelledError:
                if not other.cancelled():
                    raise
                continue  # who asked first was interrupted
            self.account.settle(ask.stage, Counts(cached=1))
            return replace(reply, cached=True)
        future = self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            reply = await self._called(ask, key)
            future.set_result(reply)
            return reply
        except Exception as error:
            future.set_exception(error)
            future.exception()  # seen: nobody may wait for it
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
        """As long as the endpoint has told anyone to wait."""
        while (left := self._pause_until - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def _wait(self, error: AttemptError, attempts: int) -> None:
        if error.after is not None:
            if error.after > _LONGEST_TOLD:
                raise LLMError(f"{self.url} asks to wait {error.after:.0f} s: start the run again then")
            self._pause_until = max(self._pause_until, time.monotonic() + error.after)
            return
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempts - 1))
        await asyncio.sleep(longest * self._random.uniform(0.5, 1.0))

    def _otherwise(self, ask: Request, error: AttemptError, output: str, limit_name: str) -> bool:
        """Whether the endpoint does not take the request as it was put, and takes another form of it from now on."""
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
        """A reply without an answer, where another question may have one; else LLMError."""
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
                remedy = f"{self._failed_in_a_row} calls failed one after the other; start the run again when it works"
        self.account.settle(ask.stage, Counts(failed=1))
        if remedy:
            raise LLMError(f"{self.url}, model {self.model!r}: {error}; {remedy}")
        tried = f" (after {attempts} attempts)" if attempts > 1 else ""
        return Response(error=f"{error}{tried}")


def _stored(text: str | None) -> Response | None:
    """A reply from the cache; None where it is none, as after an upgrade."""
    try:
        found = json.loads(text or "")
        logprobs = found.pop("logprobs")
        return Response(**found, logprobs=None if logprobs is None else tuple(logprobs), cached=True)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def _checked_url(url: str | None) -> str:
    found = _said(url, "url", "PYCHUNK_LLM_URL", "such as http://127.0.0.1:8099/v1").rstrip("/")
    try:
        parts = urlsplit(found)
        good = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
        port_is_one = parts.port is None or parts.port > 0
    except ValueError:
        good = port_is_one = False
    else:
        if parts.username is not None or parts.password is not None:
            raise ValueError("url must hold no user or password: pass the key by key= or PYCHUNK_LLM_KEY")
    if not good or not port_is_one:
        raise ValueError(f"url must be http:// or https://, a host and a path; got {without_secrets(found)!r}")
    return found.removesuffix("/chat/completions")


def _said(value: str | None, name: str, environment: str, what: str) -> str:
    found = os.environ.get(environment, "") if value is None else value
    if not isinstance(found, str) or not found.strip():
        raise ValueError(f"an LLM needs {name}=, or {environment} in the environment: {what}")
    return found.strip()
