"""Writing of files and folders that a full disk, Ctrl-C, a killed process or a power cut cannot damage.

A file or folder is on the disk as a whole, or not at all.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import io
import os
import re
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

#: Two arguments of Linux's renameat2. The first makes paths relative to the working directory. The second makes two
#: files or folders exchange their names.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2

#: The errors of a disk that is full.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class DiskError(OSError):
    """The error if the disk refuses data that the page cache had accepted.

    A retry is useless, because the kernel may have dropped the data.
    """


def flush(path: Path) -> None:
    """Ask the operating system to write a file, or the list of names in a folder, to the disk now."""
    with opened(path, os.O_RDONLY) as handle:
        sync(handle, path)


@contextlib.contextmanager
def opened(path: Path, flags: int, mode: int = 0o666) -> Iterator[int]:
    """Open a file or folder for the block, and yield its descriptor.

    Ctrl-C while it is being opened leaves nothing open.
    """
    handle = -1
    try:
        with uninterrupted():
            handle = os.open(path, flags | os.O_CLOEXEC, mode)
        yield handle
    finally:
        if handle >= 0:
            os.close(handle)


def _remedy(error: OSError) -> str:
    return f"write to another disk, or {'free space on' if error.errno in _FULL else 'check'} this one"


def sync(handle: int, path: Path) -> None:
    """Write an open file to the disk.

    See :func:`flush`.

    Raises:
        DiskError: The disk did not accept it.
    """
    try:
        os.fsync(handle)
    except OSError as error:
        raise DiskError(error.errno, f"{error.strerror}; {_remedy(error)}", str(path)) from error


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to write, which is on the disk when the block ends.

    An exception removes the partial file.
    """
    try:
        with open(path, "wb") as file:
            yield file
            file.flush()
            sync(file.fileno(), path)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def whole_file(path: Path, aside: Path | None = None, named: Callable[[], None] = lambda: None) -> Iterator[BinaryIO]:
    """Yield a new file to write, which replaces the file at ``path``, on the disk too, when the block ends.

    If the block raises an exception, the old file stays. Until the end, the new file has the name ``aside``. The
    default is a hidden name in the same folder. Hidden files that killed processes left there under such a name are
    removed. For ``named`` see :func:`settle`.
    """
    if aside is None:
        _sweep(path)
        aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    with new_file(aside) as file:
        with contextlib.suppress(OSError):  # Not every file system supports locks.
            fcntl.flock(file, fcntl.LOCK_SH)
        yield file
    try:
        settle(aside, path, named)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


def settle(aside: Path, path: Path, named: Callable[[], None] = lambda: None) -> None:
    """Rename a file that is on the disk from ``aside`` to ``path``, and write the new name to the disk, too.

    ``named`` is called as soon as the file has its new name, even if writing the name then fails.
    """
    with uninterrupted():
        os.replace(aside, path)
        named()
    flush(path.parent)


def _sweep(path: Path) -> None:
    """Remove the unfinished files for ``path`` of processes that no longer exist.

    In a shared folder, the writer may be a process on another machine, which this machine cannot see. Therefore a file
    on which any process has a lock stays.
    """
    own = re.compile(re.escape(f".{path.name}.") + r"(\d+)\.part")
    with contextlib.suppress(OSError):
        for name in os.listdir(path.parent):
            found = own.fullmatch(name)
            if found is None or _runs(int(found[1])):
                continue
            with contextlib.suppress(OSError), open(path.with_name(name), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.with_name(name).unlink()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8 by :func:`whole_file`."""
    with whole_file(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder to fill. When the block ends, it replaces ``path`` in one step, on the disk too.

    If the block raises an exception, the old folder stays. Remains of killed processes next to it are removed. On a
    system that cannot replace a folder in one step, a killed process may have moved the old folder aside. Then the old
    folder is restored.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep_folders(path)
    import tempfile  # imported here because the import of pychunk does not need it

    work = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    with opened(work, os.O_RDONLY) as handle:
        try:
            with contextlib.suppress(OSError):  # Not every file system supports locks.
                fcntl.flock(handle, fcntl.LOCK_SH)
            aside, old = work / "new", work / "old"
            aside.mkdir()  # This comes after the lock, because other processes remove unlocked folders if not empty.
            yield aside
            flush_tree(aside)
            with uninterrupted():
                if not (path.exists() and exchange(aside, path)):
                    _replace_folder(path, aside, old)
            flush(path.parent)
        finally:
            if path.exists() or not (work / "old").exists():
                remove(work)


def _replace_folder(path: Path, aside: Path, old: Path) -> None:
    """Replace a folder in two steps, for systems that cannot exchange two folders in one.

    If the process is killed between the steps, the old folder is at ``old``.
    """
    if path.exists():
        os.replace(path, old)
    try:
        os.replace(aside, path)
    except OSError:
        if old.exists():
            os.replace(old, path)
        raise


def _sweep_folders(path: Path) -> None:
    """Remove the unfinished folders for ``path`` of processes that no longer exist.

    A running process has a lock on its folder.
    """
    own = re.compile(re.escape(f".{path.name}.") + r"[^.]+\.part")
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir(path.parent) if own.fullmatch(name)]
    for work in map(path.with_name, names):
        with contextlib.suppress(OSError), opened(work, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW) as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if (work / "old").exists() and not path.exists():
                os.replace(work / "old", path)
            if any(work.iterdir()):
                shutil.rmtree(work)


def flush_tree(folder: Path) -> None:
    """Flush a folder and everything in it.

    See :func:`flush`.
    """
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            flush_tree(path)
        elif path.is_file():
            flush(path)
    flush(folder)


def exchange(path: Path, other: Path) -> bool:
    """Exchange two files or folders in one step, and return whether this succeeded.

    If the system cannot do it, nothing is changed.
    """
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)  # Linux
    if renameat2 is None:
        return False
    return bool(renameat2(_AT_FDCWD, os.fsencode(path), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0)


def remove(path: Path) -> None:
    """Remove a file or folder as far as possible, ignoring errors."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, so that no change is left half made. The block must be short."""
    before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(before):
        yield
        return
    arrived: list[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if arrived:
            before(*arrived[0])


class BufferedFile:
    """A new file to append to, with a buffer in memory that :meth:`drain` writes to the file.

    If the disk is full, the data stays in the buffer until :meth:`drain` is called again. All data has a fixed position
    in the file. Therefore it is harmless to write the same data twice, as happens after Ctrl-C.
    """

    closed = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = io.FileIO(path, "wb")  # FileIO closes itself if Ctrl-C occurs before the caller has this object.
        self._waiting: list[tuple[int, Any]] = []
        self._end = 0

    def write(self, data: Any) -> int:
        """Add bytes, or the bytes of an array, to the buffer in memory."""
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        self._waiting.append((self._end, view))
        self._end += len(view)
        return len(view)

    def tell(self) -> int:
        return self._end

    def flush(self) -> None:
        """Do nothing, because :meth:`drain` writes the data."""

    def drain(self) -> None:
        """Write all waiting data.

        Raises:
            OSError: The disk is full or broken. The error names the file.
        """
        while self._waiting:
            at, rest = self._waiting[0]
            while rest:
                try:
                    count = os.pwrite(self._file.fileno(), rest, at)
                except OSError as error:
                    raise OSError(error.errno, f"{error.strerror}; {_remedy(error)}", str(self._path)) from error
                at, rest = at + count, rest[count:]
            del self._waiting[0]

    def close(self) -> None:
        """Do nothing, because Arrow calls this method of its output, but must not close this file.

        :meth:`release` closes the file.
        """

    def release(self) -> None:
        """Close the file, and lose the data that is still in the buffer."""
        self._file.close()
