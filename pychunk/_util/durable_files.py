"""What must outlive a full disk, Ctrl-C, a killed process, a power cut: whole and on the disk, or not there at all."""

from __future__ import annotations

import contextlib
import ctypes
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

#: Of Linux's renameat2: paths are from the working directory; both must be there, and trade places.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


class DiskError(OSError):
    """The disk refused what the page cache had taken; asking again is no use, as the kernel may have dropped it."""


def flush(path: Path) -> None:
    """Ask the operating system to write a file, or a folder's names, to the disk now."""
    with opened(path, os.O_RDONLY) as handle:
        sync(handle, path)


@contextlib.contextmanager
def opened(path: Path, flags: int, mode: int = 0o666) -> Iterator[int]:
    """Open a file or folder for the block, which gets its number; Ctrl-C as it opens leaves nothing open."""
    handle = -1
    try:
        with uninterrupted():
            handle = os.open(path, flags | os.O_CLOEXEC, mode)
        yield handle
    finally:
        if handle >= 0:
            os.close(handle)


def sync(handle: int, path: Path) -> None:
    """:func:`flush` for an open file.

    Raises:
        NotOnDiskError: the disk did not take it.
    """
    try:
        os.fsync(handle)
    except OSError as error:
        raise DiskError(error.errno, error.strerror, str(path)) from error


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write, on the disk when the block ends; what an exception leaves half is removed."""
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
    """A file to write that takes its name, on the disk, when the block ends; an exception leaves what was there.

    Written ``aside`` until then; the default is a hidden name in the same folder, from which what killed processes left
    under such names is removed. ``named`` as in :func:`settle`.
    """
    if aside is None:
        _sweep(path)
        aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    with new_file(aside) as file:
        with contextlib.suppress(OSError):  # not every file system locks
            fcntl.flock(file, fcntl.LOCK_SH)
        yield file
    try:
        settle(aside, path, named)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


def settle(aside: Path, path: Path, named: Callable[[], None] = lambda: None) -> None:
    """Gives a file that is on the disk its name, there too; ``named`` is called once it has it, whatever comes then."""
    with uninterrupted():
        os.replace(aside, path)
        named()
    flush(path.parent)


def _sweep(path: Path) -> None:
    """Removes what was written aside for ``path`` by processes that are gone.

    Of a shared folder another machine's process may be the writer: it is not among this one's, but has the file locked.
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
    """A text file, UTF-8, by :func:`whole_file`."""
    with whole_file(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A new folder to fill that takes the place of ``path``, on the disk, when the block ends, in one step.

    An exception leaves what was there. What killed processes left beside it is removed; an older folder that one of
    them had put aside, where the system does not know the one step, comes back.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep_folders(path)
    import tempfile  # here, as the import of pychunk does without it

    work = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    with opened(work, os.O_RDONLY) as handle:
        try:
            with contextlib.suppress(OSError):  # not every file system locks
                fcntl.flock(handle, fcntl.LOCK_SH)
            aside, old = work / "new", work / "old"
            aside.mkdir()  # only now: what is empty is not swept
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
    """In two steps, where there is no one step: what is killed between them leaves the older one at ``old``."""
    if path.exists():
        os.replace(path, old)
    try:
        os.replace(aside, path)
    except OSError:
        if old.exists():
            os.replace(old, path)
        raise


def _sweep_folders(path: Path) -> None:
    """Removes what was filled for ``path`` by processes that are gone: those that run have it locked."""
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
    """:func:`flush` for a folder and all that is in it."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            flush_tree(path)
        elif path.is_file():
            flush(path)
    flush(folder)


def exchange(path: Path, other: Path) -> bool:
    """Lets two files or folders trade places in one step; False, with nothing changed, where the system cannot."""
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)  # Linux
    if renameat2 is None:
        return False
    return bool(renameat2(_AT_FDCWD, os.fsencode(path), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0)


def remove(path: Path) -> None:
    """Removes a file or folder as far as that is possible; what is left is a left-over."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C in the block comes through at its end, so that it finds no change half made. For some milliseconds."""
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
    """A new file, appended to. What a full disk does not take waits in memory until :meth:`drain` is called again.

    Every piece is written at a place of its own, so that writing it twice, after Ctrl-C in the middle, is no harm.
    """

    closed = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = io.FileIO(path, "wb")  # it closes itself if Ctrl-C comes before this object is anybody's
        self._waiting: list[tuple[int, Any]] = []
        self._end = 0

    def write(self, data: Any) -> int:
        """Takes bytes, or an array's; touches memory alone."""
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        self._waiting.append((self._end, view))
        self._end += len(view)
        return len(view)

    def tell(self) -> int:
        return self._end

    def flush(self) -> None:
        """Left to :meth:`drain`."""

    def drain(self) -> None:
        """Hands over all that waits.

        Raises:
            OSError: the disk is full, or broken; names the file.
        """
        while self._waiting:
            at, rest = self._waiting[0]
            while rest:
                try:
                    count = os.pwrite(self._file.fileno(), rest, at)
                except OSError as error:
                    raise OSError(error.errno, error.strerror, str(self._path)) from error
                at, rest = at + count, rest[count:]
            del self._waiting[0]

    def close(self) -> None:
        """Left to :meth:`release`: Arrow closes its sink, and may not close this."""

    def release(self) -> None:
        """Closes the file; what waits is lost."""
        self._file.close()
