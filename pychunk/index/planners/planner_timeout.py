"""The timeout of a planner, after which its call ends with an error."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from .. import argument_checks

if TYPE_CHECKING:
    from .planner import Metadata, Planner

#: The most seconds for the call of a planner, unless its attribute ``timeout`` has another value. A plan should not
#: cost more than it saves: a search of all levels of a million nodes takes 20 ms, a plan by an LLM about a second.
SECONDS = 10.0


class TimedPlanner:
    """A planner that is called in a thread of its own, with a timeout in seconds.

    A running call cannot be stopped. While a call still runs after its timeout, the planner is not called again, and
    further queries get an error at once. The planner therefore never runs twice at the same time, and many queries wait
    no longer for it than one query does.

    Args:
        planner: The planner. Its attribute ``timeout`` is in seconds. If that attribute is None, the planner is called
            in the caller's thread, without a timeout.

    Raises:
        ValueError: The attribute is no number of at least 0.

    Example:
        >>> import time
        >>> def slow(query, metadata):
        ...     time.sleep(0.2)
        >>> slow.timeout = 0.01
        >>> asked = TimedPlanner(slow)
        >>> for _ in range(2):
        ...     try:
        ...         asked("Who?", None)
        ...     except TimeoutError as error:
        ...         print(error)
        no answer within 0.01 s
        still busy with an earlier query
    """

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._seconds: float | None = getattr(planner, "timeout", SECONDS)
        if self._seconds is not None:
            argument_checks.number("the planner's timeout, in seconds,", self._seconds, 0)
        self._late: threading.Thread | None = None

    def __call__(self, query: str, metadata: Metadata) -> Any:
        """Return the planner's answer, or raise its error. Raise TimeoutError if there is neither in time."""
        if self._seconds is None:
            return self._planner(query, metadata)
        if self._late is not None and self._late.is_alive():
            raise TimeoutError("still busy with an earlier query")
        answers: list[Any] = []
        errors: list[BaseException] = []

        def ask() -> None:
            try:
                answers.append(self._planner(query, metadata))
            except BaseException as error:
                errors.append(error)

        # The thread is a daemon, so that the process can end while a call still runs.
        thread = threading.Thread(target=ask, name="pychunk-plan", daemon=True)
        thread.start()
        thread.join(self._seconds)
        if errors:
            raise errors[0]
        if not answers:
            self._late = thread
            raise TimeoutError(f"no answer within {self._seconds:g} s")
        return answers[0]
