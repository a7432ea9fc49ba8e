"""Memory that ran out, told from a damaged file that asks for more than any file takes."""

from __future__ import annotations

import errno

import numpy as np

#: What to do, in the words of the command line and of Python.
LACK = (
    "memory ran out: let the process have more (ulimit -v, the container's limit), or lower --threads and --workers "
    "(threads=, workers=)"
)
#: Bytes that must be left: more than any reader takes of one good document (:mod:`pychunk.io.decompression.streams`).
_LARGEST = 2_500_000_000


def is_lack(error: BaseException) -> bool:
    """Return whether an error is one of too little memory, without which the system starts no thread, either."""
    if isinstance(error, RuntimeError):
        return "start new thread" in str(error)
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def check_memory(error: BaseException) -> None:
    """Raises MemoryError if an error says that memory ran out, and so it did.

    A damaged file may ask for any amount. Where as much as any good one takes can still be had, the file is at fault.

    Example:
        >>> check_memory(MemoryError("malloc of size 1152921504606846976 failed"))
        >>> check_memory(ValueError("of another kind"))
    """
    if not isinstance(error, MemoryError):
        return
    if error.args == (LACK,):
        raise error
    try:
        np.empty(_LARGEST, np.uint8)  # address space alone: no page of it is touched
    except MemoryError:
        raise MemoryError(LACK) from error
