"""Files written past the page cache hold every byte in order, also if a file system refuses that."""

import errno
import fcntl
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk.ingest import direct_file
from pychunk.ingest.direct_file import DirectFile

BLOCK = 8192


@pytest.fixture(autouse=True)
def small_buffer(monkeypatch):
    """Set two pages, so that a few kilobytes fill it more than once."""
    monkeypatch.setattr(direct_file, "_BUFFER_BYTES", BLOCK)


def written(path: Path, pieces: list[bytes]) -> DirectFile:
    file = DirectFile(path)
    for piece in pieces:
        file.write(piece)
    file.finish()
    file.sync()
    file.close()
    return file


def takes_direct_writes(folder: Path) -> bool:
    if not hasattr(os, "O_DIRECT"):
        return False
    try:
        os.close(os.open(folder / "probe", os.O_WRONLY | os.O_CREAT | os.O_DIRECT))
    except OSError:
        return False
    return True


def test_where_the_file_system_can_the_cache_is_passed_by(tmp_path):
    if not takes_direct_writes(tmp_path):
        pytest.skip("this file system refuses O_DIRECT")
    file = DirectFile(tmp_path / "out")
    file.write(b"x" * (2 * BLOCK + 1))
    assert file.waiting == 0
    file.finish()
    assert file.direct
    assert file.waiting == 1
    file.close()


@given(sizes=st.lists(st.sampled_from([0, 1, 511, 4096, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7]), max_size=8))
def test_a_file_holds_what_was_written(tmp_path_factory, sizes):
    path = tmp_path_factory.mktemp("file") / "out"
    path.write_bytes(b"of another run" * BLOCK)
    pieces = [bytes([65 + i % 26]) * size for i, size in enumerate(sizes)]
    file = written(path, pieces)
    assert path.read_bytes() == b"".join(pieces)
    assert file.bytes == sum(sizes)


@pytest.mark.parametrize("refused", ["flag", "write"])
def test_where_the_file_system_refuses_the_cache_is_used(tmp_path, monkeypatch, refused):
    real, direct = {"flag": fcntl.fcntl, "write": os.write}, getattr(os, "O_DIRECT", 0)
    if not direct:
        pytest.skip("this system has no O_DIRECT")

    def refusing_flag(handle, command, flags=0):
        if command == fcntl.F_SETFL and flags & direct:
            raise OSError(errno.EINVAL, "Invalid argument")
        return real["flag"](handle, command, flags)

    refusals = []

    def refusing_write(handle, data):
        if not refusals:
            refusals.append(handle)
            raise OSError(errno.EINVAL, "Invalid argument")
        return real["write"](handle, data)

    if refused == "flag":
        monkeypatch.setattr(fcntl, "fcntl", refusing_flag)
    else:
        monkeypatch.setattr(os, "write", refusing_write)
    if refused == "write" and not takes_direct_writes(tmp_path):
        pytest.skip("this file system refuses O_DIRECT by itself")
    file = written(tmp_path / "out", [b"x" * (3 * BLOCK), b"y" * 5])
    monkeypatch.undo()
    assert (tmp_path / "out").read_bytes() == b"x" * (3 * BLOCK) + b"y" * 5
    assert not file.direct
    assert file.waiting == 0


def test_bytes_in_the_cache_wait_until_they_are_synced(tmp_path, monkeypatch):
    monkeypatch.setattr(direct_file, "_DIRECT", 0)
    file = DirectFile(tmp_path / "out")
    file.write(b"x" * (2 * BLOCK + 1))
    assert file.waiting == 2 * BLOCK
    file.sync()
    assert file.waiting == 0
    file.finish()
    assert file.waiting == 1
    file.close()
    file.close()


def test_a_short_write_goes_on(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[: max(1, len(data) // 2)]))
    written(tmp_path / "out", [bytes(range(256)) * 64])
    monkeypatch.undo()
    assert (tmp_path / "out").read_bytes() == bytes(range(256)) * 64


def test_other_errors_are_raised(tmp_path, monkeypatch):
    def full(handle, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    file = DirectFile(tmp_path / "out")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        file.write(b"x" * BLOCK)
    file.close()
    with pytest.raises(FileNotFoundError):
        DirectFile(tmp_path / "not" / "there")
