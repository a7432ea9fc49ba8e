"""One part of an index: a folder of files that are written once and memory-mapped ever after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._util.durable_files import BufferedFile, DiskError, flush, new_file, remove, uninterrupted
from ..dense import int8_vectors
from ..files import int32_columns
from ..files.arrow_tables import read_table
from ..files.block_checksums import Blocks, damaged
from ..lexical import postings
from ..lexical.analyzer import Analyzer
from ..lexical.postings import Postings, PostingsBuilder
from . import context_column

I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Spans = npt.NDArray[np.signedinteger[Any]]
Vectors = npt.NDArray[Any]

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

    @property
    def width(self) -> int:
        """Numbers of ``dtype`` that a stored vector takes."""
        return int8_vectors.width(self.dim, self.dtype)

    @property
    def vector_bytes(self) -> int:
        """Bytes that a stored vector takes."""
        return self.width * np.dtype(self.dtype).itemsize

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
        offsets: int64[n + 1], which sentences are whose. spans: int64[m, 2], theirs in characters of the document; of a
            part as it stores them.
        sentences: [m, dim], pooled: [n, dim], unit vectors, or rows as a part stores them; None where the index does
            not hold them.
    """

    table: pa.Table
    offsets: I64 | None = None
    spans: Spans | None = None
    sentences: Vectors | None = None
    pooled: Vectors | None = None

    def without_vectors(self, chosen: Bools) -> Rows:
        """Return the same with vectors of zero for some chunks, which no search by vectors finds."""
        if not chosen.any():
            return self
        pooled, sentences = self.pooled, self.sentences
        if pooled is not None:
            pooled = np.where(chosen[:, None], np.zeros((), pooled.dtype), pooled)
        if sentences is not None and self.offsets is not None:
            own = np.repeat(chosen, np.diff(self.offsets))
            sentences = np.where(own[:, None], np.zeros((), sentences.dtype), sentences)
        return replace(self, pooled=pooled, sentences=sentences)

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
    """Writes chunks to a new folder as they come; what it holds in memory is the postings and 8 bytes a chunk.

    A full disk stops :meth:`append` and :meth:`finish`, and loses nothing: what it did not take waits in memory, and
    either can be called again.

    Attributes:
        chunks: rows appended.
        damaged: something failed that calling again does not mend, and what was appended is lost.
    """

    def __init__(self, folder: Path, layout: Layout) -> None:
        folder.mkdir()
        self.folder, self.layout = folder, layout
        self.chunks = 0
        self.damaged = False
        self._offsets: list[I64] = [np.zeros(1, np.int64)]
        self._postings = PostingsBuilder(layout.analyzer) if layout.analyzer else None
        self._inverted: Postings | None = None
        self._table: pa.RecordBatchWriter | None = None
        self._narrow: tuple[str, ...] = ()  # what is int32, by the first rows
        self._sealed = False
        self._files: dict[str, BufferedFile] = {}
        try:
            for name in [CHUNKS] + [SPANS, SENTENCES] * layout.sentences + [POOLED] * layout.pooled:
                self._files[name] = BufferedFile(folder / name)
        except BaseException:
            self.abandon()
            raise

    def takes(self, rows: Rows) -> bool:
        """Whether rows have the columns of those before them, and fit their types; others go to a part of their own."""
        if self._table is None:
            return True
        schema = rows.table.schema
        same = schema.equals(self._schema) and context_column.is_in(schema) == context_column.is_in(self._schema)
        return not self._sealed and bool(same) and int32_columns.fits(rows.table, rows.spans, self._narrow)

    def append(self, rows: Rows) -> None:
        """The next chunks; they are in where ``chunks`` has grown, even if the disk then raises an error."""
        self._drain()  # where the disk is full already, memory takes no more
        with ThreadPoolExecutor(1) as aside:  # vectors take two thirds of the time that terms take
            counting = (
                aside.submit(self._postings.count, context_column.counted(rows.table)) if self._postings else None
            )
            stored = self._as_stored(rows)
            counted = counting.result() if counting else None
        with uninterrupted():
            self.damaged = True  # unless every file takes the rows
            self._take(rows.table.schema, stored)
            if self._postings and counted is not None:
                self._postings.add(counted)
            self.chunks += rows.table.num_rows
            self.damaged = False
        self._drain()

    def finish(self) -> None:
        """Everything on disk, safe from a loss of power."""
        assert self._table is not None
        with uninterrupted():
            if not self._sealed:
                self._table.close()
                self._sealed = True
        self._drain()
        with ThreadPoolExecutor(1) as aside:
            flushing = aside.submit(self._flush)
            if self.layout.sentences:
                with new_file(self.folder / OFFSETS) as file:
                    file.write(np.concatenate(self._offsets).tobytes())
            if self._postings:
                self._inverted = self._inverted or self._postings.finish()
                self._inverted.save(self.folder)
            flushing.result()
        flush(self.folder)

    def release(self) -> None:
        """Closes the files."""
        for file in self._files.values():
            file.release()

    def abandon(self) -> None:
        """Removes what was written."""
        self.release()
        remove(self.folder)

    def _as_stored(self, rows: Rows) -> Rows:
        """With vectors and whole numbers as the files hold them."""
        kept = {name: getattr(rows, name) for name in ("sentences", "pooled") if getattr(self.layout, name)}
        made = {name: int8_vectors.stored(vectors, self.layout.dtype) for name, vectors in kept.items()}
        spans = rows.spans if self.layout.sentences else None
        if self._table is None:
            self._narrow = int32_columns.fitting(rows.table, spans)
        if spans is not None:
            made["spans"] = np.ascontiguousarray(spans, int32_columns.span_type(self._narrow))
        return replace(rows, table=int32_columns.narrowed(rows.table, self._narrow), **made)

    def _take(self, schema: pa.Schema, rows: Rows) -> None:
        if self._table is None:
            self._schema = schema
            self._table = pa.ipc.new_file(pa.PythonFile(self._files[CHUNKS], mode="w"), rows.table.schema)
        self._table.write_table(rows.table)
        if self.layout.sentences:
            assert rows.offsets is not None
            assert rows.spans is not None
            assert rows.sentences is not None
            self._offsets.append(rows.offsets[1:] + self._offsets[-1][-1])
            self._files[SPANS].write(rows.spans)
            self._files[SENTENCES].write(self._own(rows.sentences))
        if self.layout.pooled:
            assert rows.pooled is not None
            self._files[POOLED].write(self._own(rows.pooled))

    def _own(self, vectors: Vectors) -> Vectors:
        """What nobody can change while it waits for the disk: float32 may be the caller's array as it is."""
        return vectors.copy() if self.layout.dtype == "float32" else vectors

    def _flush(self) -> None:
        try:
            for name in self._files:
                flush(self.folder / name)
        except DiskError:
            self.damaged = True
            raise

    def _drain(self) -> None:
        for file in self._files.values():
            file.drain()


@dataclass(frozen=True)
class Part:
    """A part, opened for reading, with whole numbers as :mod:`.narrow` says."""

    table: pa.Table
    offsets: I64
    spans: Spans
    sentences: Vectors
    pooled: Vectors
    postings: Postings | None
    blocks: Mapping[str, Blocks] = field(repr=False)
    source: Any = field(repr=False)  # keeps the memory map open
    _checked: set[tuple[int, str]] = field(repr=False, default_factory=set)  # batches and columns

    @classmethod
    def load(cls, folder: Path, layout: Layout, chunks: int, blocks: Callable[[str], Blocks] | None = None) -> Part:
        """The part in a folder, of which so many chunks are expected.

        Args:
            blocks: of a file's name its blocks, by which what is read is checked; None: this process wrote the part.

        Raises:
            ValueError: a file holds more or less than the others say, or what cannot be; the message names it.
        """
        source = pa.memory_map(str(folder / CHUNKS))
        try:
            table = read_table(source)
            table.validate()
            names = int32_columns.widened_schema(table.schema).names
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(damaged(folder / CHUNKS, f"{error!s:.200}")) from error
        if not names or len(set(names)) < len(names):
            raise ValueError(damaged(folder / CHUNKS, "its columns"))
        _expect(folder / CHUNKS, table.num_rows, chunks)
        own = {} if blocks is None else {name: blocks(name) for name in layout.files()}

        def mapped(name: str, dtype: str, width: int, wanted: bool, rows: int) -> Any:
            if not wanted:
                return np.empty((0, width), dtype)
            size = (folder / name).stat().st_size
            _expect(folder / name, size / (np.dtype(dtype).itemsize * width), rows)
            data = own[name].data if own else np.memmap(folder / name, mode="r") if size else np.empty(0, np.uint8)
            return data.view(dtype).reshape(-1, width)

        offsets = mapped(OFFSETS, "int64", 1, layout.sentences, chunks + 1).reshape(-1)
        if own and layout.sentences:
            own[OFFSETS].check()
            if offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
                raise ValueError(damaged(folder / OFFSETS, "offsets must begin with 0 and rise"))
        sentences = int(offsets[-1]) if layout.sentences else 0
        found = cls(
            table,
            offsets,
            mapped(SPANS, int32_columns.span_type(int32_columns.names(table.schema)), 2, layout.sentences, sentences),
            mapped(SENTENCES, layout.dtype, layout.width, layout.sentences, sentences),
            mapped(POOLED, layout.dtype, layout.width, layout.pooled, chunks),
            Postings.load(folder, own) if layout.analyzer else None,
            own,
            source,
        )
        if found.postings is not None:
            for name, held, wanted in found.postings.sizes(chunks):
                _expect(folder / name, held, wanted)
        return found

    def check(self, names: Iterable[str] | None = None, begin: int = 0, end: int | None = None) -> None:
        """Check columns of the table, None: all, as far as rows [begin, end) need them and nobody read them before.

        Whoever reads values asks before: of strings and lists Arrow follows any offset, and a wrong one ends the
        process.

        Raises:
            ValueError: a block has another hash, or an offset or a text cannot be right; names the file.
        """
        if not self.blocks or len(self._checked) == len(self._batches) * self.table.num_columns:
            return
        own, last, first = self.blocks[CHUNKS], len(self) if end is None else end, 0
        wanted = self.table.column_names if names is None else [n for n in names if n in self.table.column_names]
        for number, batch in enumerate(self._batches):
            for name in wanted if first < last and begin < first + batch.num_rows else ():
                if (number, name) not in self._checked:
                    self._check_column(own, batch.column(name))
                    self._checked.add((number, name))
            first += batch.num_rows

    def check_tree(self) -> None:
        """Check that each chunk hangs on one before it: whoever climbs a tree of headings comes to its top.

        Raises:
            ValueError: a row hangs on itself or on one after it; names the file.
        """
        if not self.blocks or "parent" not in self.table.column_names:
            return
        self.check(["parent", "subtree", "chunk"])
        parent, size, chunk = (
            np.asarray(self.table[name].cast(pa.int64()).fill_null(empty), np.int64)
            for name, empty in (("parent", -1), ("subtree", 1), ("chunk", 0))
        )
        most = 1 << 31
        if ((parent >= chunk) | (parent < -1) | (size < 1) | (size > most) | (chunk < 0) | (chunk > most)).any():
            raise ValueError(damaged(self.blocks[CHUNKS].path, "a chunk hangs on none before it"))

    def checked(self, names: Iterable[str], row: int) -> Callable[[int], None]:
        """Check columns of a row's batch but for the bytes of texts, and return what checks those of one row of it.

        Texts are two thirds of a table, and a search shows ten: of 100,000 chunks 5 MB are read in the place of 25.
        UTF-8 is left to whoever makes strings of the bytes.
        """
        texts, first = list[tuple[I64, int]](), 0
        for number, batch in enumerate(self._batches if self.blocks else ()):
            if first <= row < first + batch.num_rows:
                for name in names:
                    if (number, name) in self._checked or name not in batch.schema.names:
                        continue
                    column = batch.column(name)
                    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                        texts.append(self._check_offsets(column))
                    else:
                        self.check([name], first, first + 1)
                break
            first += batch.num_rows

        def check(row: int) -> None:
            for offsets, begin in texts:
                self.blocks[CHUNKS].check_run(begin + int(offsets[row - first]), begin + int(offsets[row - first + 1]))

        return check

    @cached_property
    def _batches(self) -> list[pa.RecordBatch]:
        return list(self.table.to_batches())

    @cached_property
    def _mapped(self) -> pa.Buffer:
        self.source.seek(0)
        return self.source.read_buffer()

    def _place(self, buffer: pa.Buffer | None) -> tuple[int, int]:
        """Return [begin, end) of a column's buffer in the file."""
        if buffer is None or not buffer.size:
            return 0, 0
        begin = buffer.address - self._mapped.address
        if not 0 <= begin <= begin + buffer.size <= self._mapped.size:
            raise ValueError(damaged(self.blocks[CHUNKS].path, "a column is not stored as it is written"))
        return begin, begin + buffer.size

    def _check_offsets(self, texts: pa.Array) -> tuple[I64, int]:
        """Check all of a column of texts but their bytes; return their offsets, and where in the file the bytes are."""
        own, (there, buffer, data) = self.blocks[CHUNKS], texts.buffers()
        for each in (there, buffer):
            begin, end = self._place(each)
            own.check_run(begin, end)
        kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
        begin, end = self._place(data)
        offsets = np.frombuffer(buffer, kind, len(texts) + 1, texts.offset * np.dtype(kind).itemsize)
        if offsets[0] < 0 or offsets[-1] > end - begin or (offsets[1:] < offsets[:-1]).any():
            raise ValueError(damaged(own.path, "offsets of texts must rise, and end in their bytes"))
        return offsets, begin

    def _check_column(self, own: Blocks, column: pa.Array) -> None:
        for buffer in column.buffers():
            begin, end = self._place(buffer)
            own.check_run(begin, end)
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            raise ValueError(damaged(own.path, f"{error!s:.200}")) from error

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def schema(self) -> pa.Schema:
        """The columns as they were added."""
        return int32_columns.widened_schema(self.table.schema)

    @property
    def version(self) -> int:
        """The first version of an index in which there may be such a part."""
        terms = None if self.postings is None else self.postings.terms.type
        if int32_columns.names(self.table.schema) or terms == pa.string():
            return int32_columns.SCHEMA
        return context_column.SCHEMA if context_column.is_in(self.table.schema) else 1

    def rows(self) -> Rows:
        """All that was written, to be written again."""
        self.check()
        has = len(self.offsets) > 0
        return Rows(
            self.table,
            self.offsets if has else None,
            self.spans if has else None,
            self.sentences if has else None,
            self.pooled if len(self.pooled) else None,
        )


def slices(rows: Rows, size: int) -> Iterable[Rows]:
    """Rows in runs of at most ``size`` chunks, those of a part as they were added."""
    for begin in range(0, rows.table.num_rows, size):
        piece = rows.take(begin, min(begin + size, rows.table.num_rows))
        yield replace(piece, table=int32_columns.widened(piece.table))


def _expect(path: Path, found: float, expected: int) -> None:
    if found != expected:
        raise ValueError(
            f"{path} is damaged: it holds {found:,g} rows, where {expected:,} belong; restore it from a copy, or build "
            "the index again"
        )
