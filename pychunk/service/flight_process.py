"""The process of the Flight server of a service, and its replacement after a failure."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Iterator
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from .._util import memory
from .parent import follow
from .settings import Settings

logger = logging.getLogger("pychunk.service")
#: The signals that end the server.
_ENDS = {signal.SIGTERM, signal.SIGINT}


@contextlib.contextmanager
def flight_process(settings: Settings, host: str, port: int, most: int | None) -> Iterator[None]:
    """Run the Flight server in a process of its own, and start another one if it fails.

    Flight calls Python in threads of gRPC. In a process of its own they take no time from the event loops of the
    workers, and no worker is forked from a process that has such threads.

    Args:
        settings: The settings.
        host: The address to listen at.
        port: The port.
        most: The most bytes of memory for the process, or None.

    Raises:
        OSError: The server cannot listen there.
    """
    ended = threading.Event()
    process = _started(settings, host, port, most)

    def keep() -> None:
        nonlocal process
        while True:
            process.join()
            if ended.wait(1.0):
                return
            logger.error("the Flight server ended with the code %s; another one starts", process.exitcode)
            with contextlib.suppress(OSError):
                process = _started(settings, host, port, most)

    keeper = threading.Thread(target=keep, daemon=True, name="pychunk-flight")
    keeper.start()
    try:
        yield
    finally:
        ended.set()
        process.terminate()
        keeper.join(settings.timeout + 5)
        process.kill()


def _started(settings: Settings, host: str, port: int, most: int | None) -> SpawnProcess:
    """Return a process whose server listens.

    Raises:
        OSError: It cannot.
    """
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(settings, host, port, most, sender), name="pychunk-flight")
    process.start()
    sender.close()
    try:
        failure = receiver.recv()
    except EOFError:
        failure = "the Flight server ended while it started"
    if failure is not None:
        process.join()
        raise OSError(failure)
    return process


def _run(settings: Settings, host: str, port: int, most: int | None, ready: Connection) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)  # for all threads: sigwait() takes them
    parent = parent_process()
    assert parent is not None
    assert parent.pid is not None
    follow(parent.pid, settings.timeout + 5)
    if most is not None:
        os.environ[memory.VARIABLE] = f"{most}B"
        memory.cap()
    from .flight import Server  # here, so that only this process loads it

    try:
        server = Server(settings, host, port)
        server.load()
    except Exception as error:
        ready.send(f"{type(error).__name__}: {error}")
        return
    ready.send(None)
    signal.sigwait(_ENDS)
    server.end()
    os._exit(0)  # Threads that wait for idle clients would keep the process.
