"""One part of an index: a folder of files that are written once and memory-mapped ever after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..durable import flush
from . import postings
from .postings import Postings, PostingsBuilder
from .terms import Analyzer

I64 = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.floating[Any]]

CHUNKS, OFFSETS, SPANS, SENTENCES, POOLED = (
    "chunks.arrow",
    "sentence_offsets.bin",
    "sentence_spans.bin",
    "sentence_vectors.bin",
    "chunk_vectors.bin",
)


@dataclass(frozen=True)
class Layout:
    """What the parts of an index hold: which vectors, how wide, of which type; how texts become terms."""

    vectors: str
    dim: int
    dtype: str
    analyzer: Analyzer | None

    @property
    def sentences(self) -> bool:
        return self.vectors in ("sentence", "both")

    @property
    def pooled(self) -> bool:
        return self.vectors in ("chunk", "both")

    def files(self) -> list[str]:
        """Names of a part's files."""
        names = [CHUNKS]
        names += [OFFSETS, SPANS, SENTENCES] * self.sentences
        names += [POOLED] * self.pooled
        return names + list(postings.FILES) * (self.analyzer is not None)


@dataclass(frozen=True)
class Rows:
    """Chunks ready to be written.

    Attributes:
        table: one row a chunk, without vectors.
        offsets: int64[n + 1], which sentences are whose. spans: int64[m, 2], theirs in characters of the document.
        sentences: [m, dim], pooled: [n, dim], unit vectors; None where the index does not hold them.
    """

    table: pa.Table
    offsets: I64 | None = None
    spans: I64 | None = None
    sentences: Vectors | None = None
    pooled: Vectors | None = None

    def take(self, begin: int, end: int) -> Rows:
        """Chunks [begin, end)."""
        table = self.table.slice(begin, end - begin)
        pooled = None if self.pooled is None else self.pooled[begin:end]
        if self.offsets is None or self.spans is None or self.sentences is None:
            return Rows(table, pooled=pooled)
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        offsets = self.offsets[begin : end + 1] - first
        return Rows(table, offsets, self.spans[first:last], self.sentences[first:last], pooled)

    def choose(self, chosen: I64) -> Rows:
        """Chunks by number, in that order."""
        table = self.table.take(pa.array(chosen))
        pooled = None if self.pooled is None else self.pooled[chosen]
        if self.offsets is None or self.spans is None or self.sentences is None:
            return Rows(table, pooled=pooled)
        sizes = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][chosen] - offsets[:-1], sizes)
        return Rows(table, offsets, self.spans[rows], self.sentences[rows], pooled)


class PartWriter:
    """Writes chunks to a new folder as they come; what it holds in memory is the postings and 8 bytes a chunk."""

    def __init__(self, folder: Path, layout: Layout) -> None:
        folder.mkdir()
        self.folder, self.layout = folder, layout
        self.chunks = 0
        self._offsets: list[I64] = [np.zeros(1, np.int64)]
        self._postings = PostingsBuilder()
        self._sink = pa.OSFile(str(folder / CHUNKS), "wb")
        self._table: pa.RecordBatchWriter | None = None
        names = [SPANS, SENTENCES] * layout.sentences + [POOLED] * layout.pooled
        self._files = {name: open(folder / name, "wb") for name in names}  # noqa: SIM115 (closed in finish)

    def takes(self, table: pa.Table) -> bool:
        """Whether a table has the columns of those before it; another goes to a part of its own."""
        return self._table is None or bool(table.schema.equals(self._schema))

    def append(self, rows: Rows) -> None:
        """The next chunks."""
        if self._table is None:
            self._schema = rows.table.schema
            self._table = pa.ipc.new_file(self._sink, self._schema)
        self._table.write_table(rows.table)
        self.chunks += rows.table.num_rows
        if self.layout.sentences:
            assert rows.offsets is not None
            assert rows.spans is not None
            assert rows.sentences is not None
            self._offsets.append(rows.offsets[1:] + self._offsets[-1][-1])
            self._files[SPANS].write(np.ascontiguousarray(rows.spans, np.int64).tobytes())
            self._files[SENTENCES].write(np.ascontiguousarray(rows.sentences, self.layout.dtype).tobytes())
        if self.layout.pooled:
            assert rows.pooled is not None
            self._files[POOLED].write(np.ascontiguousarray(rows.pooled, self.layout.dtype).tobytes())
        if self.layout.analyzer:
            self._postings.add(map(self.layout.analyzer.terms, rows.table["text"].to_pylist()))

    def finish(self) -> None:
        """Everything on disk, safe from a loss of power."""
        assert self._table is not None
        self._table.close()
        self._sink.close()
        for file in self._files.values():
            file.close()
        if self.layout.sentences:
            (self.folder / OFFSETS).write_bytes(np.concatenate(self._offsets).tobytes())
        if self.layout.analyzer:
            self._postings.finish().save(self.folder)
        for name in self.layout.files():
            flush(self.folder / name)
        flush(self.folder)


@dataclass(frozen=True)
class Part:
    """A part, opened for reading."""

    table: pa.Table
    offsets: I64
    spans: I64
    sentences: Vectors
    pooled: Vectors
    postings: Postings | None
    source: Any = field(repr=False)  # keeps the memory map open

    @classmethod
    def load(cls, folder: Path, layout: Layout) -> Part:
        source = pa.memory_map(str(folder / CHUNKS))
        table = pa.ipc.open_file(source).read_all()

        def mapped(name: str, dtype: str, shape: tuple[int, ...], wanted: bool) -> Any:
            if not wanted or (folder / name).stat().st_size == 0:
                return np.empty((0, *shape[1:]), dtype)
            return np.memmap(folder / name, dtype, mode="r").reshape(shape)

        vector = (-1, layout.dim)
        return cls(
            table,
            mapped(OFFSETS, "int64", (-1,), layout.sentences),
            mapped(SPANS, "int64", (-1, 2), layout.sentences),
            mapped(SENTENCES, layout.dtype, vector, layout.sentences),
            mapped(POOLED, layout.dtype, vector, layout.pooled),
            Postings.load(folder) if layout.analyzer else None,
            source,
        )

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def rows(self) -> Rows:
        """All that was written, to be written again."""
        has = len(self.offsets) > 0
        return Rows(
            self.table,
            self.offsets if has else None,
            self.spans if has else None,
            self.sentences if has else None,
            self.pooled if len(self.pooled) else None,
        )


def slices(rows: Rows, size: int) -> Iterable[Rows]:
    """Rows in runs of at most ``size`` chunks."""
    for begin in range(0, rows.table.num_rows, size):
        yield rows.take(begin, min(begin + size, rows.table.num_rows))
