"""The memory that a process may use, its share for batches and processes, and the errors if it runs out."""

from __future__ import annotations

import errno
import functools
import os
import re
import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

#: The remedy, in the words of the command line and of Python.
LACK = (
    "memory ran out: let the process have more (--memory-limit, ulimit -v, the container's limit), or lower the "
    "numbers of threads and workers (--placement threads=1, --reader workers=1; in Python threads=, workers=)"
)
#: More bytes than any reader takes for one good document (:mod:`pychunk.io.decompression.streams`). If they are still
#: available, memory did not run out.
_LARGEST = 2_500_000_000
#: The variable with the memory that pychunk may use, such as ``2GB``. Processes that it starts inherit the variable.
VARIABLE = "PYCHUNK_MEMORY"
_UNITS: dict[str, int] = {"": 1, **{f"{unit}B": 1000**power for power, unit in enumerate(("", "K", "M", "G", "T"))}}
_UNITS |= {f"{unit}IB": 1024**power for power, unit in enumerate(("K", "M", "G", "T"), 1)}
#: The bytes that a run takes in any case: the libraries, and some batches on their way from the reader to the file. An
#: ingestion of 124 MB of articles took 250 MB, with 1 to 8 threads.
_OWN = 300_000_000
#: The fewest bytes of text that are cut at a time. Below this number, calls cost more than the text.
LEAST_BATCH = 1 << 20
#: The address space of a thread's stack. No program touches all of it.
_STACK = 8 << 20


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


def bytes_of(text: str) -> int:
    """Return the bytes that a size with a unit names.

    Raises:
        ValueError: The text is not a size.

    Example:
        >>> bytes_of("2GB"), bytes_of("1.5 GiB"), bytes_of("500000")
        (2000000000, 1610612736, 500000)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([a-z]*)", text.strip().lower())
    if found is None or found[2].upper() not in _UNITS or not float(found[1]):
        raise ValueError(f"memory must be a number with a unit, such as 2GB, 500MB or 1.5GiB; got {text!r:.80}")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def limit() -> tuple[int, str]:
    """Return the bytes of memory that this process may use, and what limits it: the least of all limits.

    Raises:
        ValueError: ``PYCHUNK_MEMORY`` is not a size.
    """
    return _limit(os.environ.get(VARIABLE, ""), resource.getrlimit(resource.RLIMIT_AS)[0])


@functools.cache  # Reading the files of control groups takes longer than cutting a short text.
def _limit(given: str, address_space: int) -> tuple[int, str]:
    known = {"the machine": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}
    if given:
        try:
            known["--memory-limit"] = bytes_of(given)
        except ValueError as error:
            raise ValueError(f"{VARIABLE}: {error}") from None
    if address_space != resource.RLIM_INFINITY:
        known["ulimit -v"] = address_space
    if groups := list(_group_limits()):
        known["the control group"] = min(groups)
    least = min(known, key=lambda name: known[name])
    return known[least], least


def _group_limits(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """Yield the limits of the control groups that hold this process, of both versions.

    In a container the process may see its own group as the root, and a path that exists only outside.
    """
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:  # This is no Linux.
        return
    for line in lines:
        _, kinds, place = line.split(":", 2)
        if kinds and "memory" not in kinds.split(","):
            continue
        base, name = (root / "memory", "memory.limit_in_bytes") if kinds else (root, "memory.max")
        group = base / place.lstrip("/")
        for folder in (group, *group.parents):
            if not folder.is_relative_to(base):
                break
            try:
                yield int((folder / name).read_text(encoding="ascii"))
            except (OSError, ValueError):  # There is no such group, or it says "max".
                continue


def batch_bytes(wanted: int) -> int:
    """Return the bytes of text to cut at a time: ``wanted``, or fewer if they exceed a 32nd of the memory.

    Methods that need all vectors of a document take ten times the bytes of the text, and two batches may be in work.
    """
    return min(wanted, max(LEAST_BATCH, limit()[0] // 32))


def processes(wanted: int, each: int) -> int:
    """Return the number of processes of ``each`` bytes to start: ``wanted``, or as many as the memory holds.

    It is at least 1.
    """
    return max(1, min(wanted, (limit()[0] - _OWN) // each))


def _untouched() -> int:
    """Return the bytes that this process has requested and not written."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:  # This is no Linux.
        return 0
    found = dict(re.findall(r"^(VmData|RssAnon):\s+(\d+) kB", status, re.MULTILINE))
    return max(0, int(found.get("VmData", 0)) - int(found.get("RssAnon", 0))) << 10


def cap() -> None:
    """Make requests for more memory than this process may use fail, so that a program can end with a message.

    Otherwise the system kills the process without one. The limit is on memory that is written (``ulimit -d``), because
    the address space also holds the files of an index. Stacks count as a whole, and so does the memory that allocators
    have reserved without touching it, so both are added.
    """
    most, by = limit()
    if by in ("the machine", "ulimit -v"):  # Nothing is asked for, or the system does it.
        return
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = most + _untouched() + 3 * _STACK * (os.cpu_count() or 1)
    if before == resource.RLIM_INFINITY or wanted < before:
        # Arrow's own allocator has a gigabyte that it may fill without another request.
        pa.set_memory_pool(pa.system_memory_pool())
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
