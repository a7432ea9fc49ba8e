"""The decompression of bzip2 files to plain blocks, in parallel if a file has several streams.

The multistream dumps of Wikipedia have one stream for each 100 pages. The reader finds the start of a stream by its
first ten bytes. This search finds the same positions as the index of a dump, at more than 1 GB/s, without the index.
Bytes inside a stream can look like a start. A candidate therefore counts only after data from there on has been
decompressed and its checksum has matched.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol

import numpy as np

from ..._engine import native
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters

_START = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")  # the second form is a stream without data
_HEADER = re.compile(rb"BZh[1-9]")
_READ = 1 << 20
#: The minimum number of compressed bytes that one thread takes at a time, which hold about 500 pages.
_PIECE = 512 << 10
#: The number of compressed bytes above which a stream is decompressed by one thread, as it is read.
_LONG = 4 << 20
#: The maximum number of plain bytes that are yielded at once. A block of the format can stand for 47 MB.
_OUTPUT = 1 << 20
#: The plain bytes that a thread makes of a piece in advance. The rest is made on request.
_AHEAD = 32 << 20


class ByteSource(Protocol):
    """The part of a file's interface that the reader needs."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, at most ``size`` of them; empty at the end."""
        ...


class Block(NamedTuple):
    """A block of plain bytes.

    Attributes:
        data: The bytes.
        bytes_read: The number of stored bytes of the file that have been read so far.
        gap: Whether data is lost here. The block is then empty.
    """

    data: bytes
    bytes_read: int
    gap: bool = False


def blocks(
    file: ByteSource, name: str, dead_letters: DeadLetters, *, threads: int, start: re.Pattern[bytes] = _START
) -> Iterator[Block]:
    """Yield the plain bytes of a bzip2 file, in order; the blocks are the same for any number of threads.

    Data that cannot be decompressed becomes a dead letter, and a block with ``gap`` takes its place.
    """
    with ThreadPoolExecutor(threads) as pool:
        yield from _Reading(name, dead_letters, start).run(_pieces(file, start), pool, 2 * threads)


class _Piece(NamedTuple):
    """A piece of compressed bytes from ``offset`` on.

    Attributes:
        offset: The position in the file.
        data: The bytes.
        start: Whether a stream may begin at the piece's first byte.
        whole: Whether a stream may begin at the next piece, or the file ends, so that this piece ends a stream.
    """

    offset: int
    data: bytes
    start: bool
    whole: bool


def _pieces(file: ByteSource, start: re.Pattern[bytes]) -> Iterator[_Piece]:
    held, offset, is_start = b"", 0, True
    searched = 0
    while True:
        data = file.read(_READ)
        held += data
        while (match := start.search(held, max(_PIECE, searched))) is not None:
            cut = match.start()
            yield _Piece(offset, held[:cut], is_start, True)
            held, offset, is_start, searched = held[cut:], offset + cut, True, 0
        if not data:
            break
        searched = max(0, len(held) - 9)
        if len(held) > _LONG:
            yield _Piece(offset, held[:searched], is_start, False)
            held, offset, is_start, searched = held[searched:], offset + searched, False, 0
    if held or offset == 0:
        yield _Piece(offset, held, is_start, True)


class _Decoder:
    """A decoder of consecutive streams. The bytes of a stream may come in several calls."""

    def __init__(self) -> None:
        self._reader = native.Bzip2Reader()
        self._was_proven = False
        self.begin = 0  # where the current stream begins in the bytes of the last feed(); 0 if it began before them

    @property
    def unfinished(self) -> bool:
        return self._reader.is_unfinished

    @property
    def proven(self) -> bool:
        """True if a whole stream, or a block of one, has passed its checksum."""
        return self._was_proven or self._reader.is_proven

    def feed(self, data: bytes, position: int = 0) -> Iterator[bytes]:
        """Yield the plain bytes of the data from ``position`` on, at most ``_OUTPUT`` at a time.

        Raises:
            OSError: The data is not bzip2 or is damaged. Nothing of a damaged block has been yielded.
        """
        reader = self._reader
        reader.feed(np.frombuffer(data, np.uint8)[position:])
        while (out := reader.next()) is not None:
            for begin in range(0, len(out), _OUTPUT):
                yield out[begin : begin + _OUTPUT]
        self.begin = max(0, position + reader.stream_begin)
        if reader.error:
            raise OSError(reader.error)

    def drop(self) -> None:
        """Give up the current stream."""
        self._was_proven = self.proven
        self._reader = native.Bzip2Reader()


class _DamagedBytes(NamedTuple):
    """A range of bytes of the file from ``offset`` on that could not be decompressed."""

    offset: int
    reason: str
    excerpt: bytes


class _Work:
    """The decompression of a piece. After broken data it goes on with the next stream of the piece."""

    def __init__(self, piece: _Piece, start: re.Pattern[bytes], decoder: _Decoder | None = None) -> None:
        self.piece, self._start = piece, start
        self.decoder = decoder or _Decoder()
        self._made: list[bytes | _DamagedBytes] = []
        self._source = self._output()
        self._failed = False  # whether data was broken before any checksum had matched

    def _output(self) -> Iterator[bytes | _DamagedBytes]:
        begin = 0
        while True:
            try:
                yield from self.decoder.feed(self.piece.data, begin)
                return
            except OSError as error:
                self._failed = self._failed or not self.decoder.proven
                broken = self.decoder.begin
                self.decoder.drop()
                excerpt = self.piece.data[broken : broken + EXCERPT_BYTES]
                yield _DamagedBytes(self.piece.offset + broken, f"cannot be decompressed: {error}", excerpt)
                match = self._start.search(self.piece.data, broken + 1)
                if match is None:
                    return
                begin = match.start()

    def ahead(self, size: int) -> None:
        """Decompress ``size`` bytes in advance, but stop at the first damaged bytes."""
        for made in self._source:
            self._made.append(made)
            size -= len(made) if isinstance(made, bytes) else size
            if size <= 0:
                return

    def output(self) -> Iterator[bytes | _DamagedBytes]:
        return itertools.chain(self._made, self._source)

    def is_stream(self) -> bool:
        """Return whether a stream really starts at the beginning of the piece."""
        while not self._failed and not self.decoder.proven:
            before = len(self._made)
            self.ahead(1)
            if len(self._made) == before:
                break
        return not self._failed and self.decoder.proven


class _Reading:
    def __init__(self, name: str, dead_letters: DeadLetters, start: re.Pattern[bytes]) -> None:
        self._name, self._dead_letters, self._start = name, dead_letters, start
        self._current: _Decoder | None = None
        self._begun = 0

    def run(self, pieces: Iterator[_Piece], pool: ThreadPoolExecutor, window: int) -> Iterator[Block]:
        waiting: deque[tuple[_Piece, _Work | None, Future[None] | None]] = deque()
        for piece in pieces:
            work = _Work(piece, self._start) if piece.start else None
            future = pool.submit(work.ahead, _AHEAD) if work is not None and piece.whole else None
            waiting.append((piece, work, future))
            if len(waiting) > window:
                yield from self._next(*waiting.popleft())
        while waiting:
            yield from self._next(*waiting.popleft())
        if self._unfinished():
            yield self._broken(_DamagedBytes(self._begun, "the file ends inside a bzip2 stream: it is cut off", b""))

    def _next(self, piece: _Piece, work: _Work | None, future: Future[None] | None) -> Iterator[Block]:
        if future is not None:
            future.result()
        if work is None or (self._unfinished() and not work.is_stream()):
            if not self._unfinished() and not piece.start:
                return  # the piece is the rest of a broken stream
            work = _Work(piece, self._start, self._current)  # the stream goes on, past bytes that looked like a start
        else:
            if self._unfinished():
                yield self._broken(
                    _DamagedBytes(self._begun, "a bzip2 stream has no end before the next one starts", b"")
                )
            self._begun = piece.offset
        stop = piece.offset + len(piece.data)
        for made in work.output():
            yield self._broken(made) if isinstance(made, _DamagedBytes) else Block(made, stop)
        self._current = work.decoder

    def _unfinished(self) -> bool:
        return self._current is not None and self._current.unfinished

    def _broken(self, lost: _DamagedBytes) -> Block:
        self._dead_letters(DeadLetter(self._name, f"compressed byte {lost.offset}", lost.reason, lost.excerpt))
        return Block(b"", lost.offset, gap=True)
