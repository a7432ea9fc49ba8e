"""A 7z archive of one file to plain bytes: py7zr pushes what it unpacks, a pipe lets the reader pull."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO

from .bzip2 import Block

#: Bytes that an archive's dictionary may have: it is allocated as the header says; 7-Zip's strongest takes 256 MB.
MAX_DICTIONARY = 512 << 20
_LZMA, _LZMA2, _PPMD = b"\x03\x01\x01", b"\x21", b"\x03\x04\x01"


def blocks(file: BinaryIO, size: int) -> Iterator[Block]:
    """The plain bytes of the archive's file in blocks of ``size``, unpacked in a thread as far as they are asked for.

    Raises:
        ImportError: py7zr is not installed.
        OSError: the archive is damaged, encrypted, or holds more than one file.
    """
    try:
        import py7zr
    except ImportError:
        raise ImportError('reading .7z needs py7zr: pip install "pychunk[7z]", or pipe it in: 7z x -so') from None
    if not file.seekable():
        raise OSError("a 7z archive cannot be read from a stream: unpack it, as 7z x -so does")
    stored = file.seek(0, os.SEEK_END)
    file.seek(0)
    try:
        with py7zr.SevenZipFile(file) as archive:
            members = [member for member in archive.list() if not member.is_directory]
            if len(members) != 1:
                raise OSError(f"the archive holds {len(members)} files, not one: unpack it into a folder")
            for folder in archive.header.main_streams.unpackinfo.folders if archive.header.main_streams else ():
                for coder in folder.coders:
                    if (size_of := _dictionary(coder["method"], coder["properties"] or b"")) > MAX_DICTIONARY:
                        raise OSError(
                            f"the archive asks for a dictionary of {size_of:,} bytes; at most {MAX_DICTIONARY:,} are "
                            "allowed: pipe it in, 7z x -so"
                        )
            plain, done = max(1, members[0].uncompressed), 0
            for data in _pulled(archive, size):
                done += len(data)
                yield Block(data, stored * min(done, plain) // plain)
    except (OSError, EOFError):
        raise
    except Exception as error:  # py7zr's own errors, and those of its decompressors
        raise OSError(f"{type(error).__name__}: {error}") from error


def _dictionary(method: bytes, properties: bytes) -> int:
    """Bytes of memory that a coder's properties ask for; 0 for coders that take little."""
    if method == _LZMA2 and properties:
        power = min(properties[0], 40)
        return (1 << 32) - 1 if power == 40 else (2 | power & 1) << (power // 2 + 11)
    if method in (_LZMA, _PPMD) and len(properties) >= 5:
        return int.from_bytes(properties[1:5], "little")
    return 0


def _pulled(archive: Any, size: int) -> Iterator[bytes]:
    read_end, write_end = os.pipe()
    failures: list[Exception] = []

    def unpack() -> None:
        try:
            with open(write_end, "wb") as out:
                archive.extractall(factory=_into(out))
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=unpack, daemon=True, name="pychunk-7z")
    thread.start()
    try:
        with open(read_end, "rb") as source:  # closed early, it ends the thread's next write
            while data := source.read(size):
                yield data
    finally:
        thread.join()
    if failures:
        raise failures[0]


def _into(out: BinaryIO) -> Any:
    """What py7zr asks for a place to write: every file of the archive goes to ``out``."""
    from py7zr.io import Py7zIO, WriterFactory

    class Pipe(Py7zIO):
        written = 0

        def write(self, s: bytes | bytearray) -> int:
            self.written += len(s)
            return out.write(s)

        def read(self, size: int | None = None) -> bytes:
            return b""

        def seek(self, offset: int, whence: int = 0) -> int:
            return offset

        def flush(self) -> None:
            out.flush()

        def size(self) -> int:
            return self.written

    class Factory(WriterFactory):
        def create(self, filename: str) -> Pipe:
            return Pipe()

    return Factory()
