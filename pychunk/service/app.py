"""The application of the service: routes, limits, keys, and errors as answers."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
import traceback
import uuid
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from .. import __version__
from . import endpoints
from .answer_size import TIMES
from .counters import ROUTES, Counters
from .http import Answer, Request
from .merger import CancelledError, Merger
from .openapi import description
from .request_error import RequestError
from .segmentation import run
from .settings import Settings

if TYPE_CHECKING:
    from ..index.rerank.rerankers import Reranker

logger = logging.getLogger("pychunk.service")

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
LOADING = "the models are loading"


class Service:
    """The state of a worker: its settings, the engine's lanes, the indexes, and the counters.

    Args:
        settings: The settings.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.counters = Counters(settings.counters)
        self.merger = Merger(self._run, settings.queue, self._ran)
        self.indexes: dict[str, Any] = {}
        self.reranker: Reranker | None = None
        #: The most bytes of an answer.
        self.most_bytes = TIMES * settings.max_bytes
        #: The reason why the worker is not ready, or None.
        self.unready: str | None = LOADING

    def _run(self, jobs: list[Any]) -> list[Any]:
        return run(jobs, self.settings.threads, self.most_bytes)

    def _ran(self, requests: int) -> None:
        self.counters.add("batches", 1)
        self.counters.add("batched_requests", requests)

    def load(self) -> None:
        """Load the models and indexes, and segment a document, so that the first request is as fast as others."""
        from ..index.index import Index
        from ..tokenizers.sources import tokenizer_of
        from .options import segmenter_of

        for encoder in self.settings.encoders:
            options = {} if encoder == "static" else {"encoder": encoder}
            segmenter_of(msgspec.json.encode(options), self.settings.threads)("Cats purr. Dogs bark.").to_list()
        for tokenizer in self.settings.tokenizers:
            tokenizer_of(tokenizer)
        if self.settings.reranker is not None:
            from ..index.rerank.rerankers import load

            self.reranker = load(self.settings.reranker)
        for name, path in self.settings.indexes.items():
            self.indexes[name] = Index.open(path)

    def start(self) -> None:
        """Load the models, and then take requests."""
        try:
            self.load()
            self.unready = None
        except Exception as error:
            self.unready = f"{type(error).__name__}: {error}"
            logger.error("the service cannot serve: %s", self.unready)


Handler = Callable[[Service, Request], Awaitable[Answer]]


class Application:
    """The RSGI application of a worker.

    Args:
        settings: The settings. Default: those in the environment, which ``pychunk serve`` writes there.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.service = Service(settings or Settings.of_environment())

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Load the models in a thread, so that ``/health`` and ``/ready`` are answered from the start."""
        threading.Thread(target=self.service.start, name="pychunk-models", daemon=True).start()

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the threads of the engine after their batches."""
        self.service.merger.close()

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Answer a request."""
        began = time.perf_counter()
        request = Request(scope, protocol)
        said = request.headers.get("x-request-id", "")
        own = said if _ID.fullmatch(said) else uuid.uuid4().hex
        answer, route = await self._answer(request, own)
        try:
            answer.send(protocol, own)
        finally:
            seconds = time.perf_counter() - began
            self.service.counters.request(route, answer.status, seconds)
            logger.info("%s %s %d %.1f ms %s", request.method, request.path, answer.status, 1000 * seconds, own)

    async def _answer(self, request: Request, own: str) -> tuple[Answer, str]:
        """Return the answer, which may be an error, and the name of the route for the counters."""
        service, route = self.service, "other"
        try:
            handlers = PATHS.get(request.path, {})
            handler = handlers.get("GET" if request.method == "HEAD" else request.method)
            if handler is None:
                message = f"{request.method} {request.path} is no route of this service; /openapi.json lists them"
                allowed = {"Allow": ", ".join(handlers)} if handlers else {}
                raise RequestError(405 if handlers else 404, message, **allowed)
            if request.path in OPEN:
                return await handler(service, request), route
            if not service.settings.accepts(request.headers.get("authorization")):
                challenge = {"WWW_Authenticate": "Bearer"}
                raise RequestError(401, "this service needs the header Authorization: Bearer KEY", **challenge)
            route = request.path.split("/")[2] if request.path.count("/") > 1 else route
            if route in ROUTES:
                return await _in_time(_once_ready(handler, service, request), service.settings.timeout), route
            return await handler(service, request), route
        except RequestError as error:
            return _failed(error, own), route
        except CancelledError:
            return Answer(b"", status=499), route
        except Exception as error:
            # The message is left out, because it may quote the document.
            frames = traceback.extract_tb(error.__traceback__)[::-1]
            places = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in frames)
            logger.error("request %s failed: %s at %s", own, type(error).__name__, places)
            message = "an error of the service, which its log has with the request's id"
            return _failed(RequestError(500, message), own), route


async def _once_ready(handler: Handler, service: Service, request: Request) -> Answer:
    """Return the handler's answer, after the models have been loaded. Another worker may have been ready before.

    Raises:
        RequestError: The models cannot be loaded.
    """
    while service.unready == LOADING:
        await asyncio.sleep(0.01)
    if service.unready:
        raise RequestError(503, f"not ready: {service.unready}", Retry_After="1")
    return await handler(service, request)


async def _in_time(handler: Awaitable[Answer], seconds: float) -> Answer:
    """Return the handler's answer. ``asyncio.wait_for`` does the same in a task of its own, which takes 50 us.

    Raises:
        RequestError: It took longer than ``seconds``.
    """
    task, over = asyncio.current_task(), False
    assert task is not None

    def end() -> None:
        nonlocal over
        over = True
        task.cancel()

    timer = asyncio.get_running_loop().call_later(seconds, end)
    try:
        return await handler
    except asyncio.CancelledError:
        if not over:
            raise
        if hasattr(task, "uncancel"):  # since Python 3.11
            task.uncancel()
        raise RequestError(504, f"the request took over {seconds:g} s: send fewer documents") from None
    finally:
        timer.cancel()


def _failed(error: RequestError, request: str) -> Answer:
    return Answer(msgspec.json.encode(error.body(request)), status=error.status, headers=error.headers)


async def _health(_: Service, request: Request) -> Answer:
    return Answer(b'{"status":"ok"}')


async def _ready(service: Service, _: Request) -> Answer:
    if service.unready:
        return Answer(msgspec.json.encode({"status": "unready", "reason": service.unready}), status=503)
    return Answer(b'{"status":"ready"}')


async def _version(_: Service, request: Request) -> Answer:
    return Answer(msgspec.json.encode({"version": __version__}))


async def _metrics(service: Service, _: Request) -> Answer:
    return Answer(service.counters.text().encode(), "text/plain; version=0.0.4")


async def _openapi(_: Service, request: Request) -> Answer:
    return Answer(msgspec.json.encode(description()))


#: The paths that need no key.
OPEN = ("/", "/health", "/ready", "/version", "/openapi.json")
#: The function of each method of each path. chonkie's client asks at / whether the service is up.
PATHS: dict[str, dict[str, Handler]] = {
    "/": {"GET": _health},
    "/health": {"GET": _health},
    "/ready": {"GET": _ready},
    "/version": {"GET": _version},
    "/metrics": {"GET": _metrics},
    "/openapi.json": {"GET": _openapi},
    **{path: {"POST": handler} for path, handler in endpoints.PATHS.items()},
}
