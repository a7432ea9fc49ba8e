"""A pool of processes that clean pages. It replaces processes that die, and reports a page that kills two of them."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any

from .document_batches import DeadLetter, Document
from .wiki import mediawiki
from .wiki.mediawiki import PageFilter, RawPage

#: The result of cleaning pages: documents, and dead letters about broken pages.
Rendered = tuple[list[Document], list[DeadLetter]]


class Task:
    """A task of the pool: pages that are being cleaned."""

    def __init__(self, pages: Sequence[RawPage], future: Future[Rendered]) -> None:
        self.pages, self.future, self.deaths = pages, future, 0


class Workers:
    """A pool of processes that clean pages as ``mediawiki.rendered`` does, with results in the order of the tasks.

    A process that is killed, for example for lack of memory, breaks the whole pool. A new pool then starts again with
    all tasks that are not finished. If this happens twice before a task is finished, the task gets its own process. It
    gets the pages one by one, so that the page at fault is known.
    """

    def __init__(self, count: int, wanted: PageFilter) -> None:
        self._count, self._work = count, partial(mediawiki.rendered, wanted=wanted)
        self._waiting: deque[Task] = deque()
        self._pool = _pool(count)

    def submit(self, pages: Sequence[RawPage]) -> Task:
        """Submit pages to be cleaned."""
        task = Task(pages, self._started(pages))
        self._waiting.append(task)
        return task

    def result(self, task: Task) -> Rendered:
        """Return the result of ``task``, which must be the first task whose result was not yet returned.

        Raises:
            OSError: Processes end as soon as they start, even without a page.
        """
        while True:
            if task.deaths >= 2:
                found = self._alone(task.pages)
                for other in self._waiting:
                    other.deaths = 0
                break
            try:
                found = _finished(task.future, self._pool)
                break
            except BrokenProcessPool:
                self._restart()
        self._waiting.remove(task)
        return found

    def close(self) -> None:
        """End the processes and cancel the tasks that they have not begun."""
        self._pool.shutdown(cancel_futures=True)

    def _started(self, pages: Sequence[RawPage]) -> Future[Rendered]:
        try:
            return self._pool.submit(self._work, pages)
        except BrokenProcessPool as error:  # the error is raised when the result is requested
            failed: Future[Rendered] = Future()
            failed.set_exception(error)
            return failed

    def _restart(self) -> None:
        self._pool.shutdown()
        self._pool = _pool(self._count)
        for task in self._waiting:
            if not task.future.done() or task.future.exception() is not None:
                task.deaths += 1
                task.future = self._started(task.pages)

    def _alone(self, pages: Sequence[RawPage]) -> Rendered:
        """Return the cleaned pages from a separate process, which gets one page after the other.

        A page at which it dies is tried once more, by the next process.
        """
        documents, letters, deaths = [], [], 0
        at = 0
        while at < len(pages):
            with _pool(1) as pool:
                try:
                    _finished(pool.submit(self._work, ()), pool)
                except BrokenProcessPool:
                    raise OSError(
                        "the processes that clean pages end as soon as they start: write "
                        'if __name__ == "__main__": in your script, or use workers=1, which starts none'
                    ) from None
                try:
                    while at < len(pages):
                        found = _finished(pool.submit(self._work, pages[at : at + 1]), pool)
                        documents += found[0]
                        letters += found[1]
                        at, deaths = at + 1, 0
                except BrokenProcessPool:
                    deaths += 1
            if deaths == 2:
                reason = "the process that cleaned the page was killed, twice: out of memory?"
                letters.append(mediawiki.lost(pages[at], reason))
                at, deaths = at + 1, 0
        return documents, letters


def _pool(count: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=follow_parent)


def _finished(future: Future[Rendered], pool: ProcessPoolExecutor) -> Rendered:
    """Return the result of a future.

    A process that is killed while it writes a result leaves a part of the result in the pipe that all processes share.
    The pool then waits for the rest for ever. That happened in 3 of 24 runs in which both processes were killed, three
    times each. If two checks, a second apart, find a dead process, this function therefore ends all writers. The end of
    the pipe then shows the pool that it is broken.
    """
    deaths = 0
    while not wait([future], timeout=1).done:
        processes = list((pool._processes or {}).values())
        deaths += any(process.exitcode is not None for process in processes)
        if deaths == 2:
            for process in processes:
                process.kill()
            results: Any = pool._result_queue
            results._writer.close()
    return future.result()


def follow_parent() -> None:
    """Ignore Ctrl-C, which the parent process handles, and exit as soon as the parent is gone.

    Each worker calls this first.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait, args=(parent,), daemon=True, name="pychunk-parent").start()


def _wait(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
