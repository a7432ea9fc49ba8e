"""The distinction between memory that ran out and a damaged file that requests more than any file needs."""

from __future__ import annotations

import errno

import numpy as np

#: The remedy, in the words of the command line and of Python.
LACK = (
    "memory ran out: let the process have more (ulimit -v, the container's limit), or lower the numbers of "
    "threads and workers (--placement threads=1, --reader workers=1; in Python threads=, workers=)"
)
#: The bytes that must be available: more than any reader takes for one good document
#: (:mod:`pychunk.io.decompression.streams`).
_LARGEST = 2_500_000_000


def is_lack(error: BaseException) -> bool:
    """Return whether an error means too little memory, which also keeps the system from starting threads."""
    if isinstance(error, RuntimeError):
        return "start new thread" in str(error)
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def check_memory(error: BaseException) -> None:
    """Raise MemoryError if an error says that memory ran out and memory really did.

    A damaged file may request any amount. If the amount that any good file needs is still available, the file is at
    fault.

    Example:
        >>> check_memory(MemoryError("malloc of size 1152921504606846976 failed"))
        >>> check_memory(ValueError("of another kind"))
    """
    if not isinstance(error, MemoryError):
        return
    if error.args == (LACK,):
        raise error
    try:
        np.empty(_LARGEST, np.uint8)  # This takes address space alone: no page of it is touched.
    except MemoryError:
        raise MemoryError(LACK) from error
