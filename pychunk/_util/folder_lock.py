"""A lock that allows one writer of a folder at a time.

The kernel releases the lock when the process that took it ends, however it ends. The lock belongs to the open file, and
a forked process has this file, too. Without precautions such a process keeps the lock after the process that took it
releases it or is killed. It would also release the lock by unlocking a file that it never locked.
"""

from __future__ import annotations

import fcntl
import os
import threading
import weakref
from pathlib import Path
from typing import BinaryIO


class FolderLock:
    """A lock held from :meth:`take` to :meth:`release` by this process alone, not by processes forked from it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    @property
    def held(self) -> bool:
        return self._file is not None

    def take(self) -> bool:
        """Take the lock and return whether this succeeded.

        It fails if another process, or another lock in this one, holds it.
        """
        with _forks:
            self._file = self.path.open("ab")
            _all.add(self)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._close()
            return False
        except BaseException:
            self._close()
            raise
        return True

    def release(self) -> None:
        """Release the lock if it is held, even if a forked process still has the file before its exec."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


_all: weakref.WeakSet[FolderLock] = weakref.WeakSet()
#: No process is forked between opening a file and recording it.
_forks = threading.RLock()


def _forked() -> None:
    """Close the files in a forked process, which leaves the lock to the process that holds it.

    Unlocking would release it.
    """
    _forks.release()
    for lock in list(_all):
        lock._close()


os.register_at_fork(before=_forks.acquire, after_in_parent=_forks.release, after_in_child=_forked)
