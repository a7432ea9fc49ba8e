"""The list of files that one or several paths name, with the kind of each, from its name or its first bytes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from .._util.counting import counted
from . import files
from .decompression import streams
from .decompression.bzip2 import Block
from .document_batches import DeadLetter
from .files import SourceFile
from .formats.text_files import not_text
from .kinds import KINDS
from .recognition import (
    Endings,
    holds_nothing,
    is_json_document,
    is_plain,
    kind_by,
    kind_of,
    kind_of_bytes,
    may_be,
    on_request,
    why_unread,
)
from .wiki import mediawiki

#: The number of bytes at a file's beginning that identify its kind if its name does not.
_HEAD = 4096
#: The kinds whose files are an error, and not only left out of a folder, if the packages that they need are missing.
#: Otherwise an index of a website, updated on a machine without the extra ``docs``, would lose all pages.
_REQUIRED = ("html", "pdf")


def listed(
    paths: list[str], kind: str, encoding: str, endings: Endings = (), *, ocr: bool = False
) -> tuple[list[SourceFile], list[str], list[str]]:
    """Return the files to read, the kind of each, and the files that are not read.

    ``endings`` has the kinds of files whose names end so, whatever else would tell their kind. With ``ocr``, images in
    folders are files to read.

    Raises:
        ValueError: There is no path, two paths name the same file, a folder has no file of the kind, or a file is of an
            unknown kind. The message says what to pass.
    """
    if len(paths) == 1:
        return _listed(paths[0], kind, encoding, endings, ocr=ocr)
    return _listed_together(paths, kind, encoding, endings, ocr=ocr)


def check_once(inputs: Iterable[tuple[str, Iterable[SourceFile]]]) -> None:
    """Raise an error if two inputs name the same file, even in different spellings: its documents would come twice.

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


def _listed_together(
    paths: list[str], kind: str, encoding: str, endings: Endings, *, ocr: bool
) -> tuple[list[SourceFile], list[str], list[str]]:
    """Return what :func:`_listed` returns, for several paths one after the other."""
    if not paths:
        raise ValueError("name a file, a folder or a URL; got an empty list")
    if "-" in paths:
        raise ValueError(
            "standard input (-) cannot be combined with other inputs: write it to a file, or leave out the other inputs"
        )
    listed = [_listed(each, kind, encoding, endings, ocr=ocr) for each in paths]
    check_once(zip(paths, (found for found, _, _ in listed), strict=True))
    found, kinds, ignored = ([each for part in parts for each in part] for parts in zip(*listed, strict=True))
    return found, kinds, ignored


def _listed(
    path: str, kind: str, encoding: str, endings: Endings, *, ocr: bool
) -> tuple[list[SourceFile], list[str], list[str]]:
    """Return the files to read, the kind of each, and the files that are not read."""
    if path == "-":
        return [SourceFile("-", 0, None)], [_of_standard_input(ocr=ocr) if kind == "auto" else kind], []
    found = files.find_if_reached(path)
    if len(found) == 1 and found[0].path == files.plain(path):
        only = found[0].path
        return found, [kind if kind != "auto" else kind_by(only, endings) or _recognised(only)], []
    lacking: dict[str, bool] = {}
    kinds = {
        file.path: kind_by(file.path, endings) or _kind_in_folder(file.path, kind, lacking, ocr=ocr) for file in found
    }
    again = _again(kinds)
    for name in again:
        kinds[name] = None
    if not any(kinds.values()):
        kinds = (
            {file.path: _sniffed(file.path, ocr=ocr) for file in found}
            if kind == "auto"
            else dict.fromkeys(kinds, kind)
        )
    elif kind != "auto":
        for name, own in kinds.items():
            if own is None and name not in again and not holds_nothing(name) and _may_be(name, kind, encoding):
                kinds[name] = kind
    wanted = {each: place for place, each in enumerate(KINDS) if kind in ("auto", each)}
    known = ((file, kinds[file.path]) for file in found)
    chosen = [(file, each) for file, each in known if each in wanted]
    chosen.sort(key=lambda own: wanted[own[1]])
    if not chosen and kind == "auto":
        images = sum(on_request(file.path) == "image" for file in found)
        how = f"; or pass ocr=True to read its {counted(images, 'image')}" if images else ""
        raise ValueError(
            f"{path} holds no file of a known kind; pass kind=, one of {', '.join(KINDS)} (text reads files of any "
            f"name as text){how}"
        )
    if not chosen:
        raise ValueError(
            f"{path} holds no file whose name fits kind {kind!r}; pass kind='auto', or the kind of its files"
        )
    others = [file.path for file in found if kinds[file.path] not in wanted]
    return (
        [file for file, _ in chosen],
        [each for _, each in chosen],
        [files.unwritable(path) or path for path in others],
    )


def unread(ignored: list[str], found: Sequence[SourceFile]) -> list[str]:
    """Return the files of a folder that are not read, except files whose names show that they hold no documents."""
    if not ignored:
        return []
    again = set(_again([*ignored, *(file.path for file in found)]))
    return [path for path in ignored if path not in again and not holds_nothing(path)]


def has_documents(path: str, endings: Endings = ()) -> bool:
    """Return whether a local folder has a file whose name is of a kind other than tables; stop at the first one."""
    if files.scheme_of(path) or not os.path.isdir(path):
        return False
    kinds = (kind_by(name, endings) or kind_of(name) for name in files.walked(path))
    return any(kind is not None and not KINDS[kind].is_table for kind in kinds)


def _kind_in_folder(path: str, kind: str, lacking: dict[str, bool], *, ocr: bool) -> str | None:
    """Return the kind of a file in a folder by its name, or for .json and .xml by its first bytes.

    The first bytes decide because many formats use these two suffixes. If the packages that the kind needs are not
    installed, the result is None; ``lacking`` remembers for each kind whether that is so.
    """
    found = kind_of(path, kind)
    if found is None and ocr and on_request(path) == "image":
        return "image"
    if found is not None and kind == "auto":
        if found not in lacking:
            lacking[found] = found not in _REQUIRED and bool(KINDS[found].lacks)
        if lacking[found]:
            return None
    lower = path.lower()
    if ".json" not in lower and ".xml" not in lower:  # Of 8,000 files, the steps below took a tenth of the listing.
        return found
    if found == kind == "xml":
        return found
    name = files.base_name(lower)
    is_json = streams.bare(name).endswith(".json") and found is None
    is_xml = streams.bare(name).endswith(".xml") and not name.endswith(".7z") and "-pages-" not in name
    # A name with "-pages-" is that of a MediaWiki dump, so the first bytes need no check. Remote .json files are not
    # checked either, so that only files that will be read are requested.
    if not is_xml and (files.scheme_of(path) or not is_json):
        return found
    try:
        head = head_of(path)
    except (OSError, ImportError):  # reading the file reports the error, if it is read
        return found
    said = kind_of_bytes(head)
    if is_json:
        # A JSON object may be anything, and is most often a file of settings.
        is_known = said == "docling" or head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        if kind == "json":
            return kind
        return said if is_known and kind in ("auto", said) else None
    return said if said == "html" else found if mediawiki.may_be(head) else None


def _may_be(path: str, kind: str, encoding: str) -> bool:
    """Return whether the first bytes of a file, whose name identifies no kind, fit the requested kind."""
    try:
        return may_be(head_of(path), kind, encoding)
    except (OSError, ImportError):  # reading the file reports the error
        return True


def _again(names: Iterable[str]) -> list[str]:
    """Return the .7z files whose contents the list also has in another compression; Wikimedia offers dumps in both."""
    packed = {name for name in names if name.lower().endswith(".7z")}
    others = {streams.bare(name) for name in names if name not in packed} if packed else set()
    return [name for name in packed if streams.bare(name) in others]


def _recognised(path: str) -> str:
    """Return the kind of a file that the caller named; for a text file of unknown kind, return "text".

    Raises:
        ValueError: The kind is unknown, and the file is not text.
    """
    if (kind := kind_of(path)) is not None:
        return "xml" if kind == "mediawiki" and _is_other_xml(path) else kind
    try:
        first = _first_block(path)
    except OSError:
        if not files.scheme_of(path):
            raise
        return "text"  # reading the file reports the same error, in a dead letter
    head = first[:_HEAD]
    if (kind := kind_of_bytes(head)) is not None:
        return "json" if kind == "jsonl" and on_request(path) == "json" and is_json_document(first) else kind
    if (asked := on_request(path)) is not None and not not_text(head):
        return asked
    why = why_unread(path, head)
    if is_plain(why):
        return "text"
    raise ValueError(
        f"{path}: unknown kind of file ({why}); leave it out, or if it is one of these kinds, pass kind=, "
        f"one of {', '.join(KINDS)}"
    )


def _of_standard_input(*, ocr: bool) -> str:
    """Return the kind of a document on standard input by its first bytes, if it is a page or no text; else "text"."""
    peek = getattr(sys.stdin.buffer, "peek", None)
    head = b"" if peek is None else peek(_HEAD)[:_HEAD]
    kind = kind_of_bytes(head)
    is_read = kind is not None and not_text(head) and bool(KINDS[kind].function) and (ocr or kind != "image")
    return kind if kind is not None and (is_read or kind == "html") else "text"


def _is_other_xml(path: str) -> bool:
    """Return whether a local file whose name is that of a dump begins like another XML document."""
    if on_request(path) != "xml" or files.scheme_of(path) or "-pages-" in path:
        return False
    try:
        return not mediawiki.may_be(head_of(path))
    except (OSError, ImportError):  # reading the file reports the error
        return False


def _sniffed(path: str, *, ocr: bool) -> str | None:
    """Return the kind that a file's first bytes identify, or None for kinds that are read only on request."""
    first = _first_block(path)
    found = kind_of_bytes(first[:_HEAD])
    is_document = found == "jsonl" and on_request(path) == "json" and is_json_document(first)
    return None if is_document or (found == "image" and not ocr) else found


def head_of(path: str) -> bytes:
    """Return the first decompressed bytes of a file."""
    return _first_block(path)[:_HEAD]


def _first_block(path: str) -> bytes:
    quiet: list[DeadLetter] = []
    with opened(path) as file:
        return next(iter(streams.blocks(file, path, quiet.append)), Block(b"", 0)).data


class _StandardInput:
    """A context manager for standard input, which stays open after reading."""

    def __enter__(self) -> BinaryIO:
        return sys.stdin.buffer

    def __exit__(self, *_: object) -> None:
        return None


def opened_at(path: str) -> Any:
    """Open a file for Arrow's readers, if possible as a file of Arrow.

    With a Python file, Arrow's threads could still call Python while the process ends.
    """
    return _StandardInput() if path == "-" else files.open_at(path)


def opened(path: str) -> Any:
    """Open a file, or standard input for "-", for reading bytes."""
    return _StandardInput() if path == "-" else files.open_binary(path)
