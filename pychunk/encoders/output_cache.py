"""A folder that keeps what transformers computed: vectors of sentences, and logits of pairs."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .._engine.data.tokens import Tokens
from ..telemetry import logger

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
Report = Callable[[int, int], None]

#: The bytes of a model's file above which its oldest quarter is deleted.
MOST_BYTES = 4 << 30
#: The rows that are computed, and then stored, at once. An interrupt loses no others.
_ROWS = 8192
#: The keys of one query; SQLite takes at most 32,766 values.
_KEYS = 1000
#: The seconds that a process waits while another one writes.
_WAIT = 60

# Threads take turns. A process that forks waits, because a child must not inherit an open file of SQLite.
_turn = threading.Lock()
os.register_at_fork(before=_turn.acquire, after_in_parent=_turn.release, after_in_child=_turn.release)


class OutputCache:
    """The outputs of one model, in a file of SQLite that runs and processes share.

    If another process locks the file for a minute, or the disk is full, a warning says so once. Outputs are then
    computed but not kept.

    Args:
        folder: The folder of the file, which is made if it is missing.
        model: What the outputs depend on, in addition to their keys: the model, its runtime and its precision.
        width: The numbers of an output.
        most: The bytes of the file above which its oldest quarter is deleted.

    Raises:
        ValueError: The folder cannot be made or written, or the file is damaged.
    """

    def __init__(self, folder: Path, model: str, width: int, most: int = MOST_BYTES) -> None:
        self.path = folder / f"{hashlib.blake2b(model.encode(), digest_size=10).hexdigest()}.sqlite"
        self.width, self.most = width, most
        self._told = False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with self._open() as own:
                own.execute("CREATE TABLE IF NOT EXISTS outputs (row INTEGER PRIMARY KEY, key BLOB UNIQUE, value BLOB)")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                told = f"cache={str(folder)!r:.200} cannot be written ({error}): name another folder"
                raise ValueError(told) from None
        except OSError as error:
            raise ValueError(f"cache={str(folder)!r:.200} must be a folder: {error.strerror or error}") from None

    @staticmethod
    def keys(found: Tokens, head: Sequence[int], *parts: I64) -> list[bytes]:
        """Return a key for each row that a model reads: the sentences ``parts[0][i]``, ``parts[1][i]`` ... together.

        Args:
            found: The tokens of the sentences.
            head: The tokens before each row, such as those of a prompt.
            parts: The numbers of the sentences.
        """
        first = hashlib.blake2b(np.array([len(head), *head], np.int64).tobytes(), digest_size=16)
        ids, offsets = found.ids.astype(np.int32).tobytes(), (found.offsets * 4).tolist()
        keys = []
        for rows in zip(*(np.asarray(part).tolist() for part in parts), strict=True):
            key = first.copy()
            for row in rows:
                text = ids[offsets[row] : offsets[row + 1]]
                key.update(len(text).to_bytes(8, "little") + text)
            keys.append(key.digest())
        return keys

    def outputs(
        self, keys: Sequence[bytes], compute: Callable[[I64, Report | None], F32], report: Report | None = None
    ) -> F32:
        """Return the output of each key, float32[n, width].

        Args:
            keys: The keys. Rows with equal keys are computed once.
            compute: A function that returns the outputs of some rows, and reports how many of their tokens are done.
            report: A function of the part that is done and the whole.

        Raises:
            ValueError: The file is damaged.
        """
        known = self._read(list(dict.fromkeys(keys)))
        missing = {key: row for row, key in reversed(list(enumerate(keys))) if key not in known}
        order = sorted(missing, key=missing.__getitem__)
        parts = [order[start : start + _ROWS] for start in range(0, len(order), _ROWS)]
        for at, part in enumerate(parts):
            rows = np.array([missing[key] for key in part], np.int64)
            new = np.ascontiguousarray(compute(rows, _share(report, at, len(parts))), np.float32)
            values = {key: row.tobytes() for key, row in zip(part, new, strict=True)}
            self._write(values)
            known |= values
        if report is not None and not parts:
            report(1, 1)
        joined = bytearray().join([known[key] for key in keys])
        return np.frombuffer(joined, np.float32).reshape(len(keys), self.width)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with _turn:
            own = sqlite3.connect(self.path, timeout=_WAIT)
            try:
                with own:  # a transaction
                    yield own
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError as error:
                raise ValueError(f"{self.path} is damaged ({error}): delete it, or name another folder") from None
            finally:
                own.close()

    def _read(self, keys: list[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        try:
            with self._open() as own:
                for start in range(0, len(keys), _KEYS):
                    part = keys[start : start + _KEYS]
                    marks = ",".join("?" * len(part))
                    found.update(own.execute(f"SELECT key, value FROM outputs WHERE key IN ({marks})", part))
        except sqlite3.OperationalError as error:
            self._warn("read", error)
        wrong = next((value for value in found.values() if len(value) != 4 * self.width), None)
        if wrong is not None:
            raise ValueError(
                f"{self.path} is damaged (a row has {len(wrong)} bytes and not {4 * self.width}): delete it, or name "
                "another folder"
            )
        return found

    def _write(self, values: dict[bytes, bytes]) -> None:
        try:
            with self._open() as own:
                own.executemany("INSERT OR IGNORE INTO outputs (key, value) VALUES (?, ?)", values.items())
                self._drop_oldest(own)
        except sqlite3.OperationalError as error:
            self._warn("written", error)

    def _drop_oldest(self, own: sqlite3.Connection) -> None:
        size, pages, free = (
            int(own.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_size", "page_count", "freelist_count")
        )
        if size * (pages - free) > self.most:
            first, last = own.execute("SELECT MIN(row), MAX(row) FROM outputs").fetchone()
            own.execute("DELETE FROM outputs WHERE row <= ?", (first + (last - first) // 4,))

    def _warn(self, done: str, error: sqlite3.OperationalError) -> None:
        if not self._told:
            self._told = True
            logger.warning("%s cannot be %s (%s): what is missing is computed again", self.path, done, error)


def _share(report: Report | None, at: int, parts: int) -> Report | None:
    """Return the report of one of several parts, each of which counts as an equal share of the whole."""
    if report is None:
        return None
    told = report
    return lambda done, total: told(at * 1_000_000 + 1_000_000 * done // max(1, total), parts * 1_000_000)
