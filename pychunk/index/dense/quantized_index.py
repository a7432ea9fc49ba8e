"""An approximate index of kind "pq": product quantization with 4 bits for each piece of a vector, built in one scan.

The method is product quantization (Jegou, Douze and Schmid, 2011), with tables that fit into registers (Andre,
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

#: With fewer vectors than this, a scan is as fast, and no codes are made.
LEAST = 1000
#: A vector has three pieces for every 16 numbers. The width of a piece, in numbers, is the least with which the pieces
#: cover the whole vector, or up to four less. With a smaller width, the last numbers of a vector have no code. Of these
#: widths, the one with the smallest error of codes is chosen. Sentence vectors of 256 numbers have 48 pieces of width
#: 3. Among 1,945,129 of them, recall@10 is 0.969, 0.988, 0.995 and 0.998 with 1,024, 2,048, 4,096 and 8,192 candidates.
#: With 64 pieces of width 3 it is 0.986 to 0.999, for a third more memory and time. With 32 pieces of width 4 it is
#: 0.900, 0.950, 0.973 and 0.985.
_NARROWER = 4
#: The most pieces of a vector, so that sums over tables of bytes fit 16 bits.
_MOST_PIECES = 256
#: The number of vectors from which centroids are learned, the number of rounds of k-means, and the number of other
#: vectors on which the errors of the possible widths are compared.
_SAMPLE, _ROUNDS, _TRIED = 16_384, 12, 4096
#: The number of rows whose codes are made at a time.
_BLOCK = 1 << 18
#: The number of candidates of a search is the number of vectors divided by _ONE_OF, at least _FEWEST. A trial searches
#: for the _NEAREST nearest vectors of each of _PROBED stored vectors. If it finds less than the share _RECALL of them,
#: the number of candidates is raised until it finds that share. The limit is one in _SHARE of the vectors among which
#: the trial searches. After the number is scaled up to all vectors, it is at most _MOST.
_ONE_OF, _FEWEST, _MOST = 1000, 512, 16_384
_PROBED, _NEAREST, _RECALL, _SHARE = 128, 10, 0.985, 64
#: The most vectors among which the trial searches. A scan of all vectors would take as long as making their codes.
TRIED_AMONG = 1 << 20
#: The codes are made again if there are more than this many times as many vectors as when they were made.
_OUTGROWN = 4
#: The number of dimensions of an array of codes; an array of vectors has two.
_CODED = 3
#: In a file, each array begins at an offset that is a multiple of this number of bytes.
_ALIGNED = 64


@dataclass
class Codes:
    """The codes of rows, with which searches find candidates.

    Attributes:
        centroids: The 16 centroids of each piece, float32[pieces, 16, width]. The pieces are in the order of a vector's
            numbers.
        blocks: Arrays of codes, uint8[groups of 32 rows, pieces rounded up to a multiple of four, 16]; or of stored
            vectors, whose codes are made when they are first searched or saved.
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
        """Add vectors in their stored form. Their numbers follow those of earlier rows."""
        for begin in range(0, len(vectors), _BLOCK):
            own = vectors[begin : begin + _BLOCK]
            self.blocks.append(own)
            self.rows.append(len(own))

    def _codes(self, block: Vectors) -> U8:
        return block if block.ndim == _CODED else native.encode_rows(block, self.centroids)

    def best(self, queries: F32, count: int, allowed: Mask | None = None, threads: int | None = None) -> I64:
        """Return the ``count`` rows with the best codes for each query, best first, int64[q, count], padded with -1."""
        self.blocks = [self._codes(block) for block in self.blocks]
        return native.best_by_codes(self.blocks, self.rows, self.centroids, queries, count, allowed, threads=threads)

    def fits(self, dim: int) -> bool:
        """Return whether :func:`trained` could have made the codes for vectors of width ``dim``."""
        pieces, _, width = self.centroids.shape
        return pieces == _pieces_of(dim) and width in _widths(dim)

    def outgrown(self, count: int) -> bool:
        """Return whether there are now far more vectors than the codes were made for, so that they are made again.

        See :data:`_OUTGROWN`.
        """
        return count > _OUTGROWN * max(1, self.made_for)

    def wide(self, count: int) -> int:
        """Return the number of candidates for ``count`` hits, which grows with the number of rows."""
        grown = -(-self.candidates * len(self) // max(1, self.made_for))
        return min(len(self), max(count, self.candidates, grown))

    def save(self, path: Path) -> None:
        """Write a file that :func:`read` reads. When this returns, it is on the disk.

        Codes that are made for the file are not kept in memory.
        """
        facts = np.array([self.candidates, self.made_for, *self.rows], np.int64)
        with new_file(path) as file:
            _write(file, facts)
            _write(file, self.centroids)
            for block in self.blocks:
                _write(file, self._codes(block))


def read(stored: Any) -> Codes:
    """Return the codes in a file that :meth:`Codes.save` wrote, memory-mapped.

    Raises:
        ValueError: The file does not contain such codes.
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
            raise ValueError("its centroids or counts are invalid")
        if any(b.shape != (-(-n // 32), held, 16) or b.dtype != np.uint8 for b, n in zip(blocks, rows, strict=True)):
            raise ValueError("its codes do not fit its rows")
    # NumPy raises errors of many kinds for an invalid header, among them tokenize.TokenError.
    except Exception as error:
        raise ValueError(f"the codes are damaged: {error}; build them again") from error
    return Codes(centroids, blocks, rows, candidates, made_for)


def trained(dim: int, count: int, sample: Callable[[I64], F32]) -> Codes:
    """Return codes without rows, with centroids learned from an evenly spread sample of the vectors to add.

    Args:
        dim: The width of the vectors.
        count: The number of vectors that will be added.
        sample: A function that returns the vectors of rows, given by number.
    """
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
    """Return (scores, rows) of approximately the ``count`` best rows of each query, [q, count], best first.

    If there are fewer, the scores are padded with -inf and the rows with -1.

    Args:
        codes: The codes.
        queries: Unit vectors, float32[q, dim].
        count: The number of rows.
        score: A function (query, rows) that returns the scores of rows by their stored vectors.
        allowed: The rows that may be found, bool[n]. None: all.
        candidates: The number of rows to score with ``score``. None: the number that was determined when the index was
            built.
        threads: The number of threads. None: the default number.
    """
    wide = candidates_of(codes, count, candidates)
    scores = np.full((len(queries), count), -np.inf, np.float32)
    rows = np.full((len(queries), count), -1, np.int64)
    for number, own in enumerate(codes.best(queries, wide, allowed, threads)):
        own = np.sort(own[own >= 0])  # Rows are read in the order in which they are stored.
        exact = score(queries[number], own)
        best = np.lexsort((own, -exact))[:count]
        scores[number, : len(best)], rows[number, : len(best)] = exact[best], own[best]
    return scores, rows


def candidates_of(codes: Codes, count: int, candidates: int | None) -> int:
    """Return the number of rows that :func:`search` scores for ``count`` hits."""
    return codes.wide(count) if candidates is None else min(len(codes), max(count, candidates))


def tune(codes: Codes, arrays: Sequence[Vectors], exact: Callable[[F32, int], I64]) -> float:
    """Set the number of candidates that a search scores, by a trial among some of the rows, and return its recall@10.

    The ten nearest rows of a part of the index are further from the query than the ten nearest of the whole index, so
    they are harder to tell from other rows. If the same share of all rows are candidates, recall is therefore at least
    that of the trial.

    Args:
        codes: The codes.
        arrays: The stored rows to try, a part of each array of the index.
        exact: A function (queries, count) that returns the numbers of the ``count`` nearest of these rows by a scan.
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
    places = [  # The ranks by codes of each query's nearest rows, without the row that is the query.
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
    """Return the possible widths of a piece, for vectors of width ``dim``."""
    widest = -(-dim // _pieces_of(dim))
    return range(max(1, widest - _NARROWER), widest + 1)


def _learned(vectors: F32, pieces: int, width: int) -> F32:
    """Return the centroids of the pieces of vectors, float32[pieces, 16, width], by k-means for each piece.

    The first 16 vectors are the initial centroids. Each round handles all pieces together. FAISS's k-means would start
    threads about a thousand times for this, which took minutes on a busy machine.
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
    """Return the sum of the squared errors of the codes of vectors. Numbers without a code count as errors, too."""
    pieces, _, width = centroids.shape
    parts = _pieces(vectors, pieces, width)
    rows = native.encode_rows(parts.reshape(len(vectors), -1), centroids)
    said = centroids[np.arange(pieces), codes_of_rows(rows, len(vectors), pieces)]
    left_out = vectors[:, pieces * width :]
    return float(((parts - said) ** 2).sum(dtype=np.float64) + (left_out**2).sum(dtype=np.float64))


def _pieces(vectors: F32, pieces: int, width: int) -> F32:
    """Return vectors cut into pieces, float32[n, pieces, width]. Zeros are added, or the last numbers are left out."""
    out = np.zeros((len(vectors), pieces * width), np.float32)
    kept = min(out.shape[1], vectors.shape[1])
    out[:, :kept] = vectors[:, :kept]
    return out.reshape(len(vectors), pieces, width)


def codes_of_rows(blocks: U8, rows: int, pieces: int) -> U8:
    """Return the codes of rows, which are from 0 to 15, uint8[rows, pieces]. ``blocks`` has groups of 32 rows."""
    halves = np.concatenate([blocks & 15, blocks >> 4], axis=2)[:, :pieces]
    return np.ascontiguousarray(halves.transpose(0, 2, 1).reshape(-1, pieces)[:rows])


def _write(file: BinaryIO, array: npt.NDArray[Any]) -> None:
    """Write an array as ``numpy.save`` does, padded so that its numbers begin at a multiple of 64 bytes in the file."""
    file.write(bytes(-file.tell() % _ALIGNED))
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    file.write(np.ascontiguousarray(array).data)


def _mapped(stored: Any) -> npt.NDArray[Any]:
    """Return the next array of a memory-mapped file, without copying it."""
    stored.seek(-(-stored.tell() // _ALIGNED) * _ALIGNED)
    if np.lib.format.read_magic(stored) != (1, 0):
        raise ValueError("its arrays must be of version 1.0 of NumPy's format")
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(stored)
    count = int(np.prod(shape, dtype=np.int64))
    size = count * dtype.itemsize
    data = stored.read_buffer(size)
    if by_column or dtype.hasobject or data.size != size:
        raise ValueError(f"an array needs {size:,} bytes, got {data.size:,}")
    return np.frombuffer(data, dtype, count).reshape(shape)
