"""The timeout of a planner: its answer, or an error when its seconds are over."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from .. import argument_checks

if TYPE_CHECKING:
    from .planner import Metadata, Planner

#: The seconds of a planner, unless its attribute ``timeout`` has another value. A plan may not cost more than it saves.
#: A search of all levels of a million nodes takes 20 ms, a prompted model about a second.
SECONDS = 10.0


class TimedPlanner:
    """A planner that is called in a thread of its own, with a limit of seconds.

    A call cannot be ended from outside. While a call that ran out of time still runs, the planner is not called again.
    It therefore never runs twice at the same time, and many queries wait no longer for it than one.

    Args:
        planner: The planner. Its attribute ``timeout`` is in seconds. None: it is called in the caller's thread,
            without a limit.

    Raises:
        ValueError: The attribute has another type.

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
        """Return or raise what the planner does. Raise TimeoutError if it does neither in time."""
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

        # The process does not wait for it at its end.
        thread = threading.Thread(target=ask, name="pychunk-plan", daemon=True)
        thread.start()
        thread.join(self._seconds)
        if errors:
            raise errors[0]
        if not answers:
            self._late = thread
            raise TimeoutError(f"no answer within {self._seconds:g} s")
        return answers[0]
