"""An event loop in a thread of its own: asynchronous work for callers that are not, or that run in another loop."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Starts when it is first needed, and again in a forked process; ends when it is closed or nobody holds it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0
        self._end: weakref.finalize[[asyncio.AbstractEventLoop, threading.Thread], LoopThread] | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns or raises; if the caller is interrupted it is cancelled, and has ended."""
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
                ended.wait(10)  # closing a connection waits for nobody; ten seconds are for a machine that swaps
            raise

    @property
    def began_here(self) -> bool:
        """Whether the loop runs, and in this process."""
        return self._loop is not None and self._pid == os.getpid()

    def close(self) -> None:
        """End the thread; the next :meth:`run` starts another."""
        with self._lock:
            if self._end is not None and self.began_here:
                self._end()
            self._loop = self._end = None

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or not self.began_here:
                if self._end is not None:
                    self._end.detach()  # the parent's loop: its thread is not in this process
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
