"""Worker processes with bounded time and memory. If their work crashes or hangs, nothing else is affected.

Unlike pools of ``multiprocessing`` they need no ``if __name__ == "__main__":`` in scripts. A process imports the module
of the function that it calls, and never the main module of the caller.
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

from .memory import LACK

_PACKAGE = __name__.partition(".")[0]
#: The code that a process runs. An empty module replaces the package's ``__init__``, which would load Arrow and the
#: core, and take half of the start time. The module of the function imports what it needs.
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
#: The head of a call: the most bytes of address space for the call, and the number of bytes of its data.
_HEAD = struct.Struct("<qq")
#: The least address space of a process, in bytes. Python, NumPy and Arrow take half of it.
_LEAST = 1 << 30
#: The seconds that a process may take to start, as it imports NumPy and Arrow.
_START = 60.0
#: The bytes written or read at once.
_PIECE = 1 << 20


class ProcessKilledError(Exception):
    """The error for a process that crashed, or was killed, before its work was done.

    The message gives the reason.
    """


class ProcessTimeoutError(ProcessKilledError):
    """The error for a process that was killed because it took too long."""


class OutOfMemoryError(ProcessKilledError, MemoryError):
    """The error for work that needs more memory than the process may have.

    The message names the limit.
    """


class WorkerProcess:
    """A process that can call one function any number of times, each time with other bytes.

    Args:
        function: The function as ``"package.module:name"``. It takes bytes, and returns an object that can be pickled.
        seconds: The time limit of a call, after which the process is killed.
        memory: The most bytes of address space for the process.
    """

    def __init__(self, function: str, *, seconds: float, memory: int) -> None:
        self._function, self._seconds, self._memory = function, seconds, memory
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process if it does not run yet, and return without waiting for it."""
        if self._process is None:
            code = _CODE.format(
                path=sys.path, package=_PACKAGE, folders=list(sys.modules[_PACKAGE].__path__), own=__name__
            )
            said = [self._function, repr(self._seconds), str(os.getpid())]
            self._process = subprocess.Popen(
                [sys.executable, "-c", code, *said], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )

    def __call__(self, data: bytes, memory: int | None = None) -> Any:
        """Return the function's result for ``data``, computed with at most ``memory`` bytes of address space.

        The default is the limit of the process.

        Raises:
            ProcessKilledError: The call took too long or too much memory, or the process crashed.
            MemoryError: The system ended the process because memory ran out.
            Exception: Any error that the function raised.
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
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.wait()

    def _late(self) -> str:
        return f"takes longer than {self._seconds:,g} seconds, the time limit for a document"

    def _why(self, memory: int) -> ProcessKilledError:
        """Return the error that says why the process ended.

        Raises:
            MemoryError: The system killed the process because memory ran out, which need not be the input's fault.
        """
        assert self._process is not None
        status = self._process.wait()
        if status == -signal.SIGALRM:
            return ProcessTimeoutError(self._late())
        if status == -signal.SIGKILL:
            raise MemoryError(LACK)
        if status == -signal.SIGABRT:  # PDFium, and C++ without a handler, end this way if they cannot get memory.
            return _out_of(memory)
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return ProcessKilledError(f"a damaged file: the process that read it crashed ({how})")


def _out_of(memory: int) -> OutOfMemoryError:
    """Return the error for a process that needs more memory than its limit.

    Raises:
        MemoryError: The process could not even have that much, because of a limit of the calling process.
    """
    for most in (resource.getrlimit(resource.RLIMIT_AS)[1], resource.getrlimit(resource.RLIMIT_DATA)[0]):
        if most != resource.RLIM_INFINITY and most < memory:
            raise MemoryError(LACK)
    return OutOfMemoryError(f"takes more than {memory >> 20:,} MB of memory")


class Processes:
    """Several processes that call one function, each with other inputs.

    Results are in the order of the inputs. Together the processes have ``memory`` bytes of address space, and each has
    an equal share, at least a gigabyte. An input that needs more than a share is tried again with all of ``memory``,
    while the other processes wait. Therefore the result for an input does not depend on the number of processes.

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
        """Return for each input the function's result, or the exception that the call raised."""
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
        # The longest inputs come first, because a long input at the end would run alone.
        order = sorted(range(len(items)), key=lambda i: len(items[i]), reverse=True)
        found: list[Any] = [None] * len(items)
        with ThreadPoolExecutor(wanted) as pool:
            try:
                for i, result in zip(order, pool.map(call, [items[i] for i in order]), strict=True):
                    found[i] = result
                return found
            except BaseException:  # After Ctrl-C, for example, nothing waits for the remaining calls.
                pool.shutdown(wait=False, cancel_futures=True)
                self.close()
                raise

    def close(self) -> None:
        """End the processes."""
        for one in self._all:
            one.close()
        self._all.clear()


def _read(pipe: Any, size: int, ended: float) -> bytes:
    """Return ``size`` bytes of a pipe, or raise TimeoutError when the monotonic clock reaches ``ended``."""
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
    """Call the function that the command line names, once for each input on standard input, until that ends.

    This is the main function of a worker process.
    """
    function, seconds, parent = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # After Ctrl-C, the parent kills this process.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What other code prints goes to standard error, because standard output is for results.
    threading.Thread(target=_follow, args=(int(parent),), daemon=True).start()
    module, _, name = function.partition(":")
    call = getattr(importlib.import_module(module), name)
    source = sys.stdin.buffer
    while head := source.read(_HEAD.size):
        memory, length = _HEAD.unpack(head)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
        data = source.read(length)
        signal.setitimer(signal.ITIMER_REAL, float(seconds))  # Its signal ends the process, whatever it is doing then.
        found = _called(call, data)
        signal.setitimer(signal.ITIMER_REAL, 0)
        with contextlib.suppress(BrokenPipeError):  # If the parent is gone, the next read ends this process.
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
    """End this process soon after its parent ends, even during a call."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
