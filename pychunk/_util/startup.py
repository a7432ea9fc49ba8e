"""What commands that answer in a moment leave out as they begin and end: half a second of processor time."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import sys
import threading
import types
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

#: What OpenBLAS, NumPy's, asks for the number of its threads, in its order.
_THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
#: Where Arrow reads which allocator to take.
_POOL = "ARROW_DEFAULT_MEMORY_POOL"
#: Arrow's reader of docstrings.
_SCRAPES = "pyarrow.vendored.docscrape"


class _NoPandas:
    """Finds that there is no pandas."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def load_numpy_and_arrow() -> None:
    """NumPy is loaded with one thread for its matrices, Arrow with the system's memory and no pandas; garbage stays.

    OpenBLAS starts a thread a CPU as it is loaded, .3 s of processor time on four; these commands multiply no matrices
    with NumPy. Arrow imports pandas, another .3 s, at the first array that it makes of a list, and asks only once; and
    its own allocator, mimalloc, lays the pages of a Parquet file on fresh large pages, which the system clears: .25 s
    and 80 MB of reading one with 124 MB of text, that malloc does without. Packages that are loaded later have threads
    and pandas as ever. Looking for garbage among what is loaded takes .1 s: :func:`loaded` says when that begins.
    """
    gc.disable()
    with _unless_given(_THREADS, "1"):
        importlib.import_module("numpy")
    if "pandas" in sys.modules:
        return
    without: Any = _NoPandas()
    sys.meta_path.insert(0, without)
    try:
        with _unless_given((_POOL,), "system"):
            importlib.import_module("pyarrow").array([])
    finally:
        sys.meta_path.remove(without)
    if _SCRAPES not in sys.modules:
        sys.modules[_SCRAPES] = _scrapes_nothing()


def _scrapes_nothing() -> types.ModuleType:
    """What Arrow, as its functions load, reads docstrings of options with, and pydoc: .012 s of their .027."""
    made = types.ModuleType(_SCRAPES)

    def others(name: str) -> Any:
        sys.modules.pop(_SCRAPES)
        return getattr(importlib.import_module(_SCRAPES), name)

    vars(made).update(NumpyDocString=lambda *_: defaultdict(list), __getattr__=others)
    return made


@contextlib.contextmanager
def _unless_given(names: Sequence[str], value: str) -> Iterator[None]:
    """The first of these variables of the environment has a value in the block, unless one of them has; no child's."""
    given = any(name in os.environ for name in names)
    if not given:
        os.environ[names[0]] = value
    try:
        yield
    finally:
        if not given:
            del os.environ[names[0]]


def loaded() -> None:
    """All is there that stays: garbage is looked for again, where it was not, and not among that."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def leave(status: Any) -> None:
    """Ends the process as Python does, but frees nothing that was loaded: .05 s of processor time.

    Threads are waited for, and what is registered with ``atexit`` runs. Returns where Python is to end it itself: with
    a message in the place of a status, under a profiler or tracer, or where what was written cannot be.
    """
    if not isinstance(status, (int, type(None))) or sys.gettrace() or sys.getprofile() or sys.flags.inspect:
        return
    for wait in (getattr(threading, "_shutdown", None), getattr(atexit, "_run_exitfuncs", None)):
        if wait is None:
            return
        wait()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # None, a pipe whose reader has gone, closed
        return
    os._exit((status or 0) & 0xFF)
