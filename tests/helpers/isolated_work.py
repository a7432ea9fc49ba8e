"""The work that tests give to processes of ``pychunk._util.worker_process``; it has no slow imports."""

import os
import signal


def work(data: bytes) -> bytes:
    """Hang, die, use up memory, fail, or answer."""
    if data == b"hang":
        while True:
            pass
    if data == b"die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if data == b"abort":
        os.abort()
    if data == b"killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if data == b"eat":
        return bytes(8 << 30)
    if data.startswith(b"take "):
        return b"%d" % len(bytes(int(data[5:]) << 20))
    if data == b"fail":
        raise KeyError("not there")
    return data[::-1]
