"""Arrow buffers as NumPy arrays and back, without copies."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_NO_BYTES: npt.NDArray[np.uint8] = np.empty(0, dtype=np.uint8)


def _before_fork() -> None:
    """Arrow imports pandas at its first array, under a lock that a child forked meanwhile would wait for for ever.

    So a process with threads makes an array before it forks: once 0.5 s where nobody has made one, then 2 us. At the
    import of pychunk, where everybody would pay for it, the import would take twice as long.
    """
    if threading.active_count() > 1:
        pa.array([0.0])


os.register_at_fork(before=_before_fork)


def flat_text(array: pa.LargeStringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """(bytes uint8[m], offsets int64[k + 1]) of a large_string array; a slice keeps its own offsets."""
    _, offset_buffer, data = array.buffers()
    if len(array) == 0 or offset_buffer is None:
        return _NO_BYTES, np.zeros(len(array) + 1, dtype=np.int64)
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    text = _NO_BYTES if data is None or data.size == 0 else np.frombuffer(data, dtype=np.uint8)
    return text, offsets


def primitive(values: npt.NDArray[Any]) -> pa.Array:
    """A one-dimensional array without nulls; shares the memory of ``values``."""
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(np.ascontiguousarray(values))]
    )


def strings(text: npt.NDArray[Any], offsets: npt.NDArray[np.int64]) -> pa.LargeStringArray:
    """A large_string array over flat bytes and offsets; shares their memory."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def vectors(values: npt.NDArray[np.float32]) -> pa.FixedSizeListArray:
    """Rows of float32[n, d] as a fixed_size_list<float>[d] array; shares the memory of ``values``."""
    return pa.FixedSizeListArray.from_arrays(primitive(values.reshape(-1)), values.shape[1])
