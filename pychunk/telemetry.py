"""The log records and trace spans of pychunk, which the application's logging and OpenTelemetry collect.

Nothing here holds the text of a document.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from typing import Any

#: The logger of the package. It has no handler: Python itself prints warnings if the application configures no logging.
logger = logging.getLogger("pychunk")
_API = "opentelemetry.trace"
_UNTRACED = contextlib.nullcontext()


def record(level: int, event: str, message: str, **fields: Any) -> None:
    """Log an event. ``message`` may use the fields, such as ``%(documents)d``.

    The log record has the attribute ``event``, such as ``"ingest.shard"``, and an attribute for each field.
    """
    if logger.isEnabledFor(level):
        logger.log(level, message, fields, extra={"event": event, **fields}, stacklevel=2)


def span(name: str) -> Any:
    """Return a context manager for a span of OpenTelemetry; its value is None if the application traces nothing.

    An application that traces has loaded OpenTelemetry's API. pychunk never loads it.

    Example:
        >>> with span("pychunk.segment") as traced:
        ...     if traced is not None:
        ...         traced.set_attribute("documents", 3)
    """
    api = sys.modules.get(_API)
    return _UNTRACED if api is None else api.get_tracer("pychunk").start_as_current_span(name)
