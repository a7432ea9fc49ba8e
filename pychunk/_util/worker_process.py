"""Work in processes of their own with bounded time and memory: what would crash or hang takes nothing else along.

Unlike pools of ``multiprocessing`` these need no ``if __name__ == "__main__":`` in scripts: a process imports the one
module that it is told, and never the caller's.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import queue
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, BinaryIO

from .memory_errors import LACK

_PACKAGE = __name__.partition(".")[0]
#: What a process runs. The package's own face, which loads Arrow and the core, would take half of the time of a start:
#: the one module that is asked for imports what it needs.
_CODE = """
import sys, types
sys.path[:] = {path!r}
face = types.ModuleType({package!r})
face.__path__ = {folders!r}
sys.modules[{package!r}] = face
from {own} import serve
serve()
"""
_LENGTH = struct.Struct("<q")
#: Of a call: the bytes of address space that it may have, and how many bytes follow.
_HEAD = struct.Struct("<qq")
#: Address space that a process has at least: Python, NumPy and Arrow take half a gigabyte of it.
_LEAST = 1 << 30
#: Seconds that a process may take to start: it imports NumPy and Arrow.
_START = 60.0
#: Bytes written or read at once.
_PIECE = 1 << 20


class ProcessKilledError(Exception):
    """The process was ended, or ended, before it was done: its message says why."""


class ProcessTimeoutError(ProcessKilledError):
    """The process was ended, as it took too long."""


class OutOfMemoryError(ProcessKilledError, MemoryError):
    """The work takes more memory than the process may have; the message names the limit."""


class WorkerProcess:
    """One process that calls a function of a module with bytes, again and again.

    Args:
        function: ``"package.module:name"``, which takes bytes and returns anything that can be pickled.
        seconds: time of a call, after which the process is killed.
        memory: bytes of address space that the process may have.
    """

    def __init__(self, function: str, *, seconds: float, memory: int) -> None:
        self._function, self._seconds, self._memory = function, seconds, memory
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the process without waiting for it, if it does not run."""
        if self._process is None:
            code = _CODE.format(
                path=sys.path, package=_PACKAGE, folders=list(sys.modules[_PACKAGE].__path__), own=__name__
            )
            said = [self._function, repr(self._seconds), str(os.getpid())]
            self._process = subprocess.Popen(
                [sys.executable, "-c", code, *said], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )

    def __call__(self, data: bytes, memory: int | None = None) -> Any:
        """Return what the function returns, with so much address space, or all that the process may have.

        Raises:
            KilledError: it took too long or too much memory, or the process died.
            MemoryError: the system ended the process, as memory ran out.
            Exception: what the function raised.
        """
        memory = memory or self._memory
        self.start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            try:
                process.stdin.write(_HEAD.pack(memory, len(data)))
                process.stdin.write(data)
                process.stdin.flush()
                ended = time.monotonic() + self._seconds + _START
                length = _LENGTH.unpack(_read(process.stdout, _LENGTH.size, ended))[0]
                good, found = pickle.loads(_read(process.stdout, length, ended))
            except (BrokenPipeError, EOFError):
                raise self._why(memory) from None
            except TimeoutError:
                raise ProcessTimeoutError(self._late()) from None
        except BaseException:
            self.close()
            raise
        if isinstance(found, MemoryError) and not good:
            raise _out_of(memory)
        if not good:
            raise found
        return found

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.wait()

    def _late(self) -> str:
        return f"takes longer than {self._seconds:,g} seconds, the last resort after the limits of work"

    def _why(self, memory: int) -> ProcessKilledError:
        """Return why the process ended.

        Raises:
            MemoryError: the system ended it, as memory ran out: that says nothing about what the process was given.
        """
        assert self._process is not None
        status = self._process.wait()
        if status == -signal.SIGALRM:
            return ProcessTimeoutError(self._late())
        if status == -signal.SIGKILL:
            raise MemoryError(LACK)
        if status == -signal.SIGABRT:  # PDFium, and C++ without a handler, end so if memory cannot be had
            return _out_of(memory)
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return ProcessKilledError(f"a damaged file: the process that read it crashed ({how})")


def _out_of(memory: int) -> OutOfMemoryError:
    """Return the error of a process that took all that it may have.

    Raises:
        MemoryError: it had less, by a limit of the process that asks.
    """
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    if most != resource.RLIM_INFINITY and most < memory:
        raise MemoryError(LACK)
    return OutOfMemoryError(f"takes more than {memory >> 20:,} MB of memory")


class Processes:
    """Some processes that call one function; results come in the order of what they are made from.

    Together they have ``memory`` bytes of address space, of which each gets its share, a gigabyte at least. What needs
    more has all of it, while the others wait: the same item has the same result, however many processes there are.

    Example:
        >>> with contextlib.closing(Processes(2, "zlib:crc32", seconds=60, memory=4 << 30)) as processes:
        ...     processes.map([b"one", b"two"])
        [2053932785, 298486374]
    """

    def __init__(self, count: int, function: str, *, seconds: float, memory: int) -> None:
        self._count, self._memory = count, memory
        self._made = partial(WorkerProcess, function, seconds=seconds, memory=memory)
        self._all: list[WorkerProcess] = []

    def map(self, items: Sequence[bytes]) -> list[Any]:
        """For each item what the function returned, or the exception that it ended with."""
        wanted = min(self._count, len(items))
        while len(self._all) < wanted:
            self._all.append(self._made())
        for one in self._all[:wanted]:
            one.start()
        idle: queue.SimpleQueue[WorkerProcess] = queue.SimpleQueue()
        for one in self._all[:wanted]:
            idle.put(one)

        share = min(self._memory, max(_LEAST, self._memory // wanted)) if wanted else 0
        free, left = threading.Condition(), self._memory

        def call(item: bytes, memory: int = share) -> Any:
            nonlocal left
            with free:
                free.wait_for(lambda: left >= memory)
                left -= memory
            one = idle.get()
            try:
                return one(item, memory)
            except ProcessTimeoutError as error:
                return error
            except ProcessKilledError as error:
                if memory == self._memory:
                    return error
            except Exception as error:
                return error
            finally:
                idle.put(one)
                with free:
                    left += memory
                    free.notify_all()
            return call(item, self._memory)

        if wanted < 2:
            return [call(item) for item in items]
        order = sorted(range(len(items)), key=lambda i: len(items[i]), reverse=True)  # a long one last is waited for
        found: list[Any] = [None] * len(items)
        with ThreadPoolExecutor(wanted) as pool:
            try:
                for i, result in zip(order, pool.map(call, [items[i] for i in order]), strict=True):
                    found[i] = result
                return found
            except BaseException:  # Ctrl-C: nothing is waited for
                pool.shutdown(wait=False, cancel_futures=True)
                self.close()
                raise

    def close(self) -> None:
        """Ends the processes."""
        for one in self._all:
            one.close()
        self._all.clear()


def _read(pipe: Any, size: int, ended: float) -> bytes:
    """So many bytes of a pipe, before the clock stands at ``ended``."""
    handle = pipe.fileno()
    parts = []
    while size:
        left = ended - time.monotonic()
        if left <= 0 or not select.select([handle], [], [], left)[0]:
            raise TimeoutError
        part = os.read(handle, min(size, _PIECE))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def serve() -> None:
    """What the process does: calls the function of its arguments until its standard input ends."""
    function, seconds, parent = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what others print is no answer
    threading.Thread(target=_follow, args=(int(parent),), daemon=True).start()
    module, _, name = function.partition(":")
    call = getattr(importlib.import_module(module), name)
    source = sys.stdin.buffer
    while head := source.read(_HEAD.size):
        memory, length = _HEAD.unpack(head)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
        data = source.read(length)
        signal.setitimer(signal.ITIMER_REAL, float(seconds))  # the signal ends the process, whatever it is doing
        found = _called(call, data)
        signal.setitimer(signal.ITIMER_REAL, 0)
        with contextlib.suppress(BrokenPipeError):  # whoever asked is gone, and so are we with the next reading
            _answer(out, found)


def _called(call: Callable[[bytes], Any], data: bytes) -> bytes:
    try:
        return pickle.dumps((True, call(data)), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps((False, MemoryError("out of memory")))
    except Exception as error:
        return pickle.dumps((False, error))


def _answer(out: BinaryIO, found: bytes) -> None:
    out.write(_LENGTH.pack(len(found)))
    out.write(found)
    out.flush()


def _follow(parent: int) -> None:
    """Ends the process soon after its parent, even amid a call."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
