"""The folder of an index: a manifest that names complete files, with one writer and any number of readers.

A file is never changed once a manifest names it. A save writes new files, then replaces ``manifest.json`` by renaming a
new one. A reader of the folder finds the state before or after the save, even if the process died in between. Files
that no manifest names are left over, and the next writer removes them. Readers keep the files that they opened, even if
a writer removes them: on POSIX systems a removed file exists as long as it is open or mapped.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from ..._util.durable_files import remove, whole_file
from ..._util.folder_lock import FolderLock
from ..._util.reprs import whole_words
from ..files import block_checksums
from ..files.block_checksums import Blocks, damaged
from .manifest_values import OWN, fault

#: The newest version of an index that can be read. Version 2 gives BM25's analyzer a version of its own, which older
#: releases of pychunk cannot read. Version 3 adds vectors in 8 bits. Version 4 adds options of the analyzer. Version 5
#: adds contexts (:mod:`.context_column`). Version 6 adds integers of 32 bits
#: (:mod:`pychunk.index.files.int32_columns`). Version 7 renames columns
#: (:data:`pychunk._engine.data.columns.FORMER`). Version 8 adds the weight of contexts in vectors
#: (:mod:`pychunk.index.context_vectors`), without which an older release would add chunks, and vectors of propositions
#: (:mod:`.proposition_column`).
SCHEMA = 8
MANIFEST, LOCK = "manifest.json", "lock"
#: The file in which ``pychunk index`` records the input files that it has read. It does not belong to the index itself.
SEEN = "seen.bin"
_BLOCK = 1 << 22
#: The bytes at either end of a file in which NumPy, Arrow and FAISS describe its contents.
_END = 1 << 12
#: The offset of the first message of an Arrow file.
_ARROW_BEGINS = 8
#: How much of each file is checked. True: the whole file at once. "headers": its headers at once, and each block when
#: it is first read. False: only its size.
Verify = Literal[True, False, "headers"]


def _digest(manifest: dict[str, Any]) -> int:
    """Return the CRC-32 of all values of a manifest, except its own checksum."""
    said = {name: value for name, value in manifest.items() if name != "checksum"}
    return zlib.crc32(json.dumps(said, sort_keys=True).encode())


def checksum(path: Path) -> list[int]:
    """Return [size, CRC-32] of a file."""
    value = size = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            value, size = zlib.crc32(block, value), size + len(block)
    return [size, value]


def headers(path: Path) -> int:
    """Return the CRC-32 of a file's headers: its first and last 4 kB, and in an Arrow file the metadata of its batches.

    These determine how the rest of the file is read.

    Raises:
        OSError, pa.ArrowException: The headers cannot be read.
    """
    with open(path, "rb") as file:
        value = zlib.crc32(file.read(_END))
        file.seek(max(0, os.fstat(file.fileno()).st_size - _END))
        value = zlib.crc32(file.read(_END), value)
    if path.suffix == ".arrow":
        with pa.memory_map(str(path)) as source:
            source.seek(_ARROW_BEGINS)
            for message in pa.ipc.MessageReader.open_stream(source):
                value = zlib.crc32(message.metadata, value)
    return value


class Store:
    """The folder of an index, and the manifest as it was last read or written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest: dict[str, Any] = {}
        self._named: dict[str, list[int]] = {}  # The files that the manifest names.
        self._lock = FolderLock(folder / LOCK)
        self._verify: Verify = False  # The first check that was requested, if any was.
        self._whole: set[tuple[str, int]] = set()  # The (name, CRC-32) of files that were already checked as a whole.

    def exists(self) -> bool:
        """Return whether the folder holds an index."""
        return (self.folder / MANIFEST).is_file()

    def others(self) -> list[str]:
        """Return the names of files in the folder that no index writes. Remains of a killed process do not count."""
        if not self.folder.is_dir():
            return []
        names = sorted(os.listdir(self.folder))
        return [name for name in names if name not in (MANIFEST, LOCK, SEEN) and not OWN.fullmatch(name)]

    def check_alone(self) -> None:
        """Raise an error if a folder for a new index holds anything but an index's own files.

        Raises:
            ValueError: There are other files. The message names the first three.
        """
        others = self.others()
        if others:
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            raise ValueError(
                f"{self.folder} holds other files and no index ({', '.join(others[:3])}{more}): name a folder of the "
                f"index's own, such as {self.folder}.idx"
            )

    def generation(self) -> Any:
        """Read from the folder how often the index was saved, or return None if its manifest cannot be read."""
        try:
            found = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))["generation"]
            return found if isinstance(found, int) else None  # NaN would never equal an earlier value.
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def read(self, *, verify: Verify = True) -> dict[str, Any]:
        """Read the manifest and check the files that it names.

        Args:
            verify: True compares the hashes of all blocks of every file, which takes 0.2 s for a gigabyte on one
                thread. If an older version of pychunk wrote the manifest, so that it lacks these hashes, the CRC-32 of
                the whole file is compared. ``"headers"`` compares the CRC-32 of each file's :func:`headers`, or reads
                the whole file if the manifest lacks this CRC-32. False compares only sizes. Unless it is False, the
                :meth:`blocks` of files are checked when they are read later.

        Raises:
            ValueError: There is no index, a newer version of pychunk wrote it, or a file is missing or damaged. The
                message names the file.
        """
        path = self.folder / MANIFEST
        if not path.is_file():
            lacks = f"holds no index ({MANIFEST} is missing)" if self.folder.is_dir() else "is no folder"
            raise ValueError(f"{self.folder} {lacks}: make an index with pychunk index, or Index.create")
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise ValueError(damaged(path, whole_words(str(error), 80))) from error
        if not isinstance(manifest, dict) or "schema" not in manifest:
            raise ValueError(damaged(path, "'schema' is missing" if isinstance(manifest, dict) else "it is no object"))
        schema = manifest["schema"]
        if isinstance(schema, int) and schema > SCHEMA:
            raise ValueError(
                f"{path} was written by pychunk {manifest.get('pychunk') or 'of a later version'!s:.40} (index version "
                f"{schema!s:.20}; this one reads up to {SCHEMA}): upgrade with pip install -U pychunk-native"
            )
        if manifest.get("checksum") != _digest(manifest):
            raise ValueError(damaged(path, f"its checksum {manifest.get('checksum')!s:.40} is wrong"))
        if wrong := fault(manifest):
            raise ValueError(damaged(path, wrong))
        told, listed = manifest.get("headers", {}), manifest.get("blocks", {})
        self._verify = self._verify or verify
        for name, known in self.files(manifest).items():
            if verify == "headers" and told.get(name, [None])[0] == known[1]:
                self._check(name, known, False)
                self._check_headers(name, told[name][1])
            else:
                self._check(name, known, bool(verify), listed.get(name))
        self.manifest, self._named = manifest, self.files(manifest)
        return self.manifest

    def check(self, prefix: str) -> None:
        """Raise an error unless all files whose names begin with a prefix have the checksums in the manifest.

        Call it before files are rewritten. Otherwise unnoticed damage would be copied, with a new and valid checksum.

        Raises:
            ValueError: A file is missing or damaged. The message names it.
        """
        for name, known in self.files(self.manifest).items():
            if name.startswith(prefix):
                self._check(name, known, True, self.manifest.get("blocks", {}).get(name))

    def blocks(self, name: str) -> Blocks:
        """Return the blocks of a file that the manifest names.

        They are checked when they are read, unless the index was opened with ``verify=False`` or the whole file was
        already checked. If an older version of pychunk wrote the manifest, it has no hashes of blocks, and the file is
        checked as a whole before its first block is read.

        Raises:
            ValueError: The list of blocks is damaged. The message names the file.
        """
        crc, listed = self._crc(name), self.manifest.get("blocks", {}).get(name, [None, ""])
        if not self._verify or (name, crc) in self._whole:
            return Blocks(self.folder / name)
        if listed[0] != crc:
            return Blocks(self.folder / name, crc=crc)
        return self._listed_blocks(name, listed[1])

    def whole(self, name: str) -> Blocks:
        """Return the blocks of a file that is always checked as a whole, before its first block is read."""
        crc = self._crc(name)
        return Blocks(self.folder / name, crc=None if (name, crc) in self._whole else crc)

    def _crc(self, name: str) -> int:
        if name not in self._named:
            raise ValueError(damaged(self.folder / MANIFEST, f"it does not name {name}"))
        return self._named[name][1]

    def _check(self, name: str, known: list[int], verify: bool, listed: list[Any] | None = None) -> None:
        """Check the size of a file and, with ``verify``, all its bytes.

        ``listed`` has the CRC-32 of the file and the hashes of its blocks, as in a manifest. The hashes are compared
        instead of the CRC-32 if they belong to it, because they are computed faster, and by several threads.
        """
        file, (size, value) = self.folder / name, known
        try:
            found = os.stat(file)
        except (OSError, ValueError):
            found = None
        if found is None or not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{file} is missing: restore it from a copy, or build the index again")
        if found.st_size != size:
            raise ValueError(damaged(file, f"it has {found.st_size:,} bytes, not {size:,}"))
        if not verify:
            return
        if listed is not None and listed[0] == value:
            self._listed_blocks(name, listed[1]).check()
        elif (own := checksum(file)[1]) != value:
            raise ValueError(damaged(file, f"its checksum is {own}, not {value}"))
        self._whole.add((name, value))

    def _listed_blocks(self, name: str, hashes: str) -> Blocks:
        """Return the blocks of a file with the hashes that a manifest lists for it."""
        try:
            return Blocks(self.folder / name, block_checksums.read(hashes))
        except ValueError as error:
            raise ValueError(damaged(self.folder / MANIFEST, f"hashes of blocks of {name}: {error!s:.80}")) from error

    def _check_headers(self, name: str, expected: int) -> None:
        file = self.folder / name
        try:
            found = headers(file)
        except (OSError, pa.ArrowException) as error:
            raise ValueError(damaged(file, "its headers cannot be read")) from error
        if found != expected:
            raise ValueError(damaged(file, f"its headers have the checksum {found}, not {expected}"))

    def _listed(self, manifest: dict[str, Any], column: str, made: Callable[[Path], Any]) -> dict[str, list[Any]]:
        """Return [CRC-32, result of ``made``] of each file, for an entry of the manifest.

        ``made`` is called for new files. For a file that the last manifest already names, the result is copied from
        that manifest's entry ``column``. If the entry lacks the file, because an older version wrote the manifest, the
        file is left out here, too.
        """
        before, told = self.files(self.manifest) if self.manifest else {}, self.manifest.get(column, {})
        found = {}
        for name, known in self.files(manifest).items():
            if before.get(name) != known:
                found[name] = [known[1], made(self.folder / name)]
            elif name in told:
                found[name] = told[name]
        return found

    @staticmethod
    def files(manifest: dict[str, Any]) -> dict[str, list[int]]:
        """Return the [size, CRC-32] of every file that a manifest names, by the file's path in the folder."""
        found = dict(manifest["files"])
        for part in manifest["parts"]:
            found.update({f"{part['name']}/{name}": value for name, value in part["files"].items()})
        return found

    def lock(self) -> None:
        """Become the writer. Raise ValueError if another process is the writer, or the folder cannot be written to."""
        try:
            taken = self.locked or self._lock.take()
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM) or not self.exists():
                raise
            raise ValueError(
                f"{self.folder} can be read and searched, but not written to ({error.strerror}): copy the folder to "
                "where you may write, and change the copy"
            ) from error
        if not taken:
            raise ValueError(f"another process writes to {self.folder}: wait for it, or open for reading")

    def unlock(self) -> None:
        """Stop being the writer, so that another process can become it."""
        self._lock.release()

    @property
    def locked(self) -> bool:
        """True if this process is the writer."""
        return self._lock.held

    def commit(self, manifest: dict[str, Any]) -> None:
        """Make ``manifest`` the state of the index. All files that it names must be on the disk."""
        manifest["headers"] = self._listed(manifest, "headers", headers)
        manifest["blocks"] = self._listed(
            manifest, "blocks", lambda path: block_checksums.written(block_checksums.hashes(path))
        )
        manifest["checksum"] = _digest(manifest)
        aside = self.folder / f"{MANIFEST}.{os.getpid()}.part"

        def named() -> None:
            # From here on readers see the new manifest, even if an error follows.
            self.manifest, self._named = manifest, self.files(manifest)

        with whole_file(self.folder / MANIFEST, aside, named) as file:
            file.write(json.dumps(manifest, indent=1).encode() + b"\n")
        self.sweep()

    def erase(self) -> None:
        """Remove the index, and its folder if it holds no other files. Only the writer may call this."""
        (self.folder / MANIFEST).unlink(missing_ok=True)
        self.manifest, self._named = {}, {}
        for path in [*self.folder.iterdir()]:
            if path.name in (LOCK, SEEN) or OWN.fullmatch(path.name):
                remove(path)
        with contextlib.suppress(OSError):  # The folder holds other files.
            self.folder.rmdir()

    def sweep(self) -> None:
        """Remove an index's files that the manifest does not name. Only the writer may call this.

        A file that cannot be removed now is left to the next call.
        """
        named = {name.split("/")[0] for name in self.files(self.manifest)}
        for path in self.folder.iterdir():
            if path.name not in named and OWN.fullmatch(path.name):
                remove(path)
