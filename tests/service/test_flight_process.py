"""`pychunk serve --flight`: the process of the Flight server, its failures and its end."""

import os
import signal
import time
from pathlib import Path

import pyarrow as pa
import pytest
from served import free_port

import pychunk

pytest.importorskip("granian")
pytest.importorskip("msgspec")
flight = pytest.importorskip("pyarrow.flight")

pytestmark = pytest.mark.slow
TABLE = pa.table({"text": ["Cats purr. Dogs bark at night.", "One two. " * 300, ""]})


def chunks_of(port):
    with flight.connect(("127.0.0.1", port)) as client:
        writer, reader = client.do_exchange(
            flight.FlightDescriptor.for_command(b"{}"), flight.FlightCallOptions(timeout=60)
        )
        writer.begin(TABLE.schema)
        writer.write_table(TABLE)
        writer.done_writing()
        found = reader.read_all()
        writer.close()
        return found


def process_of(server):
    """Return the process of the Flight server, which is the child that was spawned to run it."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = (path / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == server.process.pid and b"spawn_main" in (path / "cmdline").read_bytes():
                return int(path.name)
        except OSError:
            pass
    return None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the process in /proc")
def test_another_process_takes_the_place_of_one_that_failed(served):
    port = free_port()
    server = served("--flight", str(port))
    own = pychunk.segment(TABLE, columns={"text": "text"}).table
    assert chunks_of(port).equals(own)
    first = process_of(server)
    os.kill(first, signal.SIGKILL)
    while process_of(server) in (None, first):
        time.sleep(0.05)
    while True:
        try:
            assert chunks_of(port).equals(own)
            break
        except flight.FlightUnavailableError:
            time.sleep(0.05)
    server.stop()
    assert server.process.returncode == 0
    with pytest.raises(flight.FlightUnavailableError):
        chunks_of(port)


def test_a_port_in_use_ends_the_command(served):
    port = free_port()
    served("--flight", str(port))
    with pytest.raises(AssertionError, match=f"cannot listen at 127.0.0.1:{port}"):
        served("--flight", str(port))
