"""Checksums of the blocks of a stored file, each checked when the block is first read."""

from __future__ import annotations

import mmap
import os
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..._engine import native

U32 = npt.NDArray[np.uint32]
I64 = npt.NDArray[np.int64]

#: The bytes of a block. Returning a hit reads about twenty blocks. Larger blocks would take longer to read, and smaller
#: blocks would make the manifest longer.
BLOCK = 1 << 16


def mapped_bytes(path: str | Path) -> npt.NDArray[np.uint8]:
    """Return the bytes of a file, memory-mapped and read-only.

    ``numpy.memmap`` also resolves the path of the file, which takes longer than to map it.
    """
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def hashes(path: Path) -> U32:
    """Return the hash of each block of a file: the low 32 bits of MurmurHash3, at 5 GB/s for each thread."""
    return native.block_hashes(mapped_bytes(path), BLOCK)


def written(values: U32) -> str:
    """Return hashes as the text that a manifest stores: 8 hexadecimal digits for each block."""
    return values.astype(">u4").tobytes().hex()


def read(text: str) -> U32:
    """Return the hashes that :func:`written` wrote.

    Raises:
        ValueError: The text is not hexadecimal.
    """
    return np.frombuffer(bytes.fromhex(text), ">u4").astype(np.uint32)


def damaged(path: Path, why: str = "") -> str:
    """Return the text of an error about a file with invalid contents."""
    return f"{path} is damaged{f' ({why})' if why else ''}: restore it from a copy, or build the index again"


class Blocks:
    """The blocks of one file, with a record of those that were read before.

    Args:
        path: The file. It stays open, because a writer may remove it.
        expected: The hash of each block. None: blocks are not checked.
        crc: The CRC-32 of the whole file, which is checked before the first block is read. None: it is not checked.
    """

    def __init__(self, path: Path, expected: U32 | None = None, crc: int | None = None) -> None:
        self.path, self._expected, self._crc = path, expected, crc
        #: The bytes of the file, memory-mapped. A check reads them, so a reader then finds their pages in memory.
        self.data = mapped_bytes(path)
        self.size = len(self.data)
        self._new = np.ones(-(-self.size // BLOCK), np.bool_)
        if expected is not None and len(expected) != len(self._new):
            raise ValueError(damaged(path, f"it has {len(self._new)} blocks, not {len(expected)}"))

    @property
    def new(self) -> bool:
        """True if any block was not read yet."""
        return bool(self._new.any())

    def check(self, begin: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """Check the blocks of bytes [begin, end) that were not read before.

        Returns:
            The ranges of bytes that were checked now, as [begin, end) of whole blocks.

        Raises:
            ValueError: The hash of a block is not the one in the manifest. The message names the file.
        """
        first, last = begin // BLOCK, len(self._new) if end is None else -(-end // BLOCK)
        return self.check_blocks(np.flatnonzero(self._new[first:last]) + first)

    def check_run(self, begin: int, end: int) -> None:
        """Check the blocks of bytes [begin, end) that were not read before, quickly if there are none.

        Only the first and the last block of a short range are looked up.
        """
        if begin < end and (end - begin > BLOCK or self._new[begin // BLOCK] or self._new[(end - 1) // BLOCK]):
            self.check(begin, end)

    def check_rows(self, rows: I64, size: int) -> None:
        """Check the blocks of rows, each of ``size`` bytes, that were not read before."""
        if size > BLOCK:  # A row may have blocks between its first and its last.
            self.check()
        elif self._new.any():
            wanted = np.zeros(len(self._new), np.bool_)
            wanted[np.concatenate([rows * size, rows * size + size - 1]) // BLOCK] = True
            self.check_blocks(np.flatnonzero(wanted & self._new))

    def check_blocks(self, blocks: I64) -> list[tuple[int, int]]:
        """Check blocks, given by number in rising order, and return their ranges of bytes. See :meth:`check`."""
        if self._crc is not None and len(blocks):
            if (found_crc := zlib.crc32(self.data.data)) != self._crc:
                raise ValueError(damaged(self.path, f"its CRC-32 is {found_crc}, not {self._crc}"))
            self._crc = None
        found = []
        for begin, end in _runs(blocks):
            if self._expected is not None:
                own = native.block_hashes(self.data[begin * BLOCK : end * BLOCK], BLOCK)
                if (own != self._expected[begin:end]).any():
                    raise ValueError(damaged(self.path, f"a checksum of its blocks {begin} to {end - 1} is wrong"))
            found.append((begin * BLOCK, end * BLOCK))
        self._new[blocks] = False
        return found


def _runs(numbers: I64) -> list[tuple[int, int]]:
    """Return the runs of consecutive numbers, as (begin, end) with the end excluded. ``numbers`` rise."""
    if not len(numbers):
        return []
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first < len(numbers):  # Nearly all calls have one run, which this finds in a tenth of the time.
        return [(first, last + 1)]
    cuts = np.flatnonzero(np.diff(numbers) > 1)
    begins, ends = numbers[cuts + 1].tolist(), (numbers[cuts] + 1).tolist()
    return list(zip([first, *begins], [*ends, last + 1], strict=True))
