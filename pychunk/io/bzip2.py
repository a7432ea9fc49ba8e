"""bzip2 files to plain blocks, their streams decompressed in parallel where a file has several.

The multistream dumps of Wikipedia have one stream for each 100 pages. Where a stream starts is found by its ten first
bytes; that finds the same places as the index beside a dump, at more than 1 GB/s, and needs no index. Bytes inside a
stream can look like a start, so a candidate counts only once it has decompressed with its checksum.
"""

from __future__ import annotations

import bz2
import itertools
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import BinaryIO, NamedTuple

from .documents import EXCERPT_BYTES, DeadLetter, DeadLetters

_START = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")  # the second form is a stream without data
_HEADER = re.compile(rb"BZh[1-9]")
_READ = 1 << 20
#: Compressed bytes of one piece of work: at least this, about 500 pages.
_PIECE = 512 << 10
#: A stream longer than this is decompressed by one thread, as it is read.
_LONG = 4 << 20
_BLOCK = 1 << 20
#: Plain blocks that a thread makes ahead; the rest of a piece that swells beyond is made when it is asked for.
_AHEAD = 32
#: Output after which a stream's first block has passed its checksum: a block holds at most 900,000 bytes.
_PROVEN = 1_000_000


class Block(NamedTuple):
    """Plain bytes and how far the file has been read; ``gap``: what stood before this place is lost."""

    data: bytes
    bytes_read: int
    gap: bool = False


def blocks(
    file: BinaryIO, name: str, dead_letters: DeadLetters, *, threads: int, start: re.Pattern[bytes] = _START
) -> Iterator[Block]:
    """The plain bytes of a bzip2 file, in order; the same blocks for any number of threads.

    What cannot be decompressed is told as a dead letter, and a block with ``gap`` stands in its place.
    """
    with ThreadPoolExecutor(threads) as pool:
        yield from _Reading(name, dead_letters).run(_pieces(file, start), pool, 2 * threads)


class _Piece(NamedTuple):
    """Compressed bytes from ``offset``; ``start``: a stream may begin here; ``whole``: the next piece is a start."""

    offset: int
    data: bytes
    start: bool
    whole: bool


def _pieces(file: BinaryIO, start: re.Pattern[bytes]) -> Iterator[_Piece]:
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
    """Consecutive streams; bytes may come in parts."""

    def __init__(self) -> None:
        self._inner: bz2.BZ2Decompressor | None = None
        self._tail = b""
        self._made = 0

    @property
    def unfinished(self) -> bool:
        return self._inner is not None or bool(self._tail)

    @property
    def proven(self) -> bool:
        """Whether a whole stream, or the first block of one, has passed its checksum."""
        return self._made >= _PROVEN

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Plain blocks of at most 1 MiB. Raises OSError at what is not bzip2."""
        data, self._tail = self._tail + data, b""
        while data:
            if self._inner is None:
                if len(data) < 4 and b"BZh9"[: min(3, len(data))] == data[:3]:
                    self._tail = data
                    return
                if not _HEADER.match(data):
                    raise OSError(f"{len(data):,} bytes after a stream are not bzip2")
                self._inner = bz2.BZ2Decompressor()
            inner, rest = self._inner, data
            data = b""
            while True:
                out = inner.decompress(rest, _BLOCK)
                rest = b""
                self._made += len(out)
                if out:
                    yield out
                if inner.eof:
                    self._made = max(self._made, _PROVEN)
                    data, self._inner = inner.unused_data, None
                    break
                if inner.needs_input:
                    break


class _Work:
    """A piece that begins at a candidate, with a decoder of its own."""

    def __init__(self, piece: _Piece) -> None:
        self.piece = piece
        self.decoder = _Decoder()
        self.error: OSError | None = None
        self._made: list[bytes] = []
        self._source = self._guarded()

    def _guarded(self) -> Iterator[bytes]:
        try:
            yield from self.decoder.feed(self.piece.data)
        except OSError as error:
            self.error = error

    def ahead(self, count: int) -> None:
        self._made += itertools.islice(self._source, count)

    def output(self) -> Iterator[bytes]:
        return itertools.chain(self._made, self._source)

    def is_stream(self) -> bool:
        """Whether the candidate is where a stream starts."""
        while not self.decoder.proven:
            before = len(self._made)
            self.ahead(1)
            if len(self._made) == before:
                return self.decoder.proven
        return True


class _Reading:
    def __init__(self, name: str, dead_letters: DeadLetters) -> None:
        self._name, self._dead_letters = name, dead_letters
        self._current: _Decoder | None = None  # None after something broken, until the next stream
        self._begun = 0

    def run(self, pieces: Iterator[_Piece], pool: ThreadPoolExecutor, window: int) -> Iterator[Block]:
        waiting: deque[tuple[_Piece, _Work | None, Future[None] | None]] = deque()
        for piece in pieces:
            work = _Work(piece) if piece.start else None
            future = pool.submit(work.ahead, _AHEAD) if work is not None and piece.whole else None
            waiting.append((piece, work, future))
            if len(waiting) > window:
                yield from self._next(*waiting.popleft())
        while waiting:
            yield from self._next(*waiting.popleft())
        if self._current is not None and self._current.unfinished:
            yield self._broken(self._begun, "the file ends inside a bzip2 stream: it is cut off", b"")

    def _next(self, piece: _Piece, work: _Work | None, future: Future[None] | None) -> Iterator[Block]:
        if future is not None:
            future.result()
        if work is not None and not (self._unfinished() and not work.is_stream()):
            if self._unfinished():
                yield self._broken(self._begun, "a bzip2 stream has no end before the next one starts", b"")
            self._current, self._begun = work.decoder, piece.offset
            output, guard = work.output(), work
        elif self._current is not None:  # a stream goes on, past what may have looked like a start
            guard = _Work(piece)
            guard.decoder = self._current
            output = guard.output()
        else:
            return
        stop = piece.offset + len(piece.data)
        for data in output:
            yield Block(data, stop)
        if guard.error is not None:
            yield self._broken(piece.offset, f"cannot be decompressed: {guard.error}", piece.data[:EXCERPT_BYTES])
            self._current = None

    def _unfinished(self) -> bool:
        return self._current is not None and self._current.unfinished

    def _broken(self, offset: int, reason: str, excerpt: bytes) -> Block:
        self._dead_letters(DeadLetter(self._name, f"compressed byte {offset}", reason, excerpt))
        return Block(b"", offset, gap=True)
