"""A file that is written past the operating system's page cache, where its file system can do that.

Nothing reads a shard while it is written, so a copy in the page cache is work for nothing: 147 MB took 0.45 s through
the cache (new pages for all of it, then writing them back) and 0.10 s past it, on two cores beside the segmentation.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import mmap
import os
from pathlib import Path

#: Bytes of one write. Memory mapped without a file begins at a page, as writing past the cache asks for.
_BUFFER_BYTES = 4 << 20
_DIRECT = getattr(os, "O_DIRECT", 0)


class DirectFile:
    """A new file, or an emptied one, that bytes are appended to.

    Attributes:
        bytes: those appended so far.
        direct: whether all but the last few go past the page cache. Where the file system refuses that, they go
            through it.
    """

    def __init__(self, path: Path) -> None:
        self._file = io.FileIO(path, "wb")  # it closes itself if Ctrl-C comes before this object is anybody's
        self._handle = self._file.fileno()
        self.direct = bool(_DIRECT)
        try:
            fcntl.fcntl(self._handle, fcntl.F_SETFL, fcntl.fcntl(self._handle, fcntl.F_GETFL) | _DIRECT)
        except OSError:
            self.direct = False
        self.bytes = 0
        self._past_cache = self.direct
        self._buffer = memoryview(mmap.mmap(-1, _BUFFER_BYTES))
        self._filled = 0
        self._cached = self._synced = 0

    @property
    def waiting(self) -> int:
        """Bytes in the page cache that nobody asked the disk to take."""
        return self._cached - self._synced

    def write(self, data: bytes) -> None:
        """Appends bytes."""
        rest = memoryview(data)
        while rest:
            count = min(len(rest), _BUFFER_BYTES - self._filled)
            self._buffer[self._filled : self._filled + count] = rest[:count]
            self._filled += count
            self.bytes += count
            rest = rest[count:]
            if self._filled == _BUFFER_BYTES:
                self._put()

    def finish(self) -> None:
        """Hands over the rest, which is not a whole number of the disk's blocks."""
        self._through_cache()
        self._put()

    def sync(self) -> None:
        """Waits until the disk has all that was handed over."""
        cached = self._cached
        os.fsync(self._handle)
        self._synced = cached

    def close(self) -> None:
        """Closes the file; what :meth:`finish` did not hand over is lost."""
        self._handle = -1
        self._file.close()

    def _put(self) -> None:
        rest, self._filled = self._buffer[: self._filled], 0
        while rest:
            try:
                written = os.write(self._handle, rest)
            except OSError as error:
                if not self._past_cache or error.errno != errno.EINVAL:
                    raise
                self.direct = False  # blocks of another size, or what a full disk left of one
                self._through_cache()
                continue
            self._cached += 0 if self._past_cache else written
            rest = rest[written:]

    def _through_cache(self) -> None:
        if not self._past_cache:
            return
        self._past_cache = False
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._handle, fcntl.F_SETFL, fcntl.fcntl(self._handle, fcntl.F_GETFL) & ~_DIRECT)
