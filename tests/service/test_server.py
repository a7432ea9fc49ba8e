"""The processes of a service end if the process that started them is killed."""

import os
import socket
import time

import pytest
from served import free_port

pytest.importorskip("granian")
pytest.importorskip("msgspec")
pytest.importorskip("pyarrow.flight")

pytestmark = pytest.mark.slow


def test_all_processes_end_after_their_parent_is_killed(served):
    flight = free_port()
    server = served("--workers", "2", "--flight", str(flight))
    ports = [server.port, flight]
    assert all(_listens(port) for port in ports)
    server.process.kill()
    server.process.wait()
    while any(_listens(port) for port in ports):
        time.sleep(0.05)


def test_a_process_that_does_not_end_by_the_signal_is_ended():
    from pychunk.service.parent import follow

    out, into = os.pipe()
    child = os.fork()
    if not child:
        import signal

        grandchild = os.fork()
        if grandchild:
            os._exit(0)  # the parent of the process that follows it
        signal.signal(signal.SIGTERM, lambda *_: os.write(into, b"signal "))
        follow(-1, 0.1)
        while True:
            time.sleep(0.01)
    os.waitpid(child, 0)
    os.close(into)
    with os.fdopen(out, "rb") as said:
        assert said.read() == b"signal "  # the end of the pipe is the end of the process


def _listens(port):
    with socket.socket() as own:
        return own.connect_ex(("127.0.0.1", port)) == 0
