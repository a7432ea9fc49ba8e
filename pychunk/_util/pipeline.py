"""A bounded pipeline with one thread for each stage, so that reading, computing on a device and writing overlap."""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

Stage = Callable[[Any], Any]

#: The most items that wait between two stages.
DEPTH = 2
_END = object()


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


class Pipeline:
    """An iterator over ``stages[-1](...stages[0](item))`` of every item, in order, with all stages running at once.

    At most ``depth`` items wait between two stages, so memory is bounded even if the last stage is slow. If a stage or
    the iteration over the items raises an exception, the results before it are returned first. Then the exception is
    raised here, and the other threads end. :attr:`busy` holds the seconds that reading the items took, followed by the
    seconds that each stage worked.

    Example:
        >>> list(Pipeline([1, 2, 3], [lambda x: x + 1, str]))
        ['2', '3', '4']
    """

    def __init__(self, items: Iterable[Any], stages: Sequence[Stage], depth: int = DEPTH) -> None:
        self._items, self._stages, self._depth = items, stages, depth
        self.busy = [0.0] * (len(stages) + 1)

    def __iter__(self) -> Iterator[Any]:
        stop = threading.Event()
        lines: list[queue.Queue[Any]] = [queue.Queue(self._depth) for _ in range(len(self._stages) + 1)]
        # Each thread has a copy of the caller's context variables, so that spans of a trace know their parent.
        run = [contextvars.copy_context().run for _ in range(len(self._stages) + 1)]
        feed = (self._feed, lines[0], stop)
        threads = [threading.Thread(target=run[0], args=feed, daemon=True, name="pychunk-items")]
        for number, stage in enumerate(self._stages):
            arguments = (self._work, stage, number + 1, lines[number], lines[number + 1], stop)
            threads.append(
                threading.Thread(target=run[number + 1], args=arguments, daemon=True, name=f"pychunk-stage-{number}")
            )
        try:
            for thread in threads:  # Ctrl-C may come between two of them, and must end those that run.
                thread.start()
            while True:
                found = lines[-1].get()
                if found is _END:
                    return
                if isinstance(found, _Failure):
                    raise found.error
                yield found
        finally:
            stop.set()
            for thread in threads:
                if thread.is_alive():  # A thread that starts later finds ``stop`` set, and does nothing.
                    thread.join()

    def _feed(self, out: queue.Queue[Any], stop: threading.Event) -> None:
        if stop.is_set():
            return
        try:
            begun = time.perf_counter()
            for item in self._items:
                self.busy[0] += time.perf_counter() - begun
                if not _put(out, item, stop):
                    return
                begun = time.perf_counter()
            _put(out, _END, stop)
        except BaseException as error:
            _put(out, _Failure(error), stop)

    def _work(
        self, stage: Stage, number: int, line: queue.Queue[Any], out: queue.Queue[Any], stop: threading.Event
    ) -> None:
        while True:
            item = _get(line, stop)
            if item is _END or isinstance(item, _Failure):
                _put(out, item, stop)
                return
            begun = time.perf_counter()
            try:
                done = stage(item)
            except BaseException as error:
                _put(out, _Failure(error), stop)
                return
            finally:
                self.busy[number] += time.perf_counter() - begun
            if not _put(out, done, stop):
                return


def _put(line: queue.Queue[Any], item: Any, stop: threading.Event) -> bool:
    """Put an item into a queue, and return whether there was room for it before the pipeline stopped."""
    while not stop.is_set():
        try:
            line.put(item, timeout=0.1)
        except queue.Full:
            continue
        return True
    return False


def _get(line: queue.Queue[Any], stop: threading.Event) -> Any:
    while not stop.is_set():
        try:
            return line.get(timeout=0.1)
        except queue.Empty:
            continue
    return _END
