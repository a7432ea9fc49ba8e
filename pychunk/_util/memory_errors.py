"""Functions that tell whether memory really ran out, or a damaged file requested more than any good file needs."""

from __future__ import annotations

import errno

import numpy as np

#: The remedy, in the words of the command line and of Python.
LACK = (
    "memory ran out: let the process have more (ulimit -v, the container's limit), or lower the numbers of "
    "threads and workers (--placement threads=1, --reader workers=1; in Python threads=, workers=)"
)
#: More bytes than any reader takes for one good document (:mod:`pychunk.io.decompression.streams`). If they are still
#: available, memory did not run out.
_LARGEST = 2_500_000_000


def is_lack(error: BaseException) -> bool:
    """Return whether an error means too little memory. If a thread cannot be started, memory is lacking, too."""
    if isinstance(error, RuntimeError):
        return "start new thread" in str(error)
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def check_memory(error: BaseException) -> None:
    """Raise MemoryError if an error says that memory ran out, and memory really ran out.

    A damaged file may request any amount. If more than any good file needs is still available, the file is at fault,
    and the function returns.

    Example:
        >>> check_memory(MemoryError("malloc of size 1152921504606846976 failed"))
        >>> check_memory(ValueError("of another kind"))
    """
    if not isinstance(error, MemoryError):
        return
    if error.args == (LACK,):
        raise error
    try:
        np.empty(_LARGEST, np.uint8)  # This reserves only address space, because no page of it is touched.
    except MemoryError:
        raise MemoryError(LACK) from error
