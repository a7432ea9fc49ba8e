"""Arrays of an index in NumPy's files: written whole, mapped into memory by several threads at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._util.durable_files import new_file
from .block_checksums import damaged

#: Times that a header is read: one of 156,000 calls from 16 threads failed once.
_TIMES = 5


def mapped(path: Path) -> npt.NDArray[Any]:
    """Map an array into memory.

    NumPy reads its header by Python's parser, whose count of depth threads share in CPython 3.11. So a SystemError says
    nothing of the file, and the header is read again.

    Raises:
        ValueError: the file is damaged; names it.
    """
    failed: SystemError | None = None
    for _ in range(_TIMES):
        try:
            found: npt.NDArray[Any] = np.load(path, mmap_mode="r").view(np.ndarray)
        except SystemError as error:
            failed = error
        except Exception as error:  # NumPy's of a header that is none are of many kinds, tokenize.TokenError among them
            raise ValueError(damaged(path, f"{error!s:.200}")) from error
        else:
            return found
    assert failed is not None
    raise failed


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Save an array as ``numpy.save`` does, on the disk when it returns; a full disk is an ``OSError``."""
    with new_file(path) as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).data)
