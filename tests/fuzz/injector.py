"""The disk that fails: the interface of a process with inject.so loaded before the C library."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

FAULTS = ("none", "full", "broken", "short", "kill", "interrupt")


class Disk:
    """The injector that was loaded before the C library."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.pychunk_inject_calls.restype = ctypes.c_long
        self._library.pychunk_inject_unseen.restype = ctypes.c_long

    def arm(self, folder: Path, call: int = 0, fault: str = "none", half: bool = False) -> None:
        """Count calls from now on; the fault comes at the call of this number."""
        self._library.pychunk_inject_arm(
            os.fsencode(folder), ctypes.c_long(call), FAULTS.index(fault), ctypes.c_int(half)
        )

    def mend(self) -> None:
        self._library.pychunk_inject_disarm()

    @property
    def calls(self) -> int:
        return int(self._library.pychunk_inject_calls())

    @property
    def unseen(self) -> int:
        return int(self._library.pychunk_inject_unseen())


DISK = Disk()
