"""A part's last steps on a thread of its own: postings inverted, files flushed, while the next chunks are made."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from concurrent.futures import Future

from .index_folder import checksum
from .part import PartWriter

#: [size, CRC-32] of each file.
Files = dict[str, list[int]]


def finished(writer: PartWriter) -> Files:
    """Everything on disk, safe from a loss of power; what the manifest says of its files."""
    writer.finish()
    return {name: checksum(writer.folder / name) for name in writer.layout.files()}


class PartCompletion:
    """A part that nothing is appended to any more, until :meth:`result` says that it is on the disk.

    Attributes:
        writer: what it was written by.
    """

    def __init__(self, writer: PartWriter) -> None:
        self.writer = writer
        self._outcome: Future[Files] = Future()
        self._failed = False
        _running.add(self)
        try:
            threading.Thread(target=self._work).start()
        except RuntimeError:  # the system starts no more threads
            self._work()

    def _work(self) -> None:
        try:
            self._outcome.set_result(finished(self.writer))
        except BaseException as error:
            self._outcome.set_exception(error)

    def result(self) -> Files:
        """:func:`finished` of the writer, waited for; after an error, another call tries again."""
        if self._failed:
            return finished(self.writer)
        try:
            return self._outcome.result()
        except BaseException:  # Ctrl-C, if it is not done
            self._failed = self._outcome.done()
            raise

    def wait(self) -> None:
        """Returns when nothing is written any more, whatever came of it."""
        with contextlib.suppress(BaseException):
            self._outcome.exception()


#: Those that a child would wait for in vain, as it has the forking thread alone.
_running: weakref.WeakSet[PartCompletion] = weakref.WeakSet()


def _before_fork() -> None:
    for each in list(_running):
        each.wait()


os.register_at_fork(before=_before_fork)
