"""The arrays of an index in NumPy's files, which are written in one step, and which several threads memory-map."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._util.durable_files import new_file
from .block_checksums import damaged, mapped_bytes

#: The most attempts to read a header. Of 156,000 calls from 16 threads, one failed, at its first attempt only.
_TIMES = 5
#: The most bytes of a file before its numbers. NumPy writes 128.
_HEADER = 1 << 12


def mapped(path: Path, data: npt.NDArray[np.uint8] | None = None) -> npt.NDArray[Any]:
    """Return the array in a file, memory-mapped. ``data`` has the bytes of the file if they are mapped already.

    NumPy reads the file's header with Python's parser. In CPython 3.11, threads share the parser's recursion depth, so
    it may raise a SystemError that has nothing to do with the file. The header is then read again.

    Raises:
        ValueError: The file is damaged. The message names it.
    """
    failed: SystemError | None = None
    for _ in range(_TIMES):
        try:
            return _array(mapped_bytes(path) if data is None else data)
        except SystemError as error:
            failed = error
        # NumPy raises errors of many kinds for an invalid header, among them tokenize.TokenError.
        except Exception as error:
            raise ValueError(damaged(path, f"{error!s:.200}")) from error
    assert failed is not None
    raise failed


def _array(data: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    """Return the array in the bytes of a file. Versions 1 and 2 of NumPy's format differ in the size of the header."""
    file = io.BytesIO(data[:_HEADER].tobytes())
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"its format has version {version}")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_column, dtype = read(file)
    if dtype.hasobject or by_column:
        raise ValueError(f"it holds {dtype} of shape {shape}")
    return data[file.tell() :].view(dtype).reshape(shape)


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Save an array as ``numpy.save`` does. When this returns, it is on the disk; a full disk is an ``OSError``."""
    with new_file(path) as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).data)
