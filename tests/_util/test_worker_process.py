"""Work in processes of its own is bounded in time and memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from pychunk._util.memory import LACK
from pychunk._util.worker_process import OutOfMemoryError, Processes, ProcessKilledError


@pytest.mark.slow
def test_processes_are_bounded_in_time_and_memory() -> None:
    processes = Processes(2, "isolated_work:work", seconds=1.5, memory=4 << 30)
    try:
        found = processes.map([b"one", b"hang", b"two", b"die", b"eat", b"fail", b"three"])
        assert [found[i] for i in (0, 2, 6)] == [b"eno", b"owt", b"eerht"]
        assert isinstance(found[1], ProcessKilledError)
        assert str(found[1]) == "takes longer than 1.5 seconds, the time limit for a document"
        assert isinstance(found[3], ProcessKilledError)
        assert "signal 11" in str(found[3])
        assert isinstance(found[4], MemoryError)
        assert isinstance(found[5], KeyError)
        assert processes.map([b"again"]) == [b"niaga"]
    finally:
        processes.close()


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_processes_share_their_memory(count: int) -> None:
    processes = Processes(count, "isolated_work:work", seconds=60, memory=3 << 30)
    items = [b"take 100", b"take 1500", b"take 1500", b"eat", b"die", b"take 200"]
    try:
        found = processes.map(items)
    finally:
        processes.close()
    assert [found[i] for i in (0, 1, 2, 5)] == [b"%d" % (int(items[i][5:]) << 20) for i in (0, 1, 2, 5)]
    assert isinstance(found[3], OutOfMemoryError)
    assert str(found[3]) == "takes more than 3,072 MB of memory"
    assert not isinstance(found[4], MemoryError)
    assert str(found[4]) == "a damaged file: the process that read it crashed (signal 11)"


@pytest.mark.slow
def test_processes_tell_their_limit_from_lack_of_memory() -> None:
    """PDFium aborts if it gets no memory; the system kills if there is none."""
    processes = Processes(2, "isolated_work:work", seconds=60, memory=2 << 30)
    try:
        found = processes.map([b"abort", b"killed", b"one"])
    finally:
        processes.close()
    assert isinstance(found[0], OutOfMemoryError)
    assert str(found[0]) == "takes more than 2,048 MB of memory"
    assert type(found[1]) is MemoryError
    assert str(found[1]) == LACK
    assert found[2] == b"eno"


BELOW_ITS_LIMIT = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from pychunk._util.worker_process import Processes
processes = Processes(1, "isolated_work:work", seconds=60, memory=3 << 30)
print(processes.map([b"eat"])[0])
processes.close()
"""


@pytest.mark.slow
def test_a_process_below_its_limit_lacks_memory() -> None:
    command, helpers = [sys.executable, "-c", BELOW_ITS_LIMIT], Path(__file__).parents[1] / "helpers"
    done = subprocess.run(command, capture_output=True, text=True, cwd=helpers, timeout=120)
    assert done.stdout.strip() == LACK, done.stderr
