"""The readers of files that contain documents of several kinds: mailboxes, archives, and the attachments of mails."""

from __future__ import annotations

import codecs
import io
import re
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

import pyarrow as pa

from . import kinds
from .decompression.bzip2 import Block
from .document_batches import EXCERPT_BYTES, DeadLetter, Document
from .formats.converted_files import RawFile
from .formats.paged_files import MAX_BYTES
from .recognition import is_json_document, kind_by, kind_of, kind_of_bytes, on_request, why_unread

if TYPE_CHECKING:
    from .kinds import ParserInput, ParserOptions

#: The maximum number of containers inside each other. A letter reports deeper ones, such as a zip file of itself.
MAX_DEPTH = 3
#: The maximum number of members that are read from one archive.
MAX_MEMBERS = 100_000
#: The maximum number of plain bytes that are read from one archive, in multiples of its stored bytes, above
#: ``_SMALL``. Text has 2 to 10; the formats of Office inside an archive have 1.
MAX_RATIO, _SMALL = 100, 64 << 20
#: The line before each mail of a mailbox, which ends with a date, and the most bytes of it that are examined.
_FROM = re.compile(rb"(?:\A|\n\r?\n)(From [^\r\n]{1,250}?\d\d:\d\d)")
_LEAST = 300
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)


def contained(
    file: ParserInput, name: str, data: bytes, read: int, asked: ParserOptions
) -> Iterator[Document | RawFile]:
    """Yield the documents of a file inside another one, with the id ``outer/name``; report it if it cannot be read.

    Args:
        file: The outer file.
        name: The name of the inner file.
        data: The bytes of the inner file.
        read: The number of the outer file's bytes, as they are stored, up to the end of the inner file.
        asked: The options of the parsers.
    """
    path = f"{file.name}/{name}"

    def tell(reason: str) -> None:
        file.tell(DeadLetter(path, "whole file", reason, data[:EXCERPT_BYTES], partial=True))

    given = kind_by(name, asked.endings)
    kind = given or kind_inside(name, data)
    if kind is None or (kind == "image" and not (given or asked.ocr)):
        tell(f"not read: {why_unread(name, data[:4096])}")
        return
    own = kinds.KINDS[kind]
    if kind in kinds.OUTSIDE:
        tell(f"not read: files of kind {kind} are not read inside other files: unpack it")
    elif own.lacks:
        tell(f"not read: of kind {kind}, which needs {own.lacks}: {own.install}")
    elif own.is_container and file.depth + 1 >= MAX_DEPTH:
        tell(f"not read: more than {MAX_DEPTH} files contain each other: unpack the outer ones")
    else:
        for item in own.read(file.inside(path, data), asked):
            if isinstance(item, Document) and not own.is_container:
                item = item._replace(more=_widened(item, kind))
            yield item._replace(file=file.file, bytes_read=read)


def kind_inside(name: str, data: bytes) -> str | None:
    """Return the kind of a file inside another one, by its name, or for .json by its bytes; None if there is none."""
    if name.lower().endswith(".json"):
        said = kind_of_bytes(data[:4096])
        return said if said is not None and (said != "jsonl" or not is_json_document(data)) else "json"
    return kind_of(name) or on_request(name)


def _widened(document: Document, kind: str) -> tuple[Any, ...]:
    """Return the values of a document in the columns of containers."""
    own: dict[str, Any] = {"page_starts": pa.array([[]], pa.list_(pa.int64()))}
    own |= dict(zip((name for name, _ in kinds.KINDS[kind].columns), document.more, strict=True))
    return tuple(own.get(name) for name, _ in kinds.CONTAINED)


def mailbox(file: ParserInput, asked: ParserOptions) -> Iterator[RawFile]:
    """Yield the mails of a mailbox in the format mbox; the id is the mailbox's name and the mail's number from 1."""
    held = bytearray()
    number, begun, at, read = 0, -1, 0, 0

    def mail(end: int) -> RawFile:
        lines = bytes(held[begun:end])
        data = _QUOTED_FROM.sub(rb"\1", lines[lines.find(b"\n") + 1 :])
        return RawFile(data, f"{file.name}#{number}", file.file, "mail", max(1, len(data)), read, file.depth)

    for block in file.stored():
        if block.gap:
            break
        held += block.data if read else block.data.removeprefix(codecs.BOM_UTF8)
        for found in _FROM.finditer(held, at):
            if number:
                yield mail(found.start(1))
            elif held[: found.start(1)].strip():
                before, reason = (
                    bytes(held[: min(found.start(1), EXCERPT_BYTES)]),
                    "no mail: it is before the first one",
                )
                file.tell(DeadLetter(file.name, f"bytes 0 to {found.start(1)}", reason, before, partial=True))
            number, begun = number + 1, found.start(1)
        read = block.bytes_read
        if number:
            del held[:begun]
            begun = 0
        at = max(5, len(held) - _LEAST) if number else max(0, len(held) - _LEAST)
        if len(held) > MAX_BYTES:
            file.tell(DeadLetter(file.name, f"mail {number}", f"longer than {MAX_BYTES:,} bytes"))
            return
    if number:
        yield mail(len(held))
    else:
        excerpt = bytes(held[:EXCERPT_BYTES])
        file.tell(
            DeadLetter(file.name, "whole file", "not a mailbox: no line begins with 'From ' and has a date", excerpt)
        )


def zipped(file: ParserInput, asked: ParserOptions) -> Iterator[Document | RawFile]:
    """Yield the documents of a zip archive, in the order of its members."""
    with file.at() as found, _opened(cast(BinaryIO, found)) as archive:
        count = 0
        limit = _Limit(file, reads_all=False)
        names = Names()
        for info in archive.infolist():
            if info.is_dir() or _is_hidden(info.filename):
                continue
            name = names.unique(_name_of(info))
            count += 1
            if (verdict := limit.verdict(name, count, info.file_size)) == "end":
                return
            if verdict == "skip":
                continue
            try:  # NotImplementedError: a compression that zipfile does not know
                if info.flag_bits & 1:
                    raise ValueError("encrypted: unpack the archive with its password")
                data = archive.read(info)
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, RuntimeError) as error:
                file.tell(DeadLetter(f"{file.name}/{name}", "whole file", f"cannot be read: {error}", partial=True))
                continue
            yield from contained(file, name, data, file.size, asked)


class Names:
    """The names of the files in one archive or mail, which may repeat, while ids may not.

    Example:
        >>> names = Names()
        >>> [names.unique(name) for name in ("in/a.txt", "./in/a.txt", "in/a.txt", "b.tar.gz")]
        ['in/a.txt', 'in/a#2.txt', 'in/a#3.txt', 'b.tar.gz']
    """

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def unique(self, name: str) -> str:
        """Return a name, with a number before its endings if it was there before."""
        name = name.removeprefix("./")
        self._seen[name] += 1
        if (number := self._seen[name]) == 1:
            return name
        folder, slash, base = name.rpartition("/")
        stem, dot, ending = base.partition(".")
        return f"{folder}{slash}{stem}#{number}{dot}{ending}"


def _name_of(info: zipfile.ZipInfo) -> str:
    """Return the name of a member: in UTF-8 if its bytes are, although some programs do not declare it."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename


def _opened(file: BinaryIO) -> zipfile.ZipFile:
    """Open a zip archive. One of less than 42 bytes, which has no members, is an error of Arrow, so it is copied."""
    try:
        return zipfile.ZipFile(file)
    except ValueError:
        file.seek(0)
        return zipfile.ZipFile(io.BytesIO(file.read()))


def tarred(file: ParserInput, asked: ParserOptions) -> Iterator[Document | RawFile]:
    """Yield the documents of a tar archive, which may be compressed, in the order of its members."""
    stream = _Stream(file.stored())
    count = 0
    limit = _Limit(file, reads_all=True)
    names = Names()
    with tarfile.open(fileobj=cast(BinaryIO, stream), mode="r|") as archive:
        for info in archive:
            is_read = info.isfile() and not _is_hidden(info.name)
            count += is_read
            name = names.unique(info.name) if is_read else info.name
            if (verdict := limit.verdict(name, count, info.size, is_read)) == "end":  # all bytes are decompressed
                return
            if verdict == "skip" or not is_read:
                continue
            member = archive.extractfile(info)
            data = b"" if member is None else member.read()
            yield from contained(file, name, data, stream.bytes_read, asked)


class _Limit:
    """The limits of what is read from one archive. What is above one becomes a dead letter.

    Args:
        file: The archive.
        reads_all: Whether the bytes of a member that is skipped are decompressed, too.
    """

    def __init__(self, file: ParserInput, *, reads_all: bool) -> None:
        self._file, self._reads_all, self._plain = file, reads_all, 0
        self._most = max(_SMALL, MAX_RATIO * file.size)

    def verdict(self, name: str, count: int, size: int, is_read: bool = True) -> Literal["read", "skip", "end"]:
        """Return what happens to a member, of which the archive says that it has ``size`` bytes.

        Args:
            name: The name of the member.
            count: The number of members to be read, up to this one.
            size: Its bytes.
            is_read: Whether it would be read. If not, as a hidden one, its length matters for the sum alone.
        """
        if count > MAX_MEMBERS:
            reason = f"more than {MAX_MEMBERS:,} members: the rest is not read; unpack the archive"
            self._file.tell(DeadLetter(self._file.name, f"member {count:,}", reason, partial=True))
            return "end"
        is_bomb = self._plain + size > self._most
        if is_bomb or (is_read and size > MAX_BYTES):
            reason = f"longer than {MAX_BYTES:,} bytes: unpack the archive"
            if is_bomb:
                rest = "; the members after it are not read, either" if self._reads_all else ""
                reason = f"a bomb? With it, the archive has more than {self._most:,} bytes: unpack it{rest}"
            self._file.tell(DeadLetter(f"{self._file.name}/{name}", "whole file", reason, partial=True))
            self._plain += size if self._reads_all else 0
            return "end" if is_bomb and self._reads_all else "skip"
        self._plain += size
        return "read"


class _Stream:
    """The decompressed bytes of a file, as tarfile reads them, with the number of stored bytes up to there."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks, self._held, self.bytes_read = blocks, b"", 0

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes, fewer at the end."""
        parts = [self._held]
        have = len(self._held)
        while have < size and (block := next(self._blocks, None)) is not None and not block.gap:
            parts.append(block.data)
            have += len(block.data)
            self.bytes_read = block.bytes_read
        whole = b"".join(parts)
        self._held = whole[size:]
        return whole[:size]


def _is_hidden(name: str) -> bool:
    """Return whether a member is hidden, as in a folder, or one of macOS's copies of attributes."""
    return any((part.startswith(".") and part not in (".", "..")) or part == "__MACOSX" for part in name.split("/"))


def whole(file: ParserInput, found: Iterator[Document | RawFile]) -> Iterator[Document | RawFile]:
    """Yield the documents of an archive; if the archive is damaged, report it after those before the damage."""
    try:
        yield from found
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError) as error:
        file.tell(DeadLetter(file.name, "whole file", f"damaged or cut off: {error}"))
