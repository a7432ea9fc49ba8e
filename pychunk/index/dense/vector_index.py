"""The search for the nearest vectors of an index: by an exact scan ("flat"), by codes ("pq") or by a graph ("hnsw")."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._util.counting import counted
from ..._util.durable_files import new_file
from ...encoders.runtime.placement import CPU, ModelPlacement
from ..files.block_checksums import Blocks
from ..files.block_checksums import damaged as _damaged
from . import hnsw_graph, int8_vectors, quantized_index
from .scan import VectorScan
from .torch_flat import TorchFlat

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
Vectors = npt.NDArray[Any]

KINDS = ("flat", "pq", "hnsw")
#: The most bytes of vectors for which kind "auto" is flat. A scan for one query reads them in about 20 ms on two cores
#: (461 MB in 18.8 ms, and in 34 ms on one core). With more bytes, "auto" uses codes, which take 24 bytes for a vector
#: of 256 numbers.
SCANNED = 512_000_000
_BLOCK = 65_536  # The number of vectors that are passed to FAISS at a time.
#: The parameters of HNSW: links for each vector and level, candidates while building, and candidates in a search. On
#: 200,000 sentence vectors of 256 dimensions, recall@10 is 0.947 with 64 candidates in a search, 0.959 with 96 and
#: 0.966 with 128. A search is then 15, 12 and 10 times as fast as flat on one thread. With 200 candidates while
#: building, building takes twice as long, and recall is 0.958 with 64 in a search (bench/index/vector_search.py).
_LINKS, _CONSTRUCTION, ACCURACY = 32, 100, 96


def import_faiss() -> Any:
    """Return ``faiss``, or raise an error that names the command which installs it."""
    try:
        import faiss
    except ModuleNotFoundError as error:
        raise ImportError('an index of kind "hnsw" needs FAISS: pip install "pychunk-native[hnsw]"') from error
    return faiss


def choose(kind: str, count: int, size: int) -> str:
    """Return the kind to use for ``count`` vectors of ``size`` bytes each.

    ``"auto"`` becomes flat or codes (``"pq"``), and ``"pq"`` becomes flat if there are too few vectors for codes. Older
    indexes may name ``"ivfpq"`` or ``"ivf"``. Codes replaced these kinds, because codes are smaller and built faster.
    """
    if kind == "auto":
        kind = "flat" if count * size <= SCANNED else "pq"
    if kind in ("pq", "ivf", "ivfpq"):
        return "pq" if count >= quantized_index.LEAST else "flat"
    return kind


@dataclass(frozen=True)
class StoredVectors:
    """An opened file that :meth:`VectorIndex.save` wrote.

    Attributes:
        path: The path of the file.
        rows: The number of its rows, according to the manifest.
        file: The opened file, memory-mapped.
        blocks: The blocks of the file, which are checked before it is read. None: this process wrote the file.
    """

    path: Path
    rows: int
    file: Any
    blocks: Blocks | None


class VectorIndex:
    """An index that finds the nearest rows by inner product. The rows of several arrays are numbered consecutively.

    Args:
        arrays: The vectors in their stored form. All rows are searched together.
        dim: The width of the vectors.
        kind: One of :data:`KINDS`. A flat index has only :attr:`scan`.
        offsets: The offsets of each chunk's rows, int64[chunks + 1]. ``None``: each row is a chunk.
        stored: A file that :meth:`save` wrote, which holds the first rows. Further rows are added in memory. None: the
            index is built from all rows.
        accuracy: The number of candidates in a search. More candidates are slower and find more. None: the number that
            :func:`.quantized_index.tune` determined, or ``ACCURACY`` for HNSW.
        blocks: The blocks of the files. See :class:`.scan.VectorScan`.
        placement: The GPU on which a flat index is searched, if any. Searches that exclude rows do not use it.

    Attributes:
        recall: The recall@10 that :func:`.quantized_index.tune` returned. None unless this object made the codes.

    Raises:
        ValueError: ``stored`` does not fit its number of rows or ``dim``, or is damaged. The message names the file.
    """

    def __init__(
        self,
        arrays: Sequence[Vectors],
        dim: int,
        kind: str,
        *,
        offsets: I64 | None = None,
        stored: StoredVectors | None = None,
        accuracy: int | None = None,
        placement: ModelPlacement = CPU,
        blocks: Sequence[Blocks | None] = (),
    ) -> None:
        # The arrays are plain views, because indexing a memmap takes twice as long.
        self.arrays = [np.asarray(each) for each in arrays]
        self.dim, self.kind, self.accuracy = dim, kind, accuracy
        self._first = np.concatenate([[0], np.cumsum([len(each) for each in arrays])]).astype(np.int64)
        self.scan = VectorScan(self.arrays, dim, offsets, blocks)
        self.recall: float | None = None
        self._index: Any = None
        self._gpu: Any = None
        if kind != "flat":
            if kind == "hnsw":
                self._faiss = import_faiss()
            self._index = None if stored is None else self._read(stored)
            if self._index is None:
                self._build()
            else:
                self._fill()
        elif placement.device is not None:
            self._gpu = self._on_gpu(placement)

    def __len__(self) -> int:
        return int(self._first[-1])

    @property
    def row_bytes(self) -> int:
        """The number of bytes of a stored vector."""
        return int(self.arrays[0].shape[1] * self.arrays[0].itemsize) if self.arrays else 0

    @property
    def exact(self) -> bool:
        """True if search results are exact, because a search compares all vectors."""
        return self.kind == "flat"

    def save(self, path: Path) -> None:
        """Write a file that ``stored`` of a later index can name. When this returns, it is on the disk."""
        if self.kind == "pq":
            self._index.save(path)
            # The codes are read from the file from now on, so that memory does not hold them, too.
            self._index = quantized_index.read(pa.memory_map(str(path)))
            return
        failed: list[BaseException] = []

        def write(data: bytes) -> None:
            try:
                if not failed:
                    file.write(data)
            except BaseException as error:  # FAISS would turn the error into a RuntimeError.
                failed.append(error)

        with new_file(path) as file:
            self._faiss.write_index(self._index, self._faiss.PyCallbackIOWriter(write, _BLOCK * 16))
            if failed:
                raise failed[0]

    def rows(self, chosen: I64) -> F32:
        """Return the stored vectors of n rows as float32[n, dim]."""
        self.scan.check(chosen)
        out = np.empty((len(chosen), self.dim), np.float32)
        part = np.searchsorted(self._first, chosen, side="right") - 1
        for each in np.unique(part):
            own = part == each
            out[own] = int8_vectors.unpacked(self.arrays[each][chosen[own] - self._first[each]])
        return out

    def scanned(self, allowed: npt.NDArray[np.bool_] | None) -> bool:
        """Return whether :attr:`scan` must be used instead of :meth:`search`."""
        return self.kind == "flat" and (self._gpu is None or allowed is not None)

    def search(
        self, queries: F32, count: int, allowed: npt.NDArray[np.bool_] | None = None, threads: int | None = None
    ) -> tuple[F32, I64]:
        """Return (scores, rows) of the ``count`` best rows of each query, [q, count], best first.

        If there are fewer, rows are padded with -1. With codes, scores are those of :attr:`scan`; otherwise they are
        those of FAISS or torch, with errors of about 1e-6. If :meth:`scanned` is True, use :attr:`scan` instead.

        Args:
            queries: Unit vectors, float32[q, dim].
            count: The number of rows. It is reduced to the number of all rows.
            allowed: The rows that may be found, bool[n]. None: all.
            threads: The number of threads, which only codes use. None: the default number.
        """
        count = max(1, min(count, len(self)))
        if len(self) == 0:
            return np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
        if self._gpu is not None:
            scores, found = self._gpu.search(queries, count)
        elif self.kind == "pq":
            scores, found = quantized_index.search(
                self._index,
                queries,
                count,
                self.scan.score_rows,
                allowed=allowed,
                candidates=self.accuracy,
                threads=threads,
            )
        else:
            scores, found = self._index.search(queries, count, params=self._candidates(count, allowed))
        return np.asarray(scores, np.float32), np.asarray(found, np.int64)

    def begins(self, fewer: int, more: int) -> bool:
        """Return whether a search for ``fewer`` rows finds exactly the first of the rows of a search for ``more``.

        This holds for codes, if both searches score the same number of candidates.
        """
        return (
            fewer <= more and self.kind == "pq" and more <= quantized_index.candidates_of(self._index, 1, self.accuracy)
        )

    def _candidates(self, count: int, allowed: npt.NDArray[np.bool_] | None) -> Any:
        faiss = self._faiss
        options: dict[str, Any] = {}
        if allowed is not None:
            options["sel"] = faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        return faiss.SearchParametersHNSW(efSearch=max(self.accuracy or ACCURACY, count), **options)

    def _read(self, stored: StoredVectors) -> Any:
        """Return the index in a file, or None if its codes were made for far fewer vectors than there are now."""
        if stored.blocks is not None:
            stored.blocks.check()
        try:
            if self.kind == "pq":
                found: Any = quantized_index.read(stored.file)
                rows, fits = len(found), found.fits(self.dim)
            else:
                found = hnsw_graph.read(self._faiss, stored.file)
                rows, fits = int(found.ntotal), found.d == self.dim and hnsw_graph.sound(self._faiss, found)
        except (ValueError, RuntimeError, MemoryError) as error:  # FAISS's own error is a RuntimeError.
            raise ValueError(_damaged(stored.path, str(error))) from error
        if rows != stored.rows:
            raise ValueError(_damaged(stored.path, f"it has {counted(rows, 'row')}, not {stored.rows:,}"))
        if not fits:
            raise ValueError(_damaged(stored.path, f"its vectors or its graph do not fit a width of {self.dim}"))
        return None if self.kind == "pq" and found.outgrown(len(self)) else found

    def _build(self) -> None:
        self.scan.check()
        if self.kind == "pq":
            self._index = quantized_index.trained(self.dim, len(self), self.rows)
            self._fill()
            self.recall = self._tune()
            return
        recipe = f"HNSW{_LINKS}" + "_SQfp16" * self._half()
        self._index = self._faiss.index_factory(self.dim, recipe, self._faiss.METRIC_INNER_PRODUCT)
        self._index.hnsw.efConstruction = _CONSTRUCTION
        self._fill()

    def _tune(self) -> float:
        """Set the number of candidates for codes by a trial on some rows of each array, and return its recall."""
        share = min(1.0, quantized_index.TRIED_AMONG / max(1, len(self)))
        some = [array[: int(np.ceil(share * len(array)))] for array in self.arrays]
        each = VectorScan(some, self.dim)  # Without offsets, it finds vectors instead of chunks.
        return quantized_index.tune(self._index, some, lambda *given: each.top(*given)[1])

    def _half(self) -> bool:
        """Return whether FAISS stores numbers in half precision: if the files have at most 2 bytes for each number."""
        return bool(self.arrays) and self.arrays[0].dtype.itemsize <= 2

    def _fill(self) -> None:
        if len(self) > (len(self._index) if self.kind == "pq" else int(self._index.ntotal)):
            self.scan.check()
        if self.kind == "pq":
            for array, first in zip(self.arrays, self._first[:-1].tolist(), strict=True):
                self._index.add(array[max(0, len(self._index) - first) :])
            return
        for block in self._blocks(int(self._index.ntotal)):
            self._index.add(block)

    def _blocks(self, begin: int) -> Iterator[F32]:
        """Yield the vectors of rows from ``begin`` on as float32, in blocks small enough for memory."""
        for array, first in zip(self.arrays, self._first[:-1], strict=True):
            for start in range(max(0, begin - int(first)), len(array), _BLOCK):
                yield np.ascontiguousarray(int8_vectors.unpacked(array[start : start + _BLOCK]))

    def _on_gpu(self, placement: ModelPlacement) -> Any:
        """Return an index of the rows on a GPU: by a GPU build of FAISS if one is installed, else by torch."""
        assert placement.device is not None
        self.scan.check()
        faiss: Any = import_faiss() if importlib.util.find_spec("faiss") else None
        if hasattr(faiss, "StandardGpuResources") and faiss.get_num_gpus():
            index = faiss.index_factory(self.dim, "SQfp16" if self._half() else "Flat", faiss.METRIC_INNER_PRODUCT)
            for block in self._blocks(0):
                index.add(block)
            return faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), placement.device.number, index)
        floats = (array if array.dtype != np.int8 else int8_vectors.unpacked(array) for array in self.arrays)
        return TorchFlat(floats, placement.torch_device)
