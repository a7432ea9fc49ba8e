"""A lock that allows one writer of a folder at a time.

The kernel releases the lock when the process that took it ends, however it ends. But the lock belongs to the open file,
which a forked process inherits. Without precautions, a forked process would keep the lock after the process that took
the lock is killed. It could also release the lock, although it never took it.
"""

from __future__ import annotations

import fcntl
import os
import threading
import weakref
from pathlib import Path
from typing import BinaryIO


class FolderLock:
    """A lock that this process has from :meth:`take` to :meth:`release`. Processes forked from it do not share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    @property
    def held(self) -> bool:
        return self._file is not None

    def take(self) -> bool:
        """Take the lock and return whether this succeeded.

        It fails if another process has the lock, or another ``FolderLock`` of this process.
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
        """Release the lock if this process has it, even while a forked process still has the file open."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


_all: weakref.WeakSet[FolderLock] = weakref.WeakSet()
#: A lock that is taken while a file is opened and recorded, so that no process is forked between the two.
_forks = threading.RLock()


def _forked() -> None:
    """Close the files in a forked process.

    Closing leaves the lock to the process that took it, whereas unlocking the file would release it.
    """
    _forks.release()
    for lock in list(_all):
        lock._close()


os.register_at_fork(before=_forks.acquire, after_in_parent=_forks.release, after_in_child=_forked)
