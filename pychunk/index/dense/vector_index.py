"""The vectors of an index: scanned (flat, exact), or found by codes or a graph (HNSW) where there are many."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._util.durable_files import new_file
from ...encoders.runtime.placement import CPU, Placement
from ..files.block_checksums import Blocks
from ..files.block_checksums import damaged as _damaged
from . import hnsw_graph, int8_vectors, quantized_index
from .scan import VectorScan
from .torch_flat import TorchFlat

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
Vectors = npt.NDArray[Any]

KINDS = ("flat", "pq", "hnsw")
#: Bytes of vectors up to which "auto" is flat: what a scan for one query reads in about 20 ms on two cores (461 MB in
#: 18.8 ms; 34 ms on one). Above, it takes codes, which hold 24 bytes a vector of 256 numbers.
SCANNED = 512_000_000
_BLOCK = 65_536  # vectors handed to FAISS at a time
#: HNSW: links a vector and level, candidates while building, and in a search. On 200,000 sentence vectors of 256
#: dimensions recall@10 is .947 with 64 candidates, .959 with 96, .966 with 128, at 15, 12 and 10 times flat's speed on
#: one thread; candidates of 200 while building take twice as long and give .958 with 64 (bench/index/vector_search.py).
_LINKS, _CONSTRUCTION, ACCURACY = 32, 100, 96


def import_faiss() -> Any:
    """``faiss``, or an error that names the command which installs it."""
    try:
        import faiss
    except ModuleNotFoundError as error:
        raise ImportError('an index of kind "hnsw" needs FAISS: pip install "pychunk-native[index]"') from error
    return faiss


def choose(kind: str, count: int, size: int) -> str:
    """The kind for ``count`` vectors of ``size`` bytes: what ``"auto"`` stands for; flat where there are too few for
    codes. Indexes of before may say ``"ivfpq"`` or ``"ivf"``, of whose place codes took: smaller, and built sooner."""
    if kind == "auto":
        kind = "flat" if count * size <= SCANNED else "pq"
    if kind in ("pq", "ivf", "ivfpq"):
        return "pq" if count >= quantized_index.LEAST else "flat"
    return kind


@dataclass(frozen=True)
class StoredVectors:
    """A file of :meth:`VectorIndex.save`, opened, and of how many rows the manifest says that it is.

    ``blocks`` are compared before it is read; None: this process wrote it.
    """

    path: Path
    rows: int
    file: Any
    blocks: Blocks | None


class VectorIndex:
    """Nearest rows by inner product, of the rows of several arrays numbered on from one to the next.

    Args:
        arrays: the vectors, memory-mapped or not; all rows together are searched.
        dim: their width.
        kind: one of :data:`KINDS`; a flat one has nothing but :attr:`scan`.
        offsets: int64[chunks + 1], the rows of each chunk; ``None``: each row is a chunk.
        stored: a file of :meth:`save`, of the first rows; those it lacks are added here.
        accuracy: candidates that a search looks at: more is slower and finds more. None: as many as
            :func:`.quantized_index.tune` chose, and ``ACCURACY`` of HNSW.
        blocks: as of :class:`.scan.VectorScan`.
        placement: with a device, flat rows are searched there, but for searches that leave rows out.

    Attributes:
        recall: of codes that were made anew, the share of the ten nearest that :func:`.quantized_index.tune` found.

    Raises:
        ValueError: ``stored`` is of other rows, or damaged; names the file.
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
        placement: Placement = CPU,
        blocks: Sequence[Blocks | None] = (),
    ) -> None:
        self.arrays = [np.asarray(each) for each in arrays]  # plain views: indexing a memmap takes twice as long
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
        """What a vector takes as it is stored."""
        return int(self.arrays[0].shape[1] * self.arrays[0].itemsize) if self.arrays else 0

    @property
    def exact(self) -> bool:
        return self.kind == "flat"

    def save(self, path: Path) -> None:
        """Write what :meth:`__init__` takes as ``stored``; on the disk when this returns."""
        if self.kind == "pq":
            self._index.save(path)
            self._index = quantized_index.read(pa.memory_map(str(path)))  # 24 bytes a vector need no other place
            return
        failed: list[BaseException] = []

        def write(data: bytes) -> None:
            try:
                if not failed:
                    file.write(data)
            except BaseException as error:  # FAISS would make a RuntimeError of it
                failed.append(error)

        with new_file(path) as file:
            self._faiss.write_index(self._index, self._faiss.PyCallbackIOWriter(write, _BLOCK * 16))
            if failed:
                raise failed[0]

    def rows(self, chosen: I64) -> F32:
        """The vectors of rows as they are stored, float32[n, dim]."""
        self.scan.check(chosen)
        out = np.empty((len(chosen), self.dim), np.float32)
        part = np.searchsorted(self._first, chosen, side="right") - 1
        for each in np.unique(part):
            own = part == each
            out[own] = int8_vectors.unpacked(self.arrays[each][chosen[own] - self._first[each]])
        return out

    def scanned(self, allowed: npt.NDArray[np.bool_] | None) -> bool:
        """Whether :attr:`scan` is what searches, and not :meth:`search`."""
        return self.kind == "flat" and (self._gpu is None or allowed is not None)

    def search(
        self, queries: F32, count: int, allowed: npt.NDArray[np.bool_] | None = None, threads: int | None = None
    ) -> tuple[F32, I64]:
        """(scores, rows) of the ``count`` best rows of each query, [q, count], best first; -1 where there are fewer.

        ``allowed`` bool[n] leaves the other rows out; ``threads`` are those of codes. Scores are FAISS's or torch's,
        good to about 1e-6, or those of :attr:`scan` (codes). Not of an index that is :meth:`scanned`.
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
        """Whether :meth:`search` for ``fewer`` rows finds the first of those that it finds for ``more``: codes do,
        where they score as many candidates for both."""
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
        """The index of a file; None where codes were made for much fewer vectors than there are now."""
        if stored.blocks is not None:
            stored.blocks.check()
        try:
            if self.kind == "pq":
                found: Any = quantized_index.read(stored.file)
                rows, fits = len(found), found.fits(self.dim)
            else:
                found = hnsw_graph.read(self._faiss, stored.file)
                rows, fits = int(found.ntotal), found.d == self.dim and hnsw_graph.sound(self._faiss, found)
        except (ValueError, RuntimeError, MemoryError) as error:  # FAISS's own is a RuntimeError
            raise ValueError(_damaged(stored.path, str(error))) from error
        if rows != stored.rows or not fits:
            raise ValueError(_damaged(stored.path, f"it is of {rows:,} other vectors than {stored.rows:,}"))
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
        """Of codes how many candidates a search scores, by some rows of each array; the recall."""
        share = min(1.0, quantized_index.TRIED_AMONG / max(1, len(self)))
        some = [array[: int(np.ceil(share * len(array)))] for array in self.arrays]
        each = VectorScan(some, self.dim)  # of vectors, not of chunks
        return quantized_index.tune(self._index, some, lambda *given: each.top(*given)[1])

    def _half(self) -> bool:
        """Whether FAISS keeps vectors in half precision: where they are no wider."""
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
        """Rows from ``begin`` on, in runs that bound what is in memory as float32."""
        for array, first in zip(self.arrays, self._first[:-1], strict=True):
            for start in range(max(0, begin - int(first)), len(array), _BLOCK):
                yield np.ascontiguousarray(int8_vectors.unpacked(array[start : start + _BLOCK]))

    def _on_gpu(self, placement: Placement) -> Any:
        """The rows on a GPU, searched by a GPU build of FAISS or, where there is none, by torch."""
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
