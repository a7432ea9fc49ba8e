"""The completion of a part in a thread of its own.

The thread inverts postings and flushes files, while the caller already makes the next chunks.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from concurrent.futures import Future

from .index_folder import checksum
from .part import PartWriter

#: The [size, CRC-32] of each file.
Files = dict[str, list[int]]


def finished(writer: PartWriter) -> Files:
    """Write everything to the disk, safe from a loss of power, and return the size and CRC-32 of each file."""
    writer.finish()
    return {name: checksum(writer.folder / name) for name in writer.layout.files()}


class PartCompletion:
    """The completion of a part to which nothing is appended any more. :meth:`result` waits until it is on the disk.

    Attributes:
        writer: The writer of the part.
    """

    def __init__(self, writer: PartWriter) -> None:
        self.writer = writer
        self._outcome: Future[Files] = Future()
        self._failed = False
        _running.add(self)
        try:
            threading.Thread(target=self._work).start()
        except RuntimeError:  # The system cannot start another thread.
            self._work()

    def _work(self) -> None:
        try:
            self._outcome.set_result(finished(self.writer))
        except BaseException as error:
            self._outcome.set_exception(error)

    def result(self) -> Files:
        """Wait until the part is on the disk, and return the result of :func:`finished`.

        After an error, another call tries again.
        """
        if self._failed:
            return finished(self.writer)
        try:
            return self._outcome.result()
        except BaseException:  # Ctrl-C may arrive before it is done.
            self._failed = self._outcome.done()
            raise

    def wait(self) -> None:
        """Wait until the thread has ended, whether or not it succeeded."""
        with contextlib.suppress(BaseException):
            self._outcome.exception()


#: The completions that are waited for before a fork. A forked child has only one thread, so they would never end there.
_running: weakref.WeakSet[PartCompletion] = weakref.WeakSet()


def _before_fork() -> None:
    for each in list(_running):
        each.wait()


os.register_at_fork(before=_before_fork)
