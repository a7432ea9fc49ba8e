"""The arrays of an index in NumPy's files, which are written in one step, and which several threads memory-map."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._util.durable_files import new_file
from .block_checksums import damaged

#: The most attempts to read a header. Of 156,000 calls from 16 threads, one failed, at its first attempt only.
_TIMES = 5


def mapped(path: Path) -> npt.NDArray[Any]:
    """Return the array in a file, memory-mapped.

    NumPy reads the file's header with Python's parser. In CPython 3.11, threads share the parser's recursion depth, so
    it may raise a SystemError that has nothing to do with the file. The header is then read again.

    Raises:
        ValueError: The file is damaged. The message names it.
    """
    failed: SystemError | None = None
    for _ in range(_TIMES):
        try:
            found: npt.NDArray[Any] = np.load(path, mmap_mode="r").view(np.ndarray)
        except SystemError as error:
            failed = error
        # NumPy raises errors of many kinds for an invalid header, among them tokenize.TokenError.
        except Exception as error:
            raise ValueError(damaged(path, f"{error!s:.200}")) from error
        else:
            return found
    assert failed is not None
    raise failed


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Save an array as ``numpy.save`` does. When this returns, it is on the disk; a full disk is an ``OSError``."""
    with new_file(path) as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).data)
