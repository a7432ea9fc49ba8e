"""The files of one or several paths, with the kind of each: by its name, or by its first bytes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from . import files
from .decompression import streams
from .decompression.bzip2 import Block
from .document_batches import DeadLetter
from .files import SourceFile
from .kinds import KINDS, holds_nothing, is_plain, kind_of, kind_of_bytes, may_be, why_unread
from .wiki import mediawiki

#: The number of bytes at a file's beginning that tell its kind if its name does not.
_HEAD = 4096


def listed(paths: list[str], kind: str, encoding: str) -> tuple[list[SourceFile], list[str], list[str]]:
    """Return the files to read, the kind of each, and the files that are not read.

    Raises:
        ValueError: no path, a file that two of them name, a folder without a file of the kind, or a file of an
            unknown kind; the message says what to name.
    """
    return _listed(paths[0], kind, encoding) if len(paths) == 1 else _listed_together(paths, kind, encoding)


def check_once(inputs: Iterable[tuple[str, Iterable[SourceFile]]]) -> None:
    """Raise if two inputs name the same file in any spelling, as its documents would come twice.

    Raises:
        ValueError: A file is named twice; the message names it and both inputs.
    """
    seen: dict[str, str] = {}
    for path, found in inputs:
        for file in found:
            own = file.path if file.path == "-" or files.scheme_of(file.path) else os.path.abspath(file.path)
            if own in seen:
                by = "" if seen[own] == path else f", by {seen[own]} and by {path}"
                raise ValueError(f"{file.path} is named twice{by}: name it once")
            seen[own] = path


def _listed_together(paths: list[str], kind: str, encoding: str) -> tuple[list[SourceFile], list[str], list[str]]:
    """Return what :func:`_listed` returns, for several paths one after the other."""
    if not paths:
        raise ValueError("name a file, a folder or a URL; got an empty list")
    if "-" in paths:
        raise ValueError(
            "standard input (-) cannot be combined with other inputs: write it to a file, or leave the others out"
        )
    listed = [_listed(each, kind, encoding) for each in paths]
    check_once(zip(paths, (found for found, _, _ in listed), strict=True))
    found, kinds, ignored = ([each for part in parts for each in part] for parts in zip(*listed, strict=True))
    return found, kinds, ignored


def _listed(path: str, kind: str, encoding: str) -> tuple[list[SourceFile], list[str], list[str]]:
    """Return the files to read, the kind of each, and the files that are not read."""
    if path == "-":
        return [SourceFile("-", 0, None)], ["text" if kind == "auto" else kind], []
    found = files.find_if_reached(path)
    if len(found) == 1 and found[0].path == files.plain(path):
        return found, [kind if kind != "auto" else _recognised(found[0].path)], []
    kinds = {file.path: _kind_in_folder(file.path, kind) for file in found}
    again = _again(kinds)
    for name in again:
        kinds[name] = None
    if not any(kinds.values()):
        kinds = {file.path: _sniffed(file.path) for file in found} if kind == "auto" else dict.fromkeys(kinds, kind)
    elif kind != "auto":
        for name, own in kinds.items():
            if own is None and name not in again and not holds_nothing(name) and _may_be(name, kind, encoding):
                kinds[name] = kind
    wanted = {each: place for place, each in enumerate(KINDS) if kind in ("auto", each)}
    known = ((file, kinds[file.path]) for file in found)
    chosen = [(file, each) for file, each in known if each in wanted]
    chosen.sort(key=lambda own: wanted[own[1]])
    if not chosen and kind == "auto":
        raise ValueError(
            f"{path} holds no file of a known kind; pass kind=, one of {', '.join(KINDS)} (text reads text of any name)"
        )
    if not chosen:
        raise ValueError(f"{path} holds no file with a name of kind {kind!r}")
    others = [file.path for file in found if kinds[file.path] not in wanted]
    return (
        [file for file, _ in chosen],
        [each for _, each in chosen],
        [files.unwritable(path) or path for path in others],
    )


def unread(ignored: list[str], found: Sequence[SourceFile]) -> list[str]:
    """Return the files of a folder that are not read, except those whose names say that they hold no documents."""
    if not ignored:
        return []
    again = set(_again([*ignored, *(file.path for file in found)]))
    return [path for path in ignored if path not in again and not holds_nothing(path)]


def has_documents(path: str) -> bool:
    """Return whether a local folder has a file, not a table, whose name is that of documents; lists no files."""
    if files.scheme_of(path) or not os.path.isdir(path):
        return False
    kinds = map(kind_of, files.walked(path))
    return any(kind is not None and not KINDS[kind].is_table for kind in kinds)


def _kind_in_folder(path: str, kind: str) -> str | None:
    """Return the kind that a name says in a folder; for .json and .xml the first bytes decide.

    Many formats use these two names.
    """
    found = kind_of(path, kind)
    name = files.base_name(path).lower()
    is_json = streams.bare(name).endswith(".json") and found is None
    is_xml = streams.bare(name).endswith(".xml") and not name.endswith(".7z") and "-pages-" not in name
    # The name of a dump needs no check, and the reader requests a remote file only if it would be read.
    if not is_xml and (files.scheme_of(path) or not is_json):
        return found
    try:
        head = head_of(path)
    except (OSError, ImportError):  # reading the file reports the error, if it is read
        return found
    said = kind_of_bytes(head)
    if is_json:
        # An object may be anything, most often settings.
        is_known = said == "docling" or head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        return said if is_known and kind in ("auto", said) else None
    return said if said == "html" else found if mediawiki.may_be(head) else None


def _may_be(path: str, kind: str, encoding: str) -> bool:
    """Return whether a file of an unknown name may be of the kind that is asked for, by its first bytes."""
    try:
        return may_be(head_of(path), kind, encoding)
    except (OSError, ImportError):  # reading the file reports the error
        return True


def _again(names: Iterable[str]) -> list[str]:
    """Return the .7z files that also exist in another compression, as Wikimedia offers them."""
    packed = {name for name in names if name.lower().endswith(".7z")}
    others = {streams.bare(name) for name in names if name not in packed} if packed else set()
    return [name for name in packed if streams.bare(name) in others]


def _recognised(path: str) -> str:
    """Return the kind of a file that is named by itself; text with an unknown name is of kind text."""
    if (kind := kind_of(path)) is not None:
        return kind
    try:
        head = head_of(path)
    except OSError:
        if not files.scheme_of(path):
            raise
        return "text"  # reading the file reports the same error, in a dead letter
    if (kind := kind_of_bytes(head)) is not None:
        return kind
    why = why_unread(path, head)
    if is_plain(why):
        return "text"
    raise ValueError(f"{path}: unknown kind of file ({why}); pass kind=, one of {', '.join(KINDS)}")


def _sniffed(path: str) -> str | None:
    """Return the kind that a file's first bytes say."""
    return kind_of_bytes(head_of(path))


def head_of(path: str) -> bytes:
    """Return the first bytes of a file, decompressed."""
    quiet: list[DeadLetter] = []
    with opened(path) as file:
        return next(iter(streams.blocks(file, path, quiet.append)), Block(b"", 0)).data[:_HEAD]


class _StandardInput:
    """A context manager for standard input, which stays open after reading."""

    def __enter__(self) -> BinaryIO:
        return sys.stdin.buffer

    def __exit__(self, *_: object) -> None:
        return None


def opened_at(path: str) -> Any:
    """Open a file for Arrow's readers, with Arrow's own file if possible.

    Arrow's threads call a Python file even while the process ends.
    """
    return _StandardInput() if path == "-" else files.open_at(path)


def opened(path: str) -> Any:
    """Open a file, or standard input for "-", for reading bytes."""
    return _StandardInput() if path == "-" else files.open_binary(path)
