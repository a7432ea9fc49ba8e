"""The wait of a fork for imports of other threads, whose locks the child would never get."""

from __future__ import annotations

import logging  # noqa: F401  # hooks registered later run first: logging's would hold a lock that imports need
import os
import sys
import threading
import time
from types import FrameType

#: The most seconds that a fork waits, as a last resort: ten times what the largest library takes.
_LONGEST = 60.0
_PACKAGE = __name__.partition(".")[0]
#: The packages whose imports a fork waits for. Arrow imports NumPy's masks and pandas at its first array, whichever
#: thread makes it.
_SHARED = ("numpy", "pandas", "pyarrow", _PACKAGE)


def _imports(frame: FrameType | None) -> bool:
    """Return whether a thread imports a module of pychunk, one of Arrow's, or any while pychunk's code waits for it."""
    is_import = False
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            is_import = True
            if frame.f_code.co_name == "_find_and_load" and _root(frame.f_locals.get("name")) in _SHARED:
                return True
        elif is_import and _root(frame.f_globals.get("__name__")) == _PACKAGE:
            return True
        frame = frame.f_back
    return False


def _root(name: object) -> str:
    return str(name).partition(".")[0]


def _before_fork() -> None:
    """Wait until no other thread imports what a child needs, as the child would never get the module's lock.

    Modules are imported when they are needed. Without this wait, 24 of 720 children hung that were forked in the first
    0.7 s of 16 threads.
    """
    until, own = time.monotonic() + _LONGEST, threading.get_ident()
    while any(_imports(frame) for thread, frame in sys._current_frames().items() if thread != own):
        if time.monotonic() > until:  # The import may wait for this thread.
            return
        time.sleep(0.001)


os.register_at_fork(before=_before_fork)
