"""A folder that keeps what transformers computed: vectors of sentences, and logits of pairs."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .._engine.data.tokens import Tokens
from ..telemetry import logger

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]

#: The most bytes of a model's file. If it is larger, the oldest quarter of its rows is deleted.
MOST_BYTES = 4 << 30
#: The keys of one query; SQLite takes at most 32,766 values.
_AT_ONCE = 1000
#: The seconds that a process waits while another one writes.
_WAIT = 60


class OutputCache:
    """The outputs of one model, in a file that runs and processes share.

    Args:
        folder: The folder of the file, which is made if it is missing.
        model: What the outputs depend on, in addition to their keys: the model, its runtime and its precision.
        width: The numbers of an output.
        most: The most bytes of the file.

    Raises:
        ValueError: The folder cannot be made, or the file is damaged.
    """

    def __init__(self, folder: Path, model: str, width: int, most: int = MOST_BYTES) -> None:
        self.path = folder / f"{hashlib.blake2b(model.encode(), digest_size=10).hexdigest()}.sqlite"
        self.width, self.most = width, most
        self._told = False
        #: The connection of each process, as none must be used after a fork, with the lock of its threads.
        self._connections: dict[int, tuple[threading.Lock, sqlite3.Connection]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"cache={str(folder)!r:.200} must be a folder: {error.strerror or error}") from None
        self._read([])

    @staticmethod
    def keys(found: Tokens, head: Sequence[int], *parts: I64) -> list[bytes]:
        """Return a key for each row that a model reads: the sentences ``parts[0][i]``, ``parts[1][i]`` ... together.

        Args:
            found: The tokens of the sentences.
            head: The tokens before each row, such as those of a prompt.
            parts: The numbers of the sentences.
        """
        first = hashlib.blake2b(np.array(head, np.int64).tobytes(), digest_size=16)
        ids, offsets = found.ids.astype(np.int32).tobytes(), (found.offsets * 4).tolist()
        keys = []
        for rows in zip(*(part.tolist() for part in parts), strict=True):
            key = first.copy()
            for row in rows:
                text = ids[offsets[row] : offsets[row + 1]]
                key.update(len(text).to_bytes(8, "little") + text)
            keys.append(key.digest())
        return keys

    def outputs(self, keys: Sequence[bytes], compute: Callable[[I64], F32]) -> F32:
        """Return the output of each key, float32[n, width]. ``compute`` returns those of the rows that are missing.

        Rows with equal keys are computed once.
        """
        known = self._read(list(dict.fromkeys(keys)))
        missing = {key: row for row, key in reversed(list(enumerate(keys))) if key not in known}
        if missing:
            order = sorted(missing.items(), key=lambda item: item[1])
            new = np.ascontiguousarray(compute(np.array([row for _, row in order], np.int64)), np.float32)
            values = {key: row.tobytes() for (key, _), row in zip(order, new, strict=True)}
            self._write(values)
            known |= values
        joined = bytearray().join([known[key] for key in keys])
        return np.frombuffer(joined, np.float32).reshape(len(keys), self.width)

    def _own(self) -> tuple[threading.Lock, sqlite3.Connection]:
        own = self._connections.get(os.getpid())
        if own is None:
            made = sqlite3.connect(self.path, timeout=_WAIT, check_same_thread=False)
            made.execute("CREATE TABLE IF NOT EXISTS outputs (row INTEGER PRIMARY KEY, key BLOB UNIQUE, value BLOB)")
            own = self._connections.setdefault(os.getpid(), (threading.Lock(), made))
        return own

    def _read(self, keys: list[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        try:
            lock, own = self._own()
            with lock:
                for start in range(0, len(keys), _AT_ONCE):
                    part = keys[start : start + _AT_ONCE]
                    marks = ",".join("?" * len(part))
                    found.update(own.execute(f"SELECT key, value FROM outputs WHERE key IN ({marks})", part))
        except sqlite3.Error as error:
            raise ValueError(f"{self.path} cannot be read ({error}): delete it, or name another folder") from None
        wrong = next((value for value in found.values() if len(value) != 4 * self.width), None)
        if wrong is not None:
            raise ValueError(
                f"{self.path} is damaged (a row has {len(wrong)} bytes and not {4 * self.width}): delete it"
            )
        return found

    def _write(self, values: dict[bytes, bytes]) -> None:
        """Store outputs. If the disk is full or read-only, a warning says so once, and nothing is stored."""
        try:
            lock, own = self._own()
            with lock, own:
                own.executemany("INSERT OR IGNORE INTO outputs (key, value) VALUES (?, ?)", values.items())
                self._drop_oldest(own)
        except sqlite3.Error as error:
            if not self._told:
                self._told = True
                logger.warning("%s cannot be written (%s): the next run computes again", self.path, error)

    def _drop_oldest(self, own: sqlite3.Connection) -> None:
        size, pages, free = (
            int(own.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_size", "page_count", "freelist_count")
        )
        if size * (pages - free) > self.most:
            rows = own.execute("SELECT MIN(row), MAX(row) FROM outputs").fetchone()
            own.execute("DELETE FROM outputs WHERE row <= ?", (rows[0] + (rows[1] - rows[0]) // 4,))
