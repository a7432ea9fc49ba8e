"""An event loop in a thread of its own, for callers that are synchronous or run in another loop."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """A thread with an event loop, which starts at first use and again after a fork.

    It ends when it is closed or garbage-collected.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0
        self._end: weakref.finalize[[asyncio.AbstractEventLoop, threading.Thread], LoopThread] | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine, and return its result or raise its error. An interrupt of the caller cancels it.

        After an interrupt, the method waits at most 10 s until the coroutine has ended.
        """
        ended = threading.Event()

        async def watched() -> T:
            try:
                return await work
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(watched(), self._started())
        try:
            return future.result()
        except BaseException:
            if future.cancel():
                ended.wait(10)  # closing a connection takes no time; 10 s are for a machine that swaps
            raise

    @property
    def began_here(self) -> bool:
        """True if the loop runs in this process."""
        return self._loop is not None and self._pid == os.getpid()

    def close(self) -> None:
        """End the thread; the next :meth:`run` starts a new one."""
        with self._lock:
            if self._end is not None and self.began_here:
                self._end()
            self._loop = self._end = None

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or not self.began_here:
                if self._end is not None:
                    self._end.detach()  # it belongs to the parent's loop, whose thread is not in this process
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=loop.run_forever, name="pychunk-llm", daemon=True)
                thread.start()
                self._loop, self._pid = loop, os.getpid()
                self._end = weakref.finalize(self, _end, loop, thread)
            return self._loop


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    if thread is not threading.current_thread():
        thread.join(5)
    if not loop.is_running():
        loop.close()
