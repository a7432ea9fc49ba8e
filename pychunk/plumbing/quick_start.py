"""What commands that answer in a moment leave out while they load: half a second of processor time."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import Any

#: What OpenBLAS, NumPy's, asks for the number of its threads, in its order.
_THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")


class _Without:
    """Finds that there is no pandas."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def load_numpy_and_arrow() -> None:
    """NumPy is loaded with one thread for its matrices, and Arrow told that there is no pandas; garbage stays.

    OpenBLAS starts a thread a CPU as it is loaded, .3 s of processor time on four; these commands multiply no matrices
    with NumPy. Arrow imports pandas, another .3 s, at the first array that it makes of a list, and asks only once.
    Packages that are loaded later have threads and pandas as ever. Looking for garbage among what is loaded takes .1 s:
    :func:`loaded` says when that begins.
    """
    gc.disable()
    given = any(name in os.environ for name in _THREADS)
    if not given:
        os.environ[_THREADS[0]] = "1"
    try:
        importlib.import_module("numpy")
    finally:
        if not given:
            del os.environ[_THREADS[0]]
    if "pandas" in sys.modules:
        return
    without: Any = _Without()
    sys.meta_path.insert(0, without)
    try:
        importlib.import_module("pyarrow").array([])
    finally:
        sys.meta_path.remove(without)


def loaded() -> None:
    """All is there that stays: garbage is looked for again, where it was not, and not among that."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
