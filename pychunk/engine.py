"""Which engine runs: the native core, or the NumPy reference where PYCHUNK_BACKEND asks for it."""

from __future__ import annotations

import importlib
import os
from typing import Any

from . import _device, _native


def engine() -> Any:
    """The native core, or the NumPy reference where PYCHUNK_BACKEND asks for it."""
    wish = os.environ.get("PYCHUNK_BACKEND", "native")
    if wish == "native":
        return _native
    if wish == "reference":
        return importlib.import_module("pychunk._reference.engine")
    raise ValueError(f"PYCHUNK_BACKEND must be 'native' or 'reference'; got {wish!r}")


def backend() -> dict[str, Any]:
    """What runs: version, backend, instruction set and those this CPU could run, threads, CUDA.

    ``cuda`` is a dictionary: the names of the ``devices``, the versions of ``driver`` and ``runtime``, and ``why`` CUDA
    is off, empty where it runs.

    Example:
        >>> sorted(backend())
        ['backend', 'cuda', 'isa', 'isas', 'threads', 'version']
    """
    return {
        "version": _native.version,
        "backend": os.environ.get("PYCHUNK_BACKEND", "native"),
        "isa": _native.isa(),
        "isas": _native.available_isas(),
        "threads": _native.default_threads(),
        "cuda": _device.facts(),
    }
