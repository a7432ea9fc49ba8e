"""Files that an index holds as they were when they were read: they are not read again."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..index.store import document_digests
from ..index.store.document_catalog import DocumentCatalog
from ..index.store.document_digests import U64, Digests
from ..index.store.index_folder import SEEN
from ..io.files import SourceFile, unwritable

#: Kinds of which each file is one document, whose id is its path.
OF_ONE_DOCUMENT = frozenset({"text", "markdown", "html", "pdf", "docling"})
#: Columns: key of the path; bytes, times of change of content and of anything, inode; how it was read; its digest.
_COLUMNS = 8
_MAGIC = b"pychunk seen 1\n\0"
#: Nanoseconds in which a file may change without another time: FAT counts two seconds.
_TICK = 2_000_000_000
_WHOLE = (1 << 64) - 1


class FileCache:
    """What files were as they were read, and the digests of their documents, kept in a file beside an index.

    A file is known again by its size, its times of change, its inode and how it is read; whether the index still holds
    what was read then, the index says. A file that was changed less than two seconds before it was looked at is not
    noted: it could change once more and have the same times. The file is a help alone: where it is damaged or missing,
    all is read.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / SEEN
        self._begun = time.time_ns()
        self._register = DocumentCatalog(_COLUMNS, _loaded(self._path))

    def known(self, files: Sequence[SourceFile], how: U64) -> tuple[npt.NDArray[np.bool_], Digests]:
        """(bool[n]: files that are as they were; the digests of their documents). ``how``: of each, as :func:`mark`."""
        ids = _paths(files)
        keys = document_digests.keys(ids)
        found = self._register.latest(keys)
        same = found[5:].any(axis=0) & (found[:5] == _stamps(files, how)).all(axis=0)
        same &= [file.stamp is not None for file in files]
        return same, Digests(ids, np.concatenate([keys[None], found[5:]])).choose(same)

    def note(self, files: Sequence[SourceFile], how: U64, documents: Digests) -> None:
        """Files that were read, and what became of them; those that changed just now are left out."""
        last = self._begun - _TICK
        old = np.array([file.stamp is not None and max(file.stamp[:2]) < last for file in files], np.bool_)
        rows = np.concatenate([documents.values[:1], _stamps(files, how), documents.values[1:]])
        self._register.note(np.ascontiguousarray(rows[:, old]))

    def save(self, changed: Any) -> None:
        """Keeps what an index still holds; ``changed``: its method of that name."""
        if not self._register.changed:
            return
        rows = self._register.whole()
        there = Digests(pa.nulls(rows.shape[1], pa.large_string()), np.ascontiguousarray(rows[[0, 6, 7]]))
        data = np.ascontiguousarray(rows[:, ~changed(there)]).tobytes()
        aside = self._path.with_name(f"{SEEN}.{os.getpid()}.part")
        aside.write_bytes(_MAGIC + zlib.crc32(data).to_bytes(8, "little") + data)
        os.replace(aside, self._path)


def mark(how: Any) -> int:
    """64 bits of anything that JSON holds.

    >>> mark({"encoding": None}) == mark({"encoding": None}), mark(1) == mark(2)
    (True, False)
    """
    said = json.dumps(how, sort_keys=True, default=str).encode()
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "little")


def check(folder: Path) -> None:
    """That what is kept of files is whole.

    Raises:
        ValueError: it is damaged; the message names the file.
    """
    path = folder / SEEN
    if path.is_file() and _loaded(path) is None:
        raise ValueError(f"{path} is damaged: remove it, and all files are read again by the next run")


def _loaded(path: Path) -> U64 | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = len(_MAGIC)
    body = memoryview(data)[head + 8 :]
    if data[:head] != _MAGIC or int.from_bytes(data[head : head + 8], "little") != zlib.crc32(body):
        return None
    if len(body) % (8 * _COLUMNS):
        return None
    return np.frombuffer(body, np.uint64).reshape(_COLUMNS, -1)


def _stamps(files: Sequence[SourceFile], how: U64) -> U64:
    """uint64[5, n]: size, times, inode and how it is read of each."""
    facts = [[value & _WHOLE for value in (file.size, *(file.stamp or (0, 0, 0)))] for file in files]
    return np.concatenate([np.array(facts, np.uint64).reshape(-1, 4).T, how[None]])


def _paths(files: Sequence[SourceFile]) -> pa.Array:
    return pa.array([unwritable(file.path) or file.path for file in files], pa.large_string())
