"""The files of a source, local or remote: how they are listed, in a fixed order, and opened for reading."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa

from .._util import urls

#: The schemes of URLs that pyarrow reads by itself. Other schemes are read through fsspec.
_ARROW_SCHEMES = ("s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")


class SourceFile(NamedTuple):
    """A file as it was found, with its size, time of change, ETag and stamp.

    Attributes:
        path: The path or URL (a ``Url``, without secrets).
        size: The size in bytes.
        modified: The time of the last change in seconds since 1970; None if unknown.
        etag: The ETag; None if unknown.
        stamp: For a local file: the times of the last change of its content and of its metadata in nanoseconds, and its
            inode.
    """

    path: str
    size: int
    modified: float | None
    etag: str | None = None
    stamp: tuple[int, int, int] | None = None


def find(path: str) -> list[SourceFile]:
    """Return a file, or all files below a folder, sorted by their paths in the spelling of :func:`plain`.

    Hidden files, and the files that an ingest writes next to its shards, are left out.

    Raises:
        FileNotFoundError: There is no file.
        ImportError: The URL needs fsspec.
        OSError: The URL cannot be reached.
    """
    scheme = scheme_of(path)
    if not scheme:
        found = _local(plain(path))
    else:
        path = urls.Url.of(path)
        try:
            with urls.readable(path):
                found = (_arrow if scheme in _ARROW_SCHEMES else _fsspec)(path)
        except FileNotFoundError:  # some file systems report only the path
            found = []
        names = urls.named((file.path for file in found), path.hides)
        found = [file._replace(path=name) for file, name in zip(found, names, strict=True)]
    if not found:
        raise FileNotFoundError(f"{path}: no such file, or a folder without files; correct the path")
    return sorted(_without_notes(found))


def find_if_reached(path: str) -> list[SourceFile]:
    """Return the files of :func:`find`, or for a URL that cannot be reached, the URL as a file of unknown size.

    Raises:
        FileNotFoundError: There is no file.
        ImportError: The URL needs fsspec.
    """
    try:
        return find(path)
    except FileNotFoundError:
        raise
    except OSError:
        if not scheme_of(path):
            raise
        return [SourceFile(urls.Url.of(path), 0, None)]


#: The files that an ingest writes next to its shards (pychunk/ingest/run_folder.py). They are not documents.
_NOTES = (
    "_manifest.json",
    "_lock",
    "_dead_letters.jsonl",
    "_changes.parquet",
    "_duplicates.parquet",
    "_removed/",
    "_summaries/",
    "_digests/",
)


def _without_notes(found: list[SourceFile]) -> list[SourceFile]:
    """Return the files without those that an ingest writes next to its shards."""
    manifest = _NOTES[0]
    runs = {file.path[: -len(manifest)] for file in found if len(found) > 1 and base_name(file.path) == manifest}
    notes = tuple(run + name for run in runs for name in _NOTES)
    return [file for file in found if not file.path.startswith(notes)] if notes else found


def open_binary(path: str) -> BinaryIO:
    """Open a file of bytes for reading."""
    scheme = scheme_of(path)
    if not scheme:
        return open(path, "rb")
    with urls.readable(path):
        if scheme in _ARROW_SCHEMES:
            filesystem, inside = _arrow_filesystem(path)
            return cast(BinaryIO, filesystem.open_input_file(inside))
        filesystem, inside = _fsspec_filesystem(path)
        return cast(BinaryIO, urls.RemoteFile(filesystem.open(inside, "rb"), path))


def open_at(path: str) -> pa.NativeFile:
    """Open a file for random access, if possible as a file of Arrow."""
    if not scheme_of(path):
        return pa.OSFile(path, "rb")
    opened = open_binary(path)
    return opened if isinstance(opened, pa.NativeFile) else pa.PythonFile(opened, mode="r")


def scheme_of(path: str) -> str:
    """Return the scheme before "://"; "" for a local path."""
    scheme, separator, _ = path.partition("://")
    return scheme.lower() if separator and scheme.replace("+", "").isalnum() else ""


def plain(path: str) -> str:
    """Return a path in the spelling that ids of documents use: without ``.`` and doubled slashes.

    A URL is returned unchanged. A relative path stays relative and an absolute path absolute, so that ids depend on the
    working directory only if the path does. ``..`` also stays, because after a symbolic link it may lead to another
    folder.

    >>> plain("./notes//a.md"), plain("notes/./a.md"), plain("/srv/notes/"), plain("s3://notes//a.md"), plain("./-")
    ('notes/a.md', 'notes/a.md', '/srv/notes', 's3://notes//a.md', './-')
    """
    if scheme_of(path):
        return path
    found = str(Path(path))
    return path if found == "-" else found  # "-" alone would mean standard input


def base_name(path: str) -> str:
    """Return the last part of a path or URL, without a query and without the number that ``urls.named`` adds."""
    name = path.rstrip("/").rpartition("/")[2]
    return re.sub(r"#\d+$", "", name).partition("?")[0] if scheme_of(path) else name


def unwritable(path: str) -> str:
    """Return a path that is not UTF-8 with the invalid bytes escaped; "" for any other path.

    A path that is not UTF-8 cannot be in a table.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path).decode(errors="backslashreplace")
    return ""


def _hidden(path: str, root: str) -> bool:
    return any(part.startswith(".") for part in path.removeprefix(root).split("/") if part)


def _local(path: str) -> list[SourceFile]:
    names = [path] if os.path.isfile(path) else walked(path)
    found = []
    for name in names:
        with contextlib.suppress(OSError):  # the name may be a broken link
            facts = os.stat(name)
            if stat.S_ISREG(facts.st_mode):
                stamp = (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
                found.append(SourceFile(name, facts.st_size, facts.st_mtime, None, stamp))
    return found


def walked(path: str) -> Iterator[str]:
    """Yield the paths of the files in and below a local folder, without hidden files, in no particular order."""
    root = plain(path)
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if not name.startswith(".")]
        front = "" if folder == "." else os.path.join(folder.removeprefix(f".{os.sep}"), "")
        for name in names:
            if not name.startswith("."):
                yield front + name


def _arrow_filesystem(path: str) -> tuple[Any, str]:
    from pyarrow import fs

    return cast("tuple[Any, str]", fs.FileSystem.from_uri(urls.address_of(path)))


def _arrow(path: str) -> list[SourceFile]:
    from pyarrow import fs

    filesystem, inside = _arrow_filesystem(path)
    info = filesystem.get_file_info(inside)
    infos = [info] if info.type == fs.FileType.File else []
    if info.type == fs.FileType.Directory:
        infos = filesystem.get_file_info(fs.FileSelector(inside, recursive=True))
    address = urls.address_of(path)
    prefix = address[: len(address) - len(inside)] if address.endswith(inside) else f"{scheme_of(path)}://"
    return [
        SourceFile(prefix + each.path, each.size, each.mtime_ns / 1e9 if each.mtime_ns else None)
        for each in infos
        if each.type == fs.FileType.File and not _hidden(each.path, inside)
    ]


def _fsspec_filesystem(path: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        message = f'{path}: reading {scheme_of(path)}:// needs fsspec: pip install "pychunk-native[io]"'
        raise ImportError(message) from None
    return cast("tuple[Any, str]", url_to_fs(urls.address_of(path)))


def _fsspec(path: str) -> list[SourceFile]:
    filesystem, inside = _fsspec_filesystem(path)
    info = filesystem.info(inside)
    if info["type"] == "file":
        return [_fsspec_file(path, info)]
    found = filesystem.find(inside, detail=True)
    return [
        _fsspec_file(filesystem.unstrip_protocol(name), each)
        for name, each in found.items()
        if not _hidden(name, inside)
    ]


def _fsspec_file(path: str, info: dict[str, Any]) -> SourceFile:
    modified = next((info[key] for key in ("mtime", "LastModified", "last_modified", "created") if info.get(key)), None)
    if isinstance(modified, datetime):
        modified = modified.timestamp()
    etag = info.get("ETag") or info.get("etag")
    seconds = float(modified) if isinstance(modified, (int, float)) else None
    return SourceFile(path, int(info.get("size") or 0), seconds, None if etag is None else str(etag))
