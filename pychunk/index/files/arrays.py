"""The arrays of an index in NumPy's files, which are written at once and mapped into memory by several threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._util.durable_files import new_file
from .block_checksums import damaged

#: The most attempts to read a header. One of 156,000 calls from 16 threads failed once.
_TIMES = 5


def mapped(path: Path) -> npt.NDArray[Any]:
    """Map an array into memory.

    NumPy reads its header with Python's parser, whose recursion depth is shared by threads in CPython 3.11. A
    SystemError therefore does not concern the file, and the header is read again.

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
    """Save an array as ``numpy.save`` does, on the disk when it returns. A full disk is an ``OSError``."""
    with new_file(path) as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).data)
