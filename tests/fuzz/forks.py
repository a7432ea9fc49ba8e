"""Work in a forked process, which may be killed or hang."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any

#: The seconds after which a forked process counts as hanging.
_PATIENCE = 60


def forked(work: Callable[[Callable[[Any], None]], Any]) -> tuple[int, list[Any]]:
    """Return the status and the messages of a forked process that calls ``work(tell)``; the last is its result."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        status = 1  # whatever is raised here, the child must not continue as its parent
        try:

            def tell(value: Any) -> None:
                data = pickle.dumps(value)
                os.write(write, len(data).to_bytes(8, "little") + data)

            try:
                tell(work(tell))
                status = 0
            except BrokenPipeError:  # the parent's time is over
                pass
            except BaseException:
                traceback.print_exc()
                tell("".join(traceback.format_exc()[-3000:]))
        finally:
            os._exit(status)
    os.close(write)
    ended = time.monotonic() + _PATIENCE
    data = b""
    with os.fdopen(read, "rb") as pipe:
        os.set_blocking(read, False)
        while True:
            some = os.read(read, 1 << 16) if _readable(read) else None
            if some == b"":
                break
            data += some or b""
            if time.monotonic() > ended:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return 1000, [f"no end within {_PATIENCE} s"]
        del pipe
    told = []
    while data:
        size = int.from_bytes(data[:8], "little")
        told.append(pickle.loads(data[8 : 8 + size]))
        data = data[8 + size :]
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told


def _readable(handle: int) -> bool:
    return bool(select.select([handle], [], [], 1.0)[0])


def done(work: Callable[[], Any]) -> Any:
    """Return the result of ``work`` in a forked process; its error, or its death, is a finding."""
    status, told = forked(lambda tell: work())
    if status:
        raise AssertionError(f"status {status}: {told[-1] if told else ''}")
    return told[-1]
