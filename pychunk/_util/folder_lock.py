"""One writer of a folder at a time.

The kernel lets go of the lock when the process that took it ends, however it ends. The lock belongs to the open file,
which a forked process has, too: unless told otherwise such a process holds on to the lock when the one that took it has
let go of it, or was killed, and lets go of it when it unlocks what it never locked.
"""

from __future__ import annotations

import fcntl
import os
import threading
import weakref
from pathlib import Path
from typing import BinaryIO


class FolderLock:
    """Held from :meth:`take` to :meth:`release` by this process alone, not by those forked from it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    @property
    def held(self) -> bool:
        return self._file is not None

    def take(self) -> bool:
        """Whether the lock is this process's now; False where another process, or another lock here, has it."""
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
        """Lets go of the lock, if it is held: also where a process is between its fork and its exec, file in hand."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


_all: weakref.WeakSet[FolderLock] = weakref.WeakSet()
#: No process is forked between the opening of a file and its being noted.
_forks = threading.RLock()


def _forked() -> None:
    """Closing leaves the lock to the process that has it; unlocking would not."""
    _forks.release()
    for lock in list(_all):
        lock._close()


os.register_at_fork(before=_forks.acquire, after_in_parent=_forks.release, after_in_child=_forked)
