"""Functions by which short commands skip work at their start and end. They save half a second of processor time."""

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

#: The environment variables that set the number of threads of NumPy's OpenBLAS. OpenBLAS uses the first that is set.
_THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
#: The environment variable that selects Arrow's allocator.
_POOL = "ARROW_DEFAULT_MEMORY_POOL"
#: The module with which Arrow parses docstrings.
_SCRAPES = "pyarrow.vendored.docscrape"


class _NoPandas:
    """An import finder that reports that pandas is not installed."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def load_numpy_and_arrow() -> None:
    """Load NumPy with one thread for matrices, and Arrow with the system's allocator and without pandas.

    OpenBLAS starts a thread for each CPU when it is loaded, which takes 0.3 s of processor time on four CPUs. Short
    commands do not need these threads, because they multiply no matrices with NumPy. Arrow imports pandas, another
    0.3 s, when it first makes an array from a list. If that fails, it does not try again. Arrow's own allocator,
    mimalloc, puts a Parquet file into fresh large pages of memory, which the system must clear. For a file with 124 MB
    of text this takes 0.25 s and 80 MB, which malloc does not need. Packages that are loaded later have threads and
    pandas as usual. Garbage collection of the loaded objects takes 0.1 s, so it is disabled until :func:`loaded`.
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
    """Return an empty stand-in for the module that parses docstrings while ``pyarrow.compute`` is loaded.

    That module and pydoc take 0.012 s of the 0.027 s that loading takes.
    """
    made = types.ModuleType(_SCRAPES)

    def others(name: str) -> Any:
        sys.modules.pop(_SCRAPES)
        return getattr(importlib.import_module(_SCRAPES), name)

    vars(made).update(NumpyDocString=lambda *_: defaultdict(list), __getattr__=others)
    return made


@contextlib.contextmanager
def _unless_given(names: Sequence[str], value: str) -> Iterator[None]:
    """Set the first of these environment variables to a value in the block, unless any of them is already set.

    The variable is deleted afterwards, so child processes that start later do not inherit the value.
    """
    given = any(name in os.environ for name in names)
    if not given:
        os.environ[names[0]] = value
    try:
        yield
    finally:
        if not given:
            del os.environ[names[0]]


def loaded() -> None:
    """Enable garbage collection again if it was disabled, but exclude the objects that exist now.

    Call it after the objects that exist until the end of the process are loaded.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def leave(status: Any) -> None:
    """End the process as Python does, but without freeing what was loaded, which saves 0.05 s of processor time.

    The function waits for threads, and runs the functions registered with ``atexit``. It returns if Python must end the
    process itself: if the status is a message, under a profiler or tracer, or if output cannot be flushed.
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
    except (AttributeError, OSError, ValueError):  # stdout is None, closed, or a pipe that nobody reads any more
        return
    os._exit((status or 0) & 0xFF)
