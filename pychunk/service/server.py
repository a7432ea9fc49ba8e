"""The server: one process for each worker, each with the application."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from multiprocessing import parent_process
from typing import Any

from .._util.memory import limit
from .counters import new_file
from .flight_process import flight_process
from .parent import follow
from .settings import Settings


def serve(settings: Settings, host: str, port: int, workers: int, flight: int | None = None) -> None:
    """Serve until a signal ends the process. On SIGTERM and SIGINT the workers answer what they have begun.

    A worker that takes more than its share of ``--memory-limit`` is replaced by a new one. Workers end, too, if this
    process is killed.

    Args:
        settings: The settings of each worker, without the file of counters.
        host: The address to listen at.
        port: The port.
        workers: The number of workers.
        flight: The port of the Flight server. Default: none is started.

    Raises:
        ImportError: The extra ``serve`` is not installed.
        OSError: The Flight server cannot listen at its port.
    """
    try:
        from granian import Granian
        from granian.constants import Interfaces, Loops
        from granian.http import HTTP1Settings
    except ImportError as error:
        raise ImportError('the service needs granian: pip install "pychunk-native[serve]"') from error
    memory, limited_by = limit()
    share = memory // (workers + (flight is not None)) if limited_by == "--memory-limit" else None
    counters = new_file()
    settings = replace(settings, counters=counters)
    settings.to_environment()
    with_flight = contextlib.nullcontext() if flight is None else flight_process(settings, host, flight, share)
    try:
        server = Granian(
            "pychunk.service.server:application",
            address=host,
            port=port,
            interface=Interfaces.RSGI,
            workers=workers,
            loop=Loops.asyncio,
            factory=True,
            websockets=False,
            backpressure=settings.queue + 64,  # more than wait for the engine, for /health and the answers 429
            http1_settings=HTTP1Settings(header_read_timeout=10_000),
            workers_kill_timeout=int(settings.timeout) + 5,
            workers_max_rss=None if share is None else max(1, share >> 20),
            respawn_failed_workers=True,
            log_enabled=True,
        )
        with with_flight:
            server.serve()
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(counters)


def application() -> Any:
    """Return the application of a worker, which ends if the process that started it is killed."""
    from .app import Application

    parent, settings = parent_process(), Settings.of_environment()
    if parent is not None and parent.pid is not None:
        follow(parent.pid, settings.timeout + 5)
    return Application(settings)
