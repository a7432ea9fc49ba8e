"""What a worker process does about its parent: it ends when the parent does, however that ended."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess


def follow_parent() -> None:
    """Run first in a worker: leaves Ctrl-C to the parent, and exits as soon as the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait, args=(parent,), daemon=True, name="pychunk-parent").start()


def _wait(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
