"""A hook that delays each fork until other threads have finished their imports.

A child that is forked during an import inherits the lock of the module, and would wait for it for ever.
"""

from __future__ import annotations

import logging  # noqa: F401  # hooks registered later run first: logging's would hold a lock that imports need
import os
import sys
import threading
import time
from types import FrameType

#: The most seconds that a fork waits: ten times as long as the import of the largest library takes.
_LONGEST = 60.0
_PACKAGE = __name__.partition(".")[0]
#: The packages for whose imports a fork waits. NumPy and pandas are among them because Arrow imports ``numpy.ma`` and
#: pandas when any thread makes the first array.
_SHARED = ("numpy", "pandas", "pyarrow", _PACKAGE)


def _imports(frame: FrameType | None) -> bool:
    """Return whether a thread, given its top frame, is importing something for which a fork must wait.

    This is a module of the packages in ``_SHARED``, or any module that pychunk's own code imports.
    """
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


def _wait_for_imports(until: float) -> None:
    """Wait until no other thread is importing a module that a child may need, or until a time of the clock.

    Pychunk imports many modules only when they are needed, so such imports also happen in threads. Without this wait,
    24 of 720 children hung that were forked while 16 threads ran for their first 0.7 s.
    """
    own = threading.get_ident()
    while any(_imports(frame) for thread, frame in sys._current_frames().items() if thread != own):
        if time.monotonic() > until:  # The import may itself be waiting for this thread.
            return
        time.sleep(0.001)


def _before_fork() -> None:
    """Wait until no other thread holds a lock that a child may need."""
    until = time.monotonic() + _LONGEST
    _wait_for_imports(until)
    # Arrow holds a lock of its own while it imports pandas for its first array, and for some statements after that. An
    # array waits for this lock. Without it, the child of 1 in 36 forks during that import hung on a busy machine.
    if "pandas" in sys.modules and (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.array([""])
        # The thread that held the lock goes on first, often with an import: 17 of 40 children hung without this.
        _wait_for_imports(until)


os.register_at_fork(before=_before_fork)
