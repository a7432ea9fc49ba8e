"""Batches of requests: the engine takes together what arrived while its last batch ran.

No request waits for others to come. A batch holds requests with equal options only, and a document's chunks do not
depend on its batch, so an answer is the same as for the request alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from .._engine import native
from .request_error import RequestError

#: The most bytes of text in a batch of several requests: 20 ms of the default method on one core.
BATCH_BYTES = 1 << 20


class CancelledError(Exception):
    """The client of a request is gone, or its time is over."""


@dataclass
class Batch:
    """Jobs that run together, and what ends the engine's call for them."""

    jobs: list[Job]
    stop: native.Cancellation = field(default_factory=native.Cancellation)


@dataclass
class Job:
    """A request for the engine.

    Attributes:
        key: A value that is equal for requests that one batch may hold; an object of its own for one that runs alone.
        work: The documents.
        size: The bytes of its text.
        cancelled: True if nobody waits for the result any more.
        batch: The batch that runs it.
    """

    key: Any
    work: Any
    size: int
    cancelled: bool = False
    batch: Batch | None = None
    done: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Merger:
    """The two threads of a worker in which the engine runs: one for merged requests, one for long ones.

    A long request therefore delays short ones no more than by its share of the processor.

    Args:
        run: A function that takes the jobs of a batch and returns a result, or an exception, for each.
        limit: The most jobs that wait.
        ran: A function that takes the number of jobs of each batch that ran.
    """

    def __init__(self, run: Callable[[list[Job]], list[Any]], limit: int, ran: Callable[[int], None]) -> None:
        self._run = run
        self._ran = ran
        self._limit = limit
        self._lanes: dict[bool, SimpleQueue[Any]] = {True: SimpleQueue(), False: SimpleQueue()}
        self._threads = [threading.Thread(target=self._work, args=(short,), daemon=True) for short in self._lanes]
        for thread in self._threads:
            thread.start()
        self._busy = {True: False, False: False}
        self._waiting: dict[bool, dict[Any, list[Job]]] = {True: {}, False: {}}
        self.waiting = 0

    async def result(self, job: Job) -> Any:
        """Return the result of a job, or raise its exception.

        Raises:
            RequestError: Too many jobs wait.
        """
        if self.waiting >= self._limit:
            raise RequestError(429, f"{self.waiting} requests wait already; send it again in a second", Retry_After="1")
        short = job.size < BATCH_BYTES
        self._waiting[short].setdefault(job.key if short else object(), []).append(job)
        self.waiting += 1
        if not self._busy[short]:
            self._start(short)
        try:
            return await job.done
        finally:
            job.cancelled = True
            if job.batch is not None and all(each.cancelled for each in job.batch.jobs):
                job.batch.stop.cancel()
            del job  # The traceback of its exception holds this frame.

    def _start(self, short: bool) -> None:
        """Give the jobs that have waited longest, and all with the same key, to the lane's thread."""
        while self._waiting[short]:
            key = next(iter(self._waiting[short]))
            jobs = self._waiting[short].pop(key)
            batch, size = Batch([]), 0
            while jobs and (not batch.jobs or size + jobs[0].size <= BATCH_BYTES):
                job = jobs.pop(0)
                self.waiting -= 1
                if job.cancelled:
                    if not job.done.done():
                        job.done.set_exception(CancelledError())
                    continue
                job.batch = batch
                batch.jobs.append(job)
                size += job.size
            if jobs:  # after the jobs of other keys, so that none waits for ever
                self._waiting[short][key] = jobs
            if batch.jobs:
                self._busy[short] = True
                self._lanes[short].put((batch, asyncio.get_running_loop()))
                return
        self._busy[short] = False

    def _work(self, short: bool) -> None:
        """Run the batches of a lane, in its thread. An executor would take 50 us more for each."""
        while (found := self._lanes[short].get()) is not None:
            batch, loop = found
            results = self._results(batch)
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._finish, short, batch, results)

    def _results(self, batch: Batch) -> list[Any]:
        """Return the result of each job, or its exception."""
        try:
            with batch.stop:
                return self._run(batch.jobs)
        except KeyboardInterrupt:  # nobody waits for any of them
            return [CancelledError()] * len(batch.jobs)
        except Exception as error:
            return [error] * len(batch.jobs)

    def _finish(self, short: bool, batch: Batch, results: list[Any]) -> None:
        self._ran(len(batch.jobs))
        for job, result in zip(batch.jobs, results, strict=True):
            if job.done.done():
                continue
            if isinstance(result, BaseException):
                job.done.set_exception(result)
            else:
                job.done.set_result(result)
        # A batch and its jobs hold each other. The garbage collector, which counts objects and not bytes, would leave
        # their text in memory for hours.
        batch.jobs.clear()
        self._start(short)

    def close(self) -> None:
        """End the threads after their batches."""
        for lane in self._lanes.values():
            lane.put(None)
        for thread in self._threads:
            thread.join()
