"""The number of threads of a call."""

from __future__ import annotations

from . import native


def threads_of(threads: int | None) -> int:
    """Return the number of threads of a call; the default number for None.

    Raises:
        ValueError: ``threads`` is no whole number from 1 to 1,024.

    Example:
        >>> threads_of(2)
        2
    """
    if threads is None:
        return native.default_threads()
    if isinstance(threads, bool) or not hasattr(threads, "__index__") or not 1 <= threads <= 1024:
        raise ValueError(f"threads must be a whole number from 1 to 1,024; got {threads!r:.80}")
    return int(threads)
