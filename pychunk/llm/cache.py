"""Answers on disk: one SQLite file that many processes read and write."""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from .._util.durable_files import opened
from .errors import LLMError

T = TypeVar("T")

_log = logging.getLogger(__name__)

#: Seconds that a writer waits for another process; a write takes a tenth of a millisecond.
_PATIENCE = 60.0
#: Keys a query: SQLite before 3.32 takes 999 parameters.
_AT_ONCE = 500


class Cache:
    """Answers by key; each is on disk before the next step goes on, so a killed process loses none.

    The file is in WAL mode, with ``synchronous=NORMAL``: what was written outlives the process, and after a power cut
    the file is whole, at worst without the last answers. It holds hashes of what was asked, never the text, but answers
    may quote it: only its owner may read the file.

    Args:
        path: the file; it and its folder are made where they are missing.

    Raises:
        LLMError: the disk is full, the file is locked for a minute, or is no such file.

    Example:
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     cache = Cache(pathlib.Path(folder) / "llm.sqlite")
        ...     cache.put(b"key", "answer")
        ...     found = cache.get_many([b"key", b"other"])
        ...     cache.close()
        >>> found
        {b'key': 'answer'}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0

    def __getstate__(self) -> Path:
        return self.path

    def __setstate__(self, path: Path) -> None:
        Cache.__init__(self, path)

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Those of the keys that are known, with their answers."""
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, str] = {}
        for begin in range(0, len(wanted), _AT_ONCE):
            part = wanted[begin : begin + _AT_ONCE]
            marks = ",".join("?" * len(part))
            found.update(self._do(partial(_rows, marks=marks, keys=part)))
        return found

    def put(self, key: bytes, answer: str) -> None:
        """Keep an answer."""
        self._do(lambda it: _put(it, key, answer))

    def __len__(self) -> int:
        return self._do(lambda it: int(it.execute("SELECT count(*) FROM answers").fetchone()[0]))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                return work(self._opened())
            except (sqlite3.Error, OSError) as error:
                raise LLMError(
                    f"the cache of answers, {self.path}, cannot be used: {error}; free its disk, or name another file "
                    "by cache=; what was answered so far is in it"
                ) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None or self._pid != os.getpid():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _keep_private(self.path)
            made = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            made.execute("PRAGMA journal_mode=WAL")
            made.execute("PRAGMA synchronous=NORMAL")
            made.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer TEXT) WITHOUT ROWID")
            # A connection of the parent process must not even be closed here: it is dropped unseen.
            self._connection, self._pid = made, os.getpid()
        return self._connection


def _keep_private(path: Path) -> None:
    """Make the file if it is missing, and take from everyone but its owner the right to read it.

    SQLite gives the files beside it the rights of this one.
    """
    with opened(path, os.O_RDWR | os.O_CREAT, 0o600):
        pass
    if os.name == "nt":  # rights are those of the folder, and of modes Windows knows one bit alone
        return
    for own in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        if not own.exists() or not stat.S_IMODE(own.stat().st_mode) & 0o077:
            continue
        try:
            own.chmod(0o600)
            _log.warning("others could read %s, which holds answers of a model: now only its owner can", own)
        except OSError:
            _log.warning("others can read %s, which holds answers of a model: name a file of your own by cache=", own)


def _rows(it: sqlite3.Connection, marks: str, keys: Sequence[bytes]) -> list[tuple[bytes, str]]:
    return it.execute(f"SELECT key, answer FROM answers WHERE key IN ({marks})", keys).fetchall()


def _put(it: sqlite3.Connection, key: bytes, answer: str) -> None:
    it.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, answer))


def default_path() -> Path:
    """``llm.sqlite`` in the folder that PYCHUNK_CACHE names, else in the user's cache."""
    own = os.environ.get("PYCHUNK_CACHE")
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pychunk"
    return (Path(own) if own else users) / "llm.sqlite"
