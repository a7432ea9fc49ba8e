"""The decompression of a 7z archive of one file, in small steps; py7zr reads only the archive's header."""

from __future__ import annotations

import bz2
import importlib
import io
import itertools
import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from .bzip2 import Block

#: The maximum size of an archive's dictionaries, in bytes. A decompressor allocates the size that the header requests.
#: 7-Zip's strongest setting requests 256 MB.
MAX_DICTIONARY = 512 << 20
#: The maximum size of an unpacked header in bytes. An archive of one file has a header of a few hundred bytes. A longer
#: header may list many files, each of which takes a Python object.
MAX_HEADER = 1 << 20
_COPY, _LZMA, _LZMA2, _PPMD, _AES = b"\0", b"\x03\x01\x01", b"\x21", b"\x03\x04\x01", b"\x06\xf1\x07\x01"
_ENCODED = b"\x17"
#: The packed bytes read, and plain bytes requested, at once.
_READ = 32 << 10
_OUTPUT = 1 << 20
#: The packed bytes that are passed to deflate64 at once, because its output cannot be limited. It makes at most 7 MB
#: from them.
_CRUMB = 256


def blocks(file: BinaryIO, size: int) -> Iterator[Block]:
    """Yield the plain bytes of the archive's file in blocks of at most ``size``, unpacked only on request.

    Raises:
        ImportError: py7zr is not installed.
        OSError, EOFError: The archive is damaged or encrypted, or holds more than one file.
    """
    try:
        import py7zr
    except ImportError:
        raise ImportError(
            'reading .7z needs py7zr: pip install "pychunk-native[7z]", or unpack it into a pipe, with 7z x -so FILE'
        ) from None
    if not file.seekable():
        raise OSError(
            "a 7z archive cannot be read from a stream: save it as a file, or unpack it into the stream, with "
            "7z x -so FILE"
        )
    try:
        _check_header(file)
        file.seek(0)
        with py7zr.SevenZipFile(file) as archive:
            members = [member for member in archive.list() if not member.is_directory]
            if len(members) != 1:
                raise OSError(f"the archive holds {len(members)} files, not one: unpack it into a folder")
            done = crc = 0
            for data in _member(file, archive, members[0].uncompressed):
                done, crc = done + len(data), zlib.crc32(data, crc)
                for begin in range(0, len(data), size):
                    yield Block(data[begin : begin + size], file.tell())
            if done < members[0].uncompressed:
                raise EOFError(
                    f"the archive's data ends after {done:,} of {members[0].uncompressed:,} bytes: get it again"
                )
            if members[0].crc32 is not None and crc != members[0].crc32:
                raise OSError("the archive is damaged: the file's checksum does not match; get it again")
    except (OSError, EOFError, MemoryError):
        raise
    except Exception as error:  # py7zr and its decompressors raise errors of many classes
        raise OSError(f"{type(error).__name__}: {error}") from error


def _check_header(file: BinaryIO) -> None:
    """Raise OSError for a header that would take too much memory. Usually the header itself is packed, too."""
    from py7zr.archiveinfo import HeaderStreamsInfo, SignatureHeader

    begin = SignatureHeader.retrieve(file)
    _check_size(begin.nextheadersize)
    file.seek(begin.nextheaderofs, os.SEEK_CUR)
    header = io.BytesIO(file.read(begin.nextheadersize))
    if header.read(1) == _ENCODED:
        folders = HeaderStreamsInfo.retrieve(header).unpackinfo.folders
        for folder in folders:
            if not all(coder["method"] in (_COPY, _LZMA, _LZMA2, _AES) for coder in folder.coders):
                raise OSError("the archive's header is packed by a method other than LZMA: pipe it in, 7z x -so")
        _check_size(sum(size for folder in folders for size in folder.unpacksizes))
        _check_dictionaries(folders)


def _check_size(size: int) -> None:
    if size > MAX_HEADER:
        raise OSError(
            f"the archive's header has {size:,} bytes; the header of one file has at most {MAX_HEADER:,}: "
            "unpack it into a folder"
        )


def _check_dictionaries(folders: Any) -> None:
    size = sum(_dictionary(coder["method"], coder["properties"] or b"") for each in folders for coder in each.coders)
    if size > MAX_DICTIONARY:
        raise OSError(
            f"the archive asks for a dictionary of {size:,} bytes; at most {MAX_DICTIONARY:,} are allowed: "
            "pipe it in, 7z x -so"
        )


def _dictionary(method: bytes, properties: bytes) -> int:
    """Return the bytes of memory that a coder's properties request, or 0 for a coder that needs little memory."""
    if method == _LZMA2 and properties:
        power = min(properties[0], 40)
        return (1 << 32) - 1 if power == 40 else (2 | power & 1) << (power // 2 + 11)
    if method in (_LZMA, _PPMD) and len(properties) >= 5:
        return int.from_bytes(properties[1:5], "little")
    return 0


def _member(file: BinaryIO, archive: Any, size: int) -> Iterator[bytes]:
    """Yield the archive's only file, about ``_OUTPUT`` bytes at a time; each coder reads the previous one's output."""
    streams = archive.header.main_streams
    if not size or not streams:
        return
    (folder,) = streams.unpackinfo.folders
    _check_dictionaries([folder])
    if any(coder["method"] == _PPMD for coder in folder.coders):  # pyppmd 1.3 crashes with half of the archives of 5 MB
        raise OSError(
            "the archive is packed by PPMd, for which no unpacker is safe: unpack it into a pipe, with 7z x -so FILE"
        )
    packed = streams.packinfo.packsizes[0]
    made = folder.get_decompressor(packed)
    file.seek(archive.afterheader + streams.packinfo.packpos)
    pieces = _stored(file, packed)
    sizes = made._unpacksizes[: len(made.chain) - 1]
    for coder, length in zip(made.chain, [*sizes, size], strict=True):
        pieces = _unpacked(pieces, _coder(coder), length)
    yield from pieces


def _stored(file: BinaryIO, size: int) -> Iterator[bytes]:
    while size and (data := file.read(min(size, _READ))):
        size -= len(data)
        yield data


class _Coder(NamedTuple):
    """A coder whose ``unpack`` returns at most the requested bytes, and fewer only when it has used up its input."""

    unpack: Callable[[bytes, int], bytes]
    at_once: int = _OUTPUT


def _coder(coder: Any) -> _Coder:
    """Return a coder that does the work of a decompressor of py7zr, and that obeys a limit on its output.

    Decompressors that ignore such a limit are replaced. The one of deflate64 stays, but gets little input at a time.
    """
    known: Any = importlib.import_module("py7zr.compressor")
    if isinstance(coder, known.DeflateDecompressor):
        return _Coder(_Deflate().unpack)
    if isinstance(coder, known.ZstdDecompressor):
        return _Coder(_Streams(type(coder.decompressor)).unpack)
    if isinstance(coder, bz2.BZ2Decompressor):
        return _Coder(_Streams(bz2.BZ2Decompressor).unpack)
    if isinstance(coder, known.BrotliDecompressor):
        return _Coder(_Brotli(known.brotli.Decompressor()).unpack)
    if isinstance(coder, known.Deflate64Decompressor):
        return _Coder(coder.decompress, _CRUMB)
    return _Coder(coder.decompress)


def _unpacked(packed: Iterator[bytes], coder: _Coder, length: int) -> Iterator[bytes]:
    """Yield at most ``length`` unpacked bytes."""
    for data in itertools.chain(packed, [b""]):
        for begin in range(0, max(1, len(data)), coder.at_once):
            given = data[begin : begin + coder.at_once]
            while True:
                most = min(_OUTPUT, length)
                out = coder.unpack(given, most)[:length]
                length -= len(out)
                if out:
                    yield out
                if not length:
                    return
                if len(out) < most:
                    break
                given = b""


class _Deflate:
    def __init__(self) -> None:
        self._inner: Any = zlib.decompressobj(-15)

    def unpack(self, data: bytes, most: int) -> bytes:
        return bytes(self._inner.decompress(self._inner.unconsumed_tail + data, most))


class _Brotli:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def unpack(self, data: bytes, most: int) -> bytes:
        out = bytes(self._inner.process(data, output_buffer_limit=most))
        while len(out) < most and (more := self._inner.process(b"", output_buffer_limit=most - len(out))):
            out += more
        return out


class _Streams:
    """A decompressor of consecutive streams of bz2 or Zstandard."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._inner = make, make()

    def unpack(self, data: bytes, most: int) -> bytes:
        out = b""
        while len(out) < most:
            if self._inner.eof:
                data = self._inner.unused_data + data
                if not data:
                    break
                self._inner = self._make()
            out += self._inner.decompress(data, most - len(out))
            data = b""
            if not self._inner.eof:
                break
        return out
