"""The folder of an index: a manifest that names whole files, replaced in one step; one writer, any number of readers.

Files are never changed once a manifest names them. A save writes new ones, then replaces ``manifest.json`` by renaming:
whoever opens the folder finds the state before or after, whatever moment a process died at. Files that no manifest
names are left-overs, which the next writer removes. Readers keep what they opened; on POSIX systems a file that is
removed lives on as long as it is open or mapped.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from ..._util.durable_files import remove, whole_file
from ..._util.folder_lock import FolderLock
from ..files import block_checksums
from ..files.block_checksums import Blocks, damaged
from .manifest_values import OWN, fault

#: The newest version of an index that is read. 2: BM25's analysis has a version of its own, which a pychunk that reads
#: up to 1 does not know. 3: vectors in 8 bits. 4: options of that analysis. 5: text that is indexed beside chunks
#: (:mod:`.context_column`). 6: whole numbers of 32 bits (:mod:`.narrow`).
SCHEMA = 6
MANIFEST, LOCK = "manifest.json", "lock"
#: What ``pychunk index`` knows of files, kept in the folder: no part of the index.
SEEN = "seen.bin"
_BLOCK = 1 << 22
#: Bytes at either end of a file in which NumPy, Arrow and FAISS say what it holds.
_END = 1 << 12
#: Where the first message of an Arrow file is.
_ARROW_BEGINS = 8
#: How much of each file is checked: all at once; what says how it is to be read, and each block when it is first read;
#: or its size alone.
Verify = Literal[True, False, "headers"]


def schema_of(dtype: str, terms: str | None) -> int:
    """The version of a new index: the oldest that says all there is, so that older versions of pychunk read what they
    can."""
    return 4 if terms is not None else 3 if dtype == "int8" else 2


def _digest(manifest: dict[str, Any]) -> int:
    """CRC-32 of all that a manifest says."""
    said = {name: value for name, value in manifest.items() if name != "checksum"}
    return zlib.crc32(json.dumps(said, sort_keys=True).encode())


def checksum(path: Path) -> list[int]:
    """[size, CRC-32] of a file."""
    value = size = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            value, size = zlib.crc32(block, value), size + len(block)
    return [size, value]


def headers(path: Path) -> int:
    """CRC-32 of what says how a file is to be read: its first and last 4 kB, and where Arrow describes its batches.

    Raises:
        OSError, pa.ArrowException: it cannot be read as far as that.
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
    """The folder, and the manifest as last read or written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest: dict[str, Any] = {}
        self._named: dict[str, list[int]] = {}  # by it
        self._lock = FolderLock(folder / LOCK)
        self._verify: Verify = False  # the most that anybody asked for
        self._whole: set[tuple[str, int]] = set()  # files, with their CRC-32, that were compared as a whole

    def exists(self) -> bool:
        return (self.folder / MANIFEST).is_file()

    def others(self) -> list[str]:
        """Names of files in the folder that are no index's; what a killed process left of one is none of them."""
        if not self.folder.is_dir():
            return []
        names = sorted(os.listdir(self.folder))
        return [name for name in names if name not in (MANIFEST, LOCK, SEEN) and not OWN.fullmatch(name)]

    def check_alone(self) -> None:
        """That nothing but an index's own files is where an index is to be made.

        Raises:
            ValueError: there is; the first three are named.
        """
        others = self.others()
        if others:
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            raise ValueError(
                f"{self.folder} holds other files and no index ({', '.join(others[:3])}{more}): name a folder of the "
                f"index's own, such as {self.folder}.idx"
            )

    def generation(self) -> Any:
        """How often the index was saved, as the folder says now; None where it does not."""
        try:
            found = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))["generation"]
            return found if isinstance(found, int) else None  # NaN is never what it was before
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def read(self, *, verify: Verify = True) -> dict[str, Any]:
        """Read the manifest and check the files that it names.

        Args:
            verify: compare every file's CRC-32, a gigabyte in about a second; or that of its :func:`headers`, where an
                older version of pychunk did not leave them out of the manifest; otherwise sizes alone. Unless it is
                False, :meth:`blocks` of files that come later are compared, too.

        Raises:
            ValueError: no index, a newer version's, or a file that is missing or damaged; the message names it.
        """
        path = self.folder / MANIFEST
        if not path.is_file():
            lacks = f"holds no index ({MANIFEST} is missing)" if self.folder.is_dir() else "is no folder"
            raise ValueError(f"{self.folder} {lacks}: make an index by pychunk index, or Index.create")
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            schema = manifest["schema"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(damaged(path, f"{error!r:.80}")) from error
        if isinstance(schema, int) and schema > SCHEMA:
            raise ValueError(
                f"{path} was written by pychunk {manifest.get('pychunk')!s:.40} (index version {schema!s:.20}; this "
                f"one reads up to {SCHEMA}): upgrade with pip install -U pychunk-native"
            )
        if manifest.get("checksum") != _digest(manifest):
            raise ValueError(damaged(path))
        if wrong := fault(manifest):
            raise ValueError(damaged(path, wrong))
        told = manifest.get("headers", {})
        self._verify = self._verify or verify
        for name, known in self.files(manifest).items():
            if verify == "headers" and told.get(name, [None])[0] == known[1]:
                self._check(name, known, False)
                self._check_headers(name, told[name][1])
            else:
                self._check(name, known, bool(verify))
        self.manifest, self._named = manifest, self.files(manifest)
        return self.manifest

    def check(self, prefix: str) -> None:
        """That files whose names in the folder begin so have the checksums that the manifest says.

        Whoever writes them anew asks before: else damage that nobody has looked for gets a checksum that is right.

        Raises:
            ValueError: one is missing or damaged; the message names it.
        """
        for name, known in self.files(self.manifest).items():
            if name.startswith(prefix):
                self._check(name, known, True)

    def blocks(self, name: str) -> Blocks:
        """Return the blocks of a file that the manifest names, compared if whoever opened the index wants that.

        An index of an older version of pychunk lists none: the file is compared as a whole.

        Raises:
            ValueError: the file is damaged already; names it.
        """
        crc, listed = self._crc(name), self.manifest.get("blocks", {}).get(name, [None, ""])
        if not self._verify or (name, crc) in self._whole:
            return Blocks(self.folder / name)
        if listed[0] != crc:
            return Blocks(self.folder / name, crc=crc)
        try:
            return Blocks(self.folder / name, block_checksums.read(listed[1]))
        except ValueError as error:
            raise ValueError(damaged(self.folder / MANIFEST, f"hashes of blocks of {name}: {error!s:.80}")) from error

    def whole(self, name: str) -> Blocks:
        """Return the same of a file that is compared as a whole, whoever opened the index."""
        crc = self._crc(name)
        return Blocks(self.folder / name, crc=None if (name, crc) in self._whole else crc)

    def _crc(self, name: str) -> int:
        if name not in self._named:
            raise ValueError(damaged(self.folder / MANIFEST, f"it does not name {name}"))
        return self._named[name][1]

    def _check(self, name: str, known: list[int], verify: bool) -> None:
        file, (size, value) = self.folder / name, known
        if not file.is_file():
            raise ValueError(f"{file} is missing: restore it from a copy, or build the index again")
        if file.stat().st_size != size or (verify and checksum(file)[1] != value):
            raise ValueError(damaged(file))
        if verify:
            self._whole.add((name, value))

    def _check_headers(self, name: str, expected: int) -> None:
        file = self.folder / name
        try:
            found = headers(file)
        except (OSError, pa.ArrowException):
            found = -1
        if found != expected:
            raise ValueError(damaged(file))

    def _listed(self, manifest: dict[str, Any], column: str, made: Callable[[Path], Any]) -> dict[str, list[Any]]:
        """Return [CRC-32, ``made`` of it] of each file; of one that was there before, and had none, there is none."""
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
        """[size, CRC-32] of every file that a manifest names, by path in the folder."""
        found = dict(manifest["files"])
        for part in manifest["parts"]:
            found.update({f"{part['name']}/{name}": value for name, value in part["files"].items()})
        return found

    def lock(self) -> None:
        """Become the writer; ValueError where another process is, or the folder takes no writer."""
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
        self._lock.release()

    @property
    def locked(self) -> bool:
        return self._lock.held

    def commit(self, manifest: dict[str, Any]) -> None:
        """Make ``manifest``, whose files are on the disk, the state of the index."""
        manifest["headers"] = self._listed(manifest, "headers", headers)
        manifest["blocks"] = self._listed(
            manifest, "blocks", lambda path: block_checksums.written(block_checksums.hashes(path))
        )
        manifest["checksum"] = _digest(manifest)
        aside = self.folder / f"{MANIFEST}.{os.getpid()}.part"

        def named() -> None:
            self.manifest, self._named = manifest, self.files(manifest)  # readers see it, whatever comes now

        with whole_file(self.folder / MANIFEST, aside, named) as file:
            file.write(json.dumps(manifest, indent=1).encode() + b"\n")
        self.sweep()

    def sweep(self) -> None:
        """Remove what the manifest does not name; only the writer may. What cannot be removed is left to the next."""
        named = {name.split("/")[0] for name in self.files(self.manifest)}
        for path in self.folder.iterdir():
            if path.name not in named and OWN.fullmatch(path.name):
                remove(path)
