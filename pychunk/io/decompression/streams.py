"""The decompression of files to blocks of plain bytes, each of bounded size.

The table shows the most memory that a process takes, including its start. In the rows of compressions, the process
decompresses long runs of equal bytes with two threads. In the rows of formats, it reads one document of plain words or
short lines. The document is just short enough not to be refused, or for Markdown, just short enough to get blocks:

.bz2           400 MB
.gz            300 MB
.zst           300 MB
.xz            700 MB
.7z           1000 MB
mediawiki     1800 MB
wikiextractor  600 MB
jsonl         1400 MB
csv           1000 MB
text          1400 MB
markdown      1900 MB
parquet       2100 MB
arrow         1800 MB

For .xz and .7z, LZMA's dictionary may take up to 512 MB of this, if the file requests it. A file that requests more is
refused. A 7z archive packed by PPMd is also refused, because its unpacker crashes. For Parquet and Arrow the worst case
is rows that repeat one long value. A compressed record batch of Arrow is in memory as a whole. A batch is refused
before anything is unpacked if it has more than 1 GB unpacked, and more than 32 times its stored bytes. A row group of
Parquet is refused if a page of a column exceeds these limits. In a remote file, only the first page of each column is
checked. Later pages may have 2 GB each, so a remote file made for the purpose takes 4 GB. Characters outside Latin-1
take two or four times as much memory in Python's strings.
"""

from __future__ import annotations

import codecs
import lzma
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from ..._util.memory import check_memory
from ..document_batches import DeadLetter, DeadLetters
from . import bzip2, sevenzip
from .bzip2 import Block

_READ = 1 << 20
_SMALL = 64 << 10
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst", b"\xfd7zX": "xz", b"7z\xbc\xaf": "7z"}
_ENDINGS = (".gz", ".bz2", ".zst", ".xz", ".7z")
#: The memory that an .xz file may request: a dictionary of at most 512 MB, and 1 MB for LZMA itself.
_XZ_BYTES = 513 << 20


def bare(name: str) -> str:
    """Return a file's name without the suffix of its compression."""
    lower = name.lower()
    if not lower.endswith(_ENDINGS):
        return name
    return name[: -next(len(ending) for ending in _ENDINGS if lower.endswith(ending))]


def blocks(file: BinaryIO, name: str, dead_letters: DeadLetters, *, threads: int = 1) -> Iterator[Block]:
    """Yield the plain bytes of a file; gzip, bzip2, Zstandard, xz and 7z are recognized by their first bytes.

    Data that cannot be decompressed becomes a dead letter, and a block with ``gap`` takes its place.
    """
    return _joined(_decompressed(file, name, dead_letters, threads))


def _joined(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield the blocks, with small ones joined until they have ``_SMALL`` bytes.

    A file may have thousands of streams of a few bytes each.
    """
    held = bytearray()
    for block in blocks:
        if not held and (block.gap or len(block.data) >= _SMALL):
            yield block
            continue
        held += block.data
        last = block._replace(data=b"", gap=False)
        if block.gap or len(held) >= _SMALL:
            yield last._replace(data=bytes(held))
            held.clear()
            if block.gap:
                yield block
    if held:
        yield last._replace(data=bytes(held))


def _decompressed(file: BinaryIO, name: str, dead_letters: DeadLetters, threads: int) -> Iterator[Block]:
    head = file.read(4)
    source = _PrefixedFile(head, file)
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if kind == "bz2":
        yield from bzip2.blocks(source, name, dead_letters, threads=threads)
        return
    read = {"gz": _gzip, "zst": _zstandard, "xz": _xz}.get(kind or "", _plain)
    try:
        for block in sevenzip.blocks(file, _READ) if kind == "7z" else read(source):
            source.position = max(source.position, block.bytes_read)  # a 7z archive is not read through ``source``
            yield block
    except (zlib.error, lzma.LZMAError, EOFError, OSError, pa.ArrowException, MemoryError) as error:
        check_memory(error)
        reason = f"cannot be read further: {error or type(error).__name__}"
        dead_letters(DeadLetter(name, f"stored byte {source.position}", reason))
        yield Block(b"", source.position, gap=True)


class _PrefixedFile:
    """A file whose first bytes were already read, with a count of all bytes read."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self._head, self._file = head, file
        self.position = 0
        self.closed = False

    def close(self) -> None:
        """Do nothing, because the caller that opened the file closes it."""

    def read(self, size: int = _READ) -> bytes:
        if self._head:
            data, self._head = self._head, b""
            if len(data) < size:
                data += self._file.read(size - len(data))
        else:
            data = self._file.read(size)
        self.position += len(data)
        return data


def _plain(source: _PrefixedFile) -> Iterator[Block]:
    while data := source.read():
        yield Block(data, source.position)


def _gzip(source: _PrefixedFile) -> Iterator[Block]:
    inner: Any = zlib.decompressobj(31)
    began = False
    while data := source.read():
        while data:
            if inner.eof:
                data = data.lstrip(b"\0")  # members may be padded
                if not data:
                    break
                inner, began = zlib.decompressobj(31), False
            began = True
            out = inner.decompress(data, _READ)
            if out:
                yield Block(out, source.position)
            data = inner.unused_data if inner.eof else inner.unconsumed_tail
    while began and not inner.eof and (out := inner.decompress(b"", _READ)):
        yield Block(out, source.position)  # this output exceeded the limit of the last call
    if began and not inner.eof:
        raise EOFError("the file ends inside a gzip member: it is cut off; get it again")


def _xz(source: _PrefixedFile) -> Iterator[Block]:
    inner = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_BYTES)
    while data := source.read():
        while data or not inner.needs_input:
            if inner.eof:
                data = data.lstrip(b"\0")  # streams may be padded
                if not data:
                    break
                inner = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_BYTES)
            out = inner.decompress(data, _READ)
            data = inner.unused_data if inner.eof else b""
            if out:
                yield Block(out, source.position)
    if not inner.eof:
        raise EOFError("the file ends inside an xz stream: it is cut off; get it again")


def _zstandard(source: _PrefixedFile) -> Iterator[Block]:
    with pa.CompressedInputStream(pa.PythonFile(source, mode="r"), "zstd") as stream:
        while data := stream.read(_READ):
            yield Block(data, source.position)


def without_mark(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield blocks without the byte order mark of UTF-8 at the beginning, which is not part of the text."""
    first = next(blocks, None)
    if first is not None:
        yield first._replace(data=first.data.removeprefix(b"\xef\xbb\xbf"))
        yield from blocks


def encoding_of(name: str | None) -> str:
    """Return the name of Python's codec for an encoding, or "" for UTF-8.

    Raises:
        ValueError: No codec that decodes bytes to text has this name.
    """
    if name is None:
        return ""
    try:
        "a".encode(name)
        found = codecs.lookup(name)
        codecs.getincrementaldecoder(name)
    except (LookupError, ValueError, TypeError):
        raise ValueError(
            f"unknown encoding {name!r}: pass one that Python knows, such as utf-8, latin-1, cp1252, utf-16 or gb18030"
        ) from None
    return "" if found.name in ("utf-8", "utf-8-sig") else found.name


def as_utf8(blocks: Iterator[Block], encoding: str) -> Iterator[Block]:
    """Yield blocks in another encoding converted to UTF-8. Bytes that are invalid in that encoding become the byte FF.

    UTF-8 never has the byte FF. A parser of the converted blocks therefore reports the invalid bytes where they are,
    as in a file of UTF-8.
    """
    decoder = codecs.getincrementaldecoder(encoding)(_WRONG)
    last: Block | None = None
    for block in blocks:
        last = block
        data = decoder.decode(block.data, block.gap).encode("utf-8", _WRONG)
        if block.gap:
            if data:
                yield Block(data, block.bytes_read)
            decoder.reset()
            data = b""
        yield block._replace(data=data)
    if last is not None and (data := decoder.decode(b"", True).encode("utf-8", _WRONG)):
        yield Block(data, last.bytes_read)


#: The error handler that turns bytes that cannot be decoded into a lone surrogate, and that surrogate into the byte FF.
_WRONG = "pychunk-wrong"


def _marked(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeDecodeError):
        return "\udcff", error.end
    if isinstance(error, UnicodeEncodeError):
        return b"\xff" * (error.end - error.start), error.end
    raise error


codecs.register_error(_WRONG, _marked)
