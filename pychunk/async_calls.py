"""Calls from an event loop: threads run them, a bounded number at a time, and a cancelled task ends its call."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import weakref
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator
from typing import Any, TypeVar

from ._engine import native

T = TypeVar("T")

#: The most results of a stream that are computed before the caller asks for them: one is cut while the next is read.
AHEAD = 2
_END: Any = object()
#: The places for calls of each event loop. The loop's threads are its default executor, which ``asyncio.run`` ends, so
#: no thread stays. It has at least four threads more than there are places, for the other work of the program.
_places: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()


async def in_thread(work: Callable[[], T]) -> T:
    """Return ``work()``, computed in a thread of the running loop's default executor.

    At most as many calls run at a time as :func:`pychunk._engine.native.default_threads` says; the others wait without
    a thread. If the task is cancelled, it ends at once. The native call in the thread ends about 0.1 s later, and only
    then another one takes its place. Code in Python goes on to its next native call.

    Example:
        >>> asyncio.run(in_thread(lambda: 1 + 1))
        2
    """
    loop = asyncio.get_running_loop()
    places = _places.get(loop)
    if places is None:
        places = _places[loop] = asyncio.Semaphore(max(2, native.default_threads()))
    stop, context, cancelled = native.Cancellation(), contextvars.copy_context(), False

    def run() -> Any:
        try:
            if cancelled:
                return None
            with stop:
                return context.run(work)
        except KeyboardInterrupt:  # Only the cancellation raises it in this thread, and then nobody reads the result.
            if cancelled:
                return None
            raise

    await places.acquire()
    try:
        future = loop.run_in_executor(None, run)
    except BaseException:
        places.release()
        raise
    future.add_done_callback(lambda _: places.release())
    try:
        found: T = await asyncio.shield(future)
        return found
    except asyncio.CancelledError:
        cancelled = True
        stop.cancel()
        raise


async def streamed(
    batches: Iterable[Any] | AsyncIterable[Any], begin: Callable[[Any], Callable[[], T]]
) -> AsyncGenerator[T, None]:
    """Yield ``begin(batch)()`` of each batch in order, with at most ``AHEAD`` batches read and not yet yielded.

    Threads run both calls, one batch after the other for ``begin``. If ``batches`` is no asynchronous iterable, threads
    iterate over it. After an error or at the end of the iteration, the other calls are cancelled.
    """
    cutting: asyncio.Queue[asyncio.Task[T] | None] = asyncio.Queue()
    begun: list[asyncio.Task[T]] = []
    room = asyncio.Semaphore(AHEAD)

    async def feed() -> None:
        try:
            async with contextlib.aclosing(_begun(batches, begin, room)) as source:
                async for work in source:
                    begun.append(asyncio.ensure_future(in_thread(work)))
                    cutting.put_nowait(begun[-1])
        finally:
            cutting.put_nowait(None)

    feeder = asyncio.ensure_future(feed())
    try:
        while (task := await cutting.get()) is not None:
            out = await task
            begun.remove(task)
            room.release()
            yield out
        await feeder
    finally:
        for each in (feeder, *begun):
            each.cancel()
        await asyncio.gather(feeder, *begun, return_exceptions=True)


async def _begun(
    batches: Iterable[Any] | AsyncIterable[Any], begin: Callable[[Any], Callable[[], T]], room: asyncio.Semaphore
) -> AsyncGenerator[Callable[[], T], None]:
    """Yield ``begin(batch)`` of each batch, each once there is room for it."""
    if isinstance(batches, AsyncIterable):
        found = aiter(batches)
        try:
            while await room.acquire() and (batch := await anext(found, _END)) is not _END:
                yield await in_thread(functools.partial(begin, batch))
        finally:
            if isinstance(found, AsyncGenerator):
                await found.aclose()
        return
    items = iter(batches)
    while await room.acquire() and (work := await in_thread(functools.partial(_first_of, items, begin))) is not _END:
        yield work


def _first_of(items: Iterator[Any], begin: Callable[[Any], Callable[[], T]]) -> Callable[[], T]:
    batch = next(items, _END)
    return _END if batch is _END else begin(batch)
