"""A cache of the files that an index holds, so that a run does not read unchanged files again."""

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

#: The kinds of file that are one document each, whose id is the path.
OF_ONE_DOCUMENT = frozenset(
    {
        "text",
        "markdown",
        "html",
        "pdf",
        "docling",
        "notebook",
        "epub",
        "subtitles",
        "json",
        "docx",
        "pptx",
        "xlsx",
        "image",
    }
)
#: The number of columns of the cache. They are the key of the path, the size in bytes, the times of modification and
#: of status change, the inode, the fingerprint of the reading options, and the two words of the document's digest.
_COLUMNS = 8
_MAGIC = b"pychunk seen 1\n\0"
#: The nanoseconds within which a file may change twice without a new time stamp, because FAT counts in steps of two
#: seconds.
_TICK = 2_000_000_000
_WHOLE = (1 << 64) - 1


class FileCache:
    """The size, times and document digest of each file that was read, kept in a file in the index's folder.

    A file counts as unchanged if its size, times, inode and reading options are unchanged. The index itself knows
    whether it still holds the document that was read. The cache does not record a file that changed less than two
    seconds before the run, because a further change could leave its times the same. The cache only saves time. If it is
    damaged or missing, the run reads all files.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / SEEN
        self._begun = time.time_ns()
        self._register = DocumentCatalog(_COLUMNS, _loaded(self._path))

    def known(self, files: Sequence[SourceFile], how: U64) -> tuple[npt.NDArray[np.bool_], Digests]:
        """Return which files are unchanged, as bool[n], and the digests of their documents.

        Args:
            files: The files to look up.
            how: uint64[n]: the fingerprint of each file's reading options, from :func:`mark`.
        """
        ids = _paths(files)
        keys = document_digests.keys(ids)
        found = self._register.latest(keys)
        same = found[5:].any(axis=0) & (found[:5] == _stamps(files, how)).all(axis=0)
        same &= [file.stamp is not None for file in files]
        return same, Digests(ids, np.concatenate([keys[None], found[5:]])).choose(same)

    def note(self, files: Sequence[SourceFile], how: U64, documents: Digests) -> None:
        """Record files that were read with the digests of their documents, except files that changed just now."""
        last = self._begun - _TICK
        old = np.array([file.stamp is not None and max(file.stamp[:2]) < last for file in files], np.bool_)
        rows = np.concatenate([documents.values[:1], _stamps(files, how), documents.values[1:]])
        self._register.note(np.ascontiguousarray(rows[:, old]))

    def save(self, changed: Any) -> None:
        """Write the entries of documents that an index still holds. ``changed`` is :meth:`pychunk.Index.diff`."""
        if not self._register.changed:
            return
        rows = self._register.whole()
        there = Digests(pa.nulls(rows.shape[1], pa.large_string()), np.ascontiguousarray(rows[[0, 6, 7]]))
        data = np.ascontiguousarray(rows[:, ~changed(there)]).tobytes()
        aside = self._path.with_name(f"{SEEN}.{os.getpid()}.part")
        aside.write_bytes(_MAGIC + zlib.crc32(data).to_bytes(8, "little") + data)
        os.replace(aside, self._path)


def mark(how: Any) -> int:
    """Return a 64-bit fingerprint of any value that JSON can hold.

    >>> mark({"encoding": None}) == mark({"encoding": None}), mark(1) == mark(2)
    (True, False)
    """
    said = json.dumps(how, sort_keys=True, default=str).encode()
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "little")


def check(folder: Path) -> None:
    """Check that the cache of files in an index's folder is undamaged.

    Raises:
        ValueError: The cache is damaged. The message names the file.
    """
    path = folder / SEEN
    if path.is_file() and _loaded(path) is None:
        raise ValueError(f"{path} is damaged; remove it, and the next run will read all files again")


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
    """Return uint64[5, n]: the size, two times, inode and reading options of each file."""
    facts = [[value & _WHOLE for value in (file.size, *(file.stamp or (0, 0, 0)))] for file in files]
    return np.concatenate([np.array(facts, np.uint64).reshape(-1, 4).T, how[None]])


def _paths(files: Sequence[SourceFile]) -> pa.Array:
    return pa.array([unwritable(file.path) or file.path for file in files], pa.large_string())
