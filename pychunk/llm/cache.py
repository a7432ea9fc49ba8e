"""The cache of answers on disk, one SQLite file that many processes read and write."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from .._util.durable_files import opened
from ..telemetry import logger
from .errors import LLMError

T = TypeVar("T")


#: The seconds that a writer waits for another process. A write takes 0.1 ms.
_PATIENCE = 60.0
#: The number of keys in one query. SQLite before 3.32 takes at most 999 parameters.
_AT_ONCE = 500


class Cache:
    """A cache of answers by key. It writes each answer to disk at once, so that a killed process loses none.

    The file is in WAL mode with ``synchronous=NORMAL``. Written answers survive the end of the process. After a power
    cut the file is intact, but the last answers may be missing. The file holds hashes of the requests, never their
    text. Answers may quote that text, so only the owner may read the file.

    Args:
        path: The file. The cache creates the file and its folder if they are missing.

    Raises:
        LLMError: The disk is full, the file stays locked for a minute, or the file is not a cache.

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
        """Return the answers by key, without the keys that the cache lacks."""
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, str] = {}
        for begin in range(0, len(wanted), _AT_ONCE):
            part = wanted[begin : begin + _AT_ONCE]
            marks = ",".join("?" * len(part))
            found.update(self._do(partial(_rows, marks=marks, keys=part)))
        return found

    def put(self, key: bytes, answer: str) -> None:
        """Store an answer."""
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
                    f"the cache of answers, {self.path}, cannot be used: {error}; name another file by cache=, or make "
                    "room on its disk if it is full"
                ) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None or self._pid != os.getpid():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _keep_private(self.path)
            made = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            made.execute("PRAGMA journal_mode=WAL")
            made.execute("PRAGMA synchronous=NORMAL")
            made.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer TEXT) WITHOUT ROWID")
            # A forked process must not use or close the parent's connection, so the reference is simply replaced.
            self._connection, self._pid = made, os.getpid()
        return self._connection


def _keep_private(path: Path) -> None:
    """Create the file if it is missing, and remove the permissions of everyone but its owner.

    SQLite gives its auxiliary files the permissions of this file.
    """
    with opened(path, os.O_RDWR | os.O_CREAT, 0o600):
        pass
    if os.name == "nt":  # Windows takes permissions from the folder, and supports only one bit of a mode
        return
    for own in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        if not own.exists() or not stat.S_IMODE(own.stat().st_mode) & 0o077:
            continue
        try:
            own.chmod(0o600)
            logger.warning("other users could read %s, which holds answers of an LLM; now only its owner can", own)
        except OSError:
            logger.warning("other users can read %s, which holds answers of an LLM; name your own file by cache=", own)


def _rows(it: sqlite3.Connection, marks: str, keys: Sequence[bytes]) -> list[tuple[bytes, str]]:
    return it.execute(f"SELECT key, answer FROM answers WHERE key IN ({marks})", keys).fetchall()


def _put(it: sqlite3.Connection, key: bytes, answer: str) -> None:
    it.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, answer))


def default_path() -> Path:
    """Return the path of ``llm.sqlite`` in the folder that PYCHUNK_CACHE names, else in the user's cache."""
    own = os.environ.get("PYCHUNK_CACHE")
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pychunk"
    return (Path(own) if own else users) / "llm.sqlite"
