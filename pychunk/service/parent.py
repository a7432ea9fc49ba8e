"""The end of a process of the service after its parent process was killed."""

from __future__ import annotations

import os
import signal
import threading
import time


def follow(parent: int, seconds: float) -> None:
    """Begin to watch the parent process, in a thread. After its end this process gets SIGTERM.

    A killed parent cannot end its processes itself. They would go on and keep the port. The thread compares ids, as
    this works on every system, with processes that are forked and with others: a forked process inherits the pipes of
    those before it, and does not see their end.

    Args:
        parent: The id of the process that started this one.
        seconds: The most seconds from SIGTERM to the end, after which the process is ended at once.
    """
    threading.Thread(target=_watch, args=(parent, seconds), daemon=True, name="pychunk-parent").start()


def _watch(parent: int, seconds: float) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(seconds)
    os._exit(1)
