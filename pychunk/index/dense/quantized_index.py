"""An approximate index that one scan builds, with half a byte for each piece of a vector.

It is product quantization (Jegou, Douze and Schmid, 2011) in groups of rows whose tables fit into registers (Andre,
Kermarrec and Le Scouarnec, 2015). A search reads the codes of all rows. The best candidates by codes are then scored by
their stored vectors. The number of candidates is determined by trials on vectors of the index when it is built, and
stored in its file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..._engine import native
from ..._util.durable_files import new_file
from . import int8_vectors

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Vectors = npt.NDArray[Any]

#: The number of vectors below which a scan is as fast.
LEAST = 1000
#: Vectors are cut into three pieces for 16 numbers. A piece has the width that covers all numbers, or one of up to four
#: fewer, which leaves out the last numbers. The width whose codes are nearest to the vectors is chosen. Sentence
#: vectors of 256 numbers have 48 pieces of 3. Among 1,945,129 of them, recall@10 is 0.969, 0.988, 0.995 and 0.998 with
#: 1,024 to 8,192 candidates. With 64 pieces of 3 it is 0.986 to 0.999, for a third more memory and time. With 32 pieces
#: of 4 it is 0.900, 0.950, 0.973 and 0.985.
_NARROWER = 4
#: The most pieces, so that sums over tables of bytes fit 16 bits.
_MOST_PIECES = 256
#: The number of vectors from which centroids are learned, the number of rounds, and the number of vectors that decide
#: which choice is nearest.
_SAMPLE, _ROUNDS, _TRIED = 16_384, 12, 4096
#: The number of rows whose codes are made at a time.
_BLOCK = 1 << 18
#: The number of candidates is one in 1,000 vectors, within these limits. It is more if a trial with 128 stored vectors
#: finds less than this share of the ten nearest of each, up to one in 64 of the vectors tried.
_ONE_OF, _FEWEST, _MOST = 1000, 512, 16_384
_PROBED, _NEAREST, _RECALL, _SHARE = 128, 10, 0.985, 64
#: The most vectors among which this is tried. A scan of all vectors would take as long as making their codes.
TRIED_AMONG = 1 << 20
#: The factor of growth beyond which the codes are made again.
_OUTGROWN = 4
#: The number of dimensions of an array of codes.
_CODED = 3
#: An array in a file begins at a multiple of this offset.
_ALIGNED = 64


@dataclass
class Codes:
    """The codes of rows, with which searches find candidates.

    Attributes:
        centroids: The centroids of each piece, float32[pieces, 16, width], for the numbers of a vector in order.
        blocks: The codes, uint8[groups of 32 rows, pieces up to a multiple of four, 16], or vectors whose codes are
            made when they are first searched or saved.
        rows: The number of rows of each block.
        candidates: The number of candidates that a search scores by their stored vectors.
        made_for: The number of rows for which ``candidates`` was determined.
    """

    centroids: F32
    blocks: list[Vectors] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    candidates: int = _FEWEST
    made_for: int = 0

    def __len__(self) -> int:
        return sum(self.rows)

    def add(self, vectors: Vectors) -> None:
        """Add rows in their stored form, numbered consecutively."""
        for begin in range(0, len(vectors), _BLOCK):
            own = vectors[begin : begin + _BLOCK]
            self.blocks.append(own)
            self.rows.append(len(own))

    def _codes(self, block: Vectors) -> U8:
        return block if block.ndim == _CODED else native.encode_rows(block, self.centroids)

    def best(self, queries: F32, count: int, allowed: Mask | None = None, threads: int | None = None) -> I64:
        """Return the rows of each query by falling score of their codes, int64[q, count], and -1 if there are fewer."""
        self.blocks = [self._codes(block) for block in self.blocks]
        return native.best_by_codes(self.blocks, self.rows, self.centroids, queries, count, allowed, threads=threads)

    def fits(self, dim: int) -> bool:
        """Return whether the codes can be of vectors of this width, as :func:`trained` cuts them."""
        pieces, _, width = self.centroids.shape
        return pieces == _pieces_of(dim) and width in _widths(dim)

    def outgrown(self, count: int) -> bool:
        """Return whether there are so many more vectors than the codes were made for that they should be made again."""
        return count > _OUTGROWN * max(1, self.made_for)

    def wide(self, count: int) -> int:
        """Return the number of candidates for ``count`` hits."""
        grown = -(-self.candidates * len(self) // max(1, self.made_for))
        return min(len(self), max(count, self.candidates, grown))

    def save(self, path: Path) -> None:
        """Write what :func:`read` reads to the disk. Codes that are made for it are not kept in memory."""
        facts = np.array([self.candidates, self.made_for, *self.rows], np.int64)
        with new_file(path) as file:
            _write(file, facts)
            _write(file, self.centroids)
            for block in self.blocks:
                _write(file, self._codes(block))


def read(stored: Any) -> Codes:
    """Return the codes in a file of :meth:`Codes.save`, memory-mapped.

    Raises:
        ValueError: The file holds no such codes.
    """
    try:
        stored.seek(0)
        facts, centroids = np.array(_mapped(stored)), np.array(_mapped(stored))
        candidates, made_for, *rows = facts.tolist()
        blocks = [_mapped(stored) for _ in rows]
        held = -(-len(centroids) // 4) * 4
        if (
            facts.dtype != np.int64
            or centroids.dtype != np.float32
            or centroids.shape[1:2] != (16,)
            or min(candidates, made_for, *rows) < 0
        ):
            raise ValueError("its centroids")
        if any(b.shape != (-(-n // 32), held, 16) or b.dtype != np.uint8 for b, n in zip(blocks, rows, strict=True)):
            raise ValueError("its codes")
    # NumPy raises errors of many kinds for an invalid header, among them tokenize.TokenError.
    except Exception as error:
        raise ValueError(f"the codes are damaged: {error}") from error
    return Codes(centroids, blocks, rows, candidates, made_for)


def trained(dim: int, count: int, sample: Callable[[I64], F32]) -> Codes:
    """Return codes without rows yet, for ``count`` of them, with centroids learned from an even sample."""
    drawn = np.unique(np.linspace(0, count - 1, min(count, _SAMPLE + _TRIED)).astype(np.int64))
    vectors = sample(drawn)
    tried = len(vectors) - min(_TRIED, len(vectors) // 4)
    order = np.random.default_rng(0).permutation(len(vectors))
    learned, held_out = vectors[order[:tried]], vectors[order[tried:]]
    best: tuple[float, F32] | None = None
    for width in _widths(dim):
        centroids = _learned(learned, _pieces_of(dim), width)
        error = _error(held_out, centroids)
        if best is None or error < best[0]:
            best = error, centroids
    assert best is not None
    return Codes(best[1], made_for=count)


def search(
    codes: Codes,
    queries: F32,
    count: int,
    score: Callable[[F32, I64], F32],
    *,
    allowed: Mask | None = None,
    candidates: int | None = None,
    threads: int | None = None,
) -> tuple[F32, I64]:
    """Return (scores, rows) of about the ``count`` best rows of each query, [q, count], best first.

    Args:
        codes: The codes.
        queries: Unit vectors, float32[q, dim].
        count: The number of rows.
        score: A function of a query and rows that returns the scores by the stored vectors.
        allowed: The rows that may be found, bool[n]. None: all.
        candidates: The number of rows to score. None: the number that was determined when the index was built.
        threads: The number of threads. None: the default number.
    """
    wide = candidates_of(codes, count, candidates)
    scores = np.full((len(queries), count), -np.inf, np.float32)
    rows = np.full((len(queries), count), -1, np.int64)
    for number, own in enumerate(codes.best(queries, wide, allowed, threads)):
        own = np.sort(own[own >= 0])  # This is the order of the stored rows.
        exact = score(queries[number], own)
        best = np.lexsort((own, -exact))[:count]
        scores[number, : len(best)], rows[number, : len(best)] = exact[best], own[best]
    return scores, rows


def candidates_of(codes: Codes, count: int, candidates: int | None) -> int:
    """Return the number of rows that :func:`search` scores for ``count`` hits."""
    return codes.wide(count) if candidates is None else min(len(codes), max(count, candidates))


def tune(codes: Codes, arrays: Sequence[Vectors], exact: Callable[[F32, int], I64]) -> float:
    """Set how many candidates a search scores, and return the recall@10 that this share of some rows reached.

    The ten nearest among a part of all rows are further away, and more rows are as near. The same share of all rows
    therefore finds no less.

    Args:
        codes: The codes.
        arrays: Stored rows, some of each array.
        exact: A function that returns the numbers of the nearest rows of queries.
    """
    some = Codes(codes.centroids)
    for array in arrays:
        some.add(array)
    total = len(some)
    drawn = np.unique(np.linspace(0, total - 1, min(total, _PROBED)).astype(np.int64))
    first = np.concatenate([[0], np.cumsum([len(array) for array in arrays])])
    at = np.searchsorted(first, drawn, side="right") - 1
    queries = np.concatenate(
        [int8_vectors.unpacked(arrays[n][row - first[n]][None]) for n, row in zip(at, drawn, strict=True)]
    )
    nearest = exact(queries, min(_NEAREST + 1, total))
    most = max(min(total, _FEWEST), total // _SHARE)
    found = some.best(queries, most)
    places = [  # The positions of each query's nearest rows, without itself.
        int(place[0]) if len(place := np.flatnonzero(own == row)) else most
        for itself, near, own in zip(drawn, nearest, found, strict=True)
        for row in near[near != itself][:_NEAREST]
    ]
    candidates = min(most, max(min(total, _FEWEST), total // _ONE_OF))
    while np.mean(np.less(places, candidates)) < _RECALL and candidates < most:
        candidates = min(most, candidates + candidates // 2)
    whole = -(-candidates * len(codes) // max(1, total))
    codes.candidates, codes.made_for = max(candidates, min(whole, _MOST)), len(codes)
    return float(np.mean(np.less(places, candidates))) if places else 1.0


def _pieces_of(dim: int) -> int:
    return max(1, min(_MOST_PIECES, -(-dim * 3 // 16)))


def _widths(dim: int) -> range:
    """Return the possible numbers of values in a piece."""
    widest = -(-dim // _pieces_of(dim))
    return range(max(1, widest - _NARROWER), widest + 1)


def _learned(vectors: F32, pieces: int, width: int) -> F32:
    """Return centroids [pieces, 16, width] of vectors cut into pieces, by k-means in each.

    The first vectors are the initial centroids. All pieces go through a round together. FAISS's k-means starts threads
    about a thousand times for this, which took minutes on a busy machine.
    """
    parts = _pieces(vectors, pieces, width)
    flat = np.ascontiguousarray(parts.reshape(len(vectors), -1))
    found: F32 = np.resize(parts[:16], (16, pieces, width)).transpose(1, 0, 2).astype(np.float32)
    for _ in range(_ROUNDS):
        place = codes_of_rows(native.encode_rows(flat, found), len(vectors), pieces) + 16 * np.arange(pieces)
        sizes = np.bincount(place.ravel(), minlength=16 * pieces)
        sums = [
            np.bincount(place.ravel(), parts[:, :, number].ravel(), minlength=16 * pieces) for number in range(width)
        ]
        means = np.stack(sums, axis=1) / np.maximum(sizes, 1)[:, None]
        kept = np.where(sizes[:, None] > 0, means, found.reshape(-1, width))
        found = kept.astype(np.float32).reshape(pieces, 16, width)
    return found


def _error(vectors: F32, centroids: F32) -> float:
    """Return the sum of the squared errors of codes, including the numbers that they leave out."""
    pieces, _, width = centroids.shape
    parts = _pieces(vectors, pieces, width)
    rows = native.encode_rows(parts.reshape(len(vectors), -1), centroids)
    said = centroids[np.arange(pieces), codes_of_rows(rows, len(vectors), pieces)]
    left_out = vectors[:, pieces * width :]
    return float(((parts - said) ** 2).sum(dtype=np.float64) + (left_out**2).sum(dtype=np.float64))


def _pieces(vectors: F32, pieces: int, width: int) -> F32:
    """Return the first numbers of vectors as [n, pieces, width], padded with zeros."""
    out = np.zeros((len(vectors), pieces * width), np.float32)
    kept = min(out.shape[1], vectors.shape[1])
    out[:, :kept] = vectors[:, :kept]
    return out.reshape(len(vectors), pieces, width)


def codes_of_rows(blocks: U8, rows: int, pieces: int) -> U8:
    """Return the codes from 0 to 15 of blocks of 32 rows, uint8[rows, pieces]."""
    halves = np.concatenate([blocks & 15, blocks >> 4], axis=2)[:, :pieces]
    return np.ascontiguousarray(halves.transpose(0, 2, 1).reshape(-1, pieces)[:rows])


def _write(file: BinaryIO, array: npt.NDArray[Any]) -> None:
    """Write an array as ``numpy.save`` does. Its numbers begin at a multiple of 64, where its header ends."""
    file.write(bytes(-file.tell() % _ALIGNED))
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    file.write(np.ascontiguousarray(array).data)


def _mapped(stored: Any) -> npt.NDArray[Any]:
    """Return the next array of a memory-mapped file without a copy."""
    stored.seek(-(-stored.tell() // _ALIGNED) * _ALIGNED)
    if np.lib.format.read_magic(stored) != (1, 0):
        raise ValueError("its version")
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(stored)
    count = int(np.prod(shape, dtype=np.int64))
    size = count * dtype.itemsize
    data = stored.read_buffer(size)
    if by_column or dtype.hasobject or data.size != size:
        raise ValueError("its length")
    return np.frombuffer(data, dtype, count).reshape(shape)
