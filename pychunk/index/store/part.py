"""A part of an index: a folder of files that are written once and then memory-mapped."""

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

from ..._engine import native
from ..._util.durable_files import BufferedFile, DiskError, flush, new_file, remove, uninterrupted
from ..dense import int8_vectors
from ..files import int32_columns
from ..files.arrow_tables import read_table
from ..files.block_checksums import Blocks, damaged, mapped_bytes
from ..lexical import postings
from ..lexical.analyzer import Analyzer
from ..lexical.postings import Postings, PostingsBuilder
from . import context_column, proposition_column

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
    """The layout of an index's parts: its vectors, their width and type, and the analyzer of texts."""

    vectors: str
    dim: int
    dtype: str
    analyzer: Analyzer | None

    @property
    def sentences(self) -> bool:
        """True if the parts store vectors of sentences."""
        return self.vectors in ("sentence", "both")

    @property
    def pooled(self) -> bool:
        """True if the parts store one vector for each chunk."""
        return self.vectors in ("chunk", "both")

    @property
    def width(self) -> int:
        """The number of values of type ``dtype`` in a stored vector. With int8, it includes those of the scale."""
        return int8_vectors.width(self.dim, self.dtype)

    @property
    def vector_bytes(self) -> int:
        """The number of bytes of a stored vector."""
        return self.width * np.dtype(self.dtype).itemsize

    def files(self) -> list[str]:
        """Return the names of a part's files."""
        names = [CHUNKS]
        names += [OFFSETS, SPANS, SENTENCES] * self.sentences
        names += [POOLED] * self.pooled
        return names + list(postings.FILES) * (self.analyzer is not None)


@dataclass(frozen=True)
class Rows:
    """Chunks that are ready to be written.

    Attributes:
        table: One row for each chunk, without vectors.
        offsets: The offsets of each chunk's sentences, int64[n + 1] for n chunks.
        spans: The spans of the m sentences in characters of the document, int64[m, 2]. Rows that were read from a part
            may have int32. A row of :data:`.proposition_column.NO_SPAN` stands for a proposition.
        sentences: The vectors of sentences, [m, dim]: unit vectors, or rows in the form in which a part stores them.
            None if the index does not store them.
        pooled: The vectors of chunks, [n, dim], in one of the same two forms. None if the index does not store them.
        encoded_by: The version of pychunk with which the index encoded each chunk by itself. None if any of the vectors
            came with the chunks, so that they may depend on more than the text of their chunk.
    """

    table: pa.Table
    offsets: I64 | None = None
    spans: Spans | None = None
    sentences: Vectors | None = None
    pooled: Vectors | None = None
    encoded_by: str | None = None

    def stored(self, dtype: str, added: native.Added | None = None) -> Rows:
        """Return the rows with vectors in the form in which a part stores them.

        Args:
            dtype: The type in which the index stores vectors.
            added: A vector for each chunk that is added to its vectors. See :func:`.native.unit_sums`.
        """
        pooled, sentences = self.pooled, self.sentences
        if pooled is not None:
            pooled = int8_vectors.stored(pooled, dtype, added)
        if sentences is not None and self.offsets is not None:
            own = added and (np.repeat(added[0], np.diff(self.offsets)), added[1])
            sentences = int8_vectors.stored(sentences, dtype, own)
        return replace(self, pooled=pooled, sentences=sentences)

    def without_vectors(self, chosen: Bools) -> Rows:
        """Return the rows with zero vectors for the chunks in ``chosen``, so that no search by vectors finds them."""
        if not chosen.any():
            return self
        pooled, sentences = self.pooled, self.sentences
        if pooled is not None:
            pooled = pooled.copy()
            pooled[chosen] = 0
        if sentences is not None and self.offsets is not None:
            sentences = sentences.copy()
            sentences[np.repeat(chosen, np.diff(self.offsets))] = 0
        return replace(self, pooled=pooled, sentences=sentences)

    def take(self, begin: int, end: int) -> Rows:
        """Return the rows of chunks [begin, end)."""
        table = self.table.slice(begin, end - begin)
        pooled = None if self.pooled is None else self.pooled[begin:end]
        if self.offsets is None or self.spans is None or self.sentences is None:
            return replace(self, table=table, pooled=pooled)
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        offsets = self.offsets[begin : end + 1] - first
        spans, sentences = self.spans[first:last], self.sentences[first:last]
        return Rows(table, offsets, spans, sentences, pooled, self.encoded_by)

    def choose(self, chosen: I64) -> Rows:
        """Return the rows of chunks, given by number, in the order of ``chosen``."""
        table = self.table.take(pa.array(chosen))
        pooled = None if self.pooled is None else self.pooled[chosen]
        if self.offsets is None or self.spans is None or self.sentences is None:
            return replace(self, table=table, pooled=pooled)
        sizes = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][chosen] - offsets[:-1], sizes)
        return Rows(table, offsets, self.spans[rows], self.sentences[rows], pooled, self.encoded_by)


class PartWriter:
    """A writer of a part, which writes chunks to a new folder as they are appended.

    It keeps only the postings and 8 bytes a chunk in memory. A full disk stops :meth:`append` and :meth:`finish`, but
    loses nothing. Data that the disk did not accept wait in memory, and either method can be called again.

    Attributes:
        chunks: The number of rows appended.
        encoded_by: As in :class:`Rows`, for all rows appended. None if they differ.
        damaged: Whether an error occurred that another call cannot repair, so that the appended rows are lost.
    """

    def __init__(self, folder: Path, layout: Layout) -> None:
        folder.mkdir()
        self.folder, self.layout = folder, layout
        self.chunks = 0
        self.encoded_by: str | None = None
        self.damaged = False
        self._offsets: list[I64] = [np.zeros(1, np.int64)]
        self._postings = PostingsBuilder(layout.analyzer) if layout.analyzer else None
        self._inverted: Postings | None = None
        self._table: pa.RecordBatchWriter | None = None
        self._narrow: tuple[str, ...] = ()  # The columns that are stored as int32, as the first rows decide.
        self._sealed = False
        self._files: dict[str, BufferedFile] = {}
        try:
            for name in [CHUNKS] + [SPANS, SENTENCES] * layout.sentences + [POOLED] * layout.pooled:
                self._files[name] = BufferedFile(folder / name)
        except BaseException:
            self.abandon()
            raise

    def takes(self, rows: Rows) -> bool:
        """Return whether rows fit into this part, because their columns and types are those of its earlier rows."""
        if self._table is None:
            return True
        schema = rows.table.schema
        same = schema.equals(self._schema) and all(
            own.is_in(schema) == own.is_in(self._schema) for own in (context_column, proposition_column)
        )
        return not self._sealed and bool(same) and int32_columns.fits(rows.table, rows.spans, self._narrow)

    def append(self, rows: Rows) -> None:
        """Append the next chunks.

        After a disk error, the chunks are appended if and only if :attr:`chunks` has grown.
        """
        self._drain()  # If the disk is already full, this raises an error before more rows are kept in memory.
        # Vectors are converted while a thread counts terms. The conversion takes two thirds of the time of the
        # counting.
        with ThreadPoolExecutor(1) as aside:
            counting = (
                aside.submit(self._postings.count, *context_column.counted(rows.table)) if self._postings else None
            )
            stored = self._as_stored(rows)
            counted = counting.result() if counting else None
        with uninterrupted():
            self.damaged = True  # It stays True unless every file accepts the rows.
            self._take(rows.table.schema, stored)
            if self._postings and counted is not None:
                self._postings.add(counted)
            self.encoded_by = rows.encoded_by if self.encoded_by == rows.encoded_by or not self.chunks else None
            self.chunks += rows.table.num_rows
            self.damaged = False
        self._drain()

    def finish(self) -> None:
        """Write everything to the disk, safe from a loss of power."""
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
        """Close the files."""
        for file in self._files.values():
            file.release()

    def abandon(self) -> None:
        """Close the files and remove the folder."""
        self.release()
        remove(self.folder)

    def _as_stored(self, rows: Rows) -> Rows:
        """Return rows with vectors and integers in the types in which the files store them."""
        kept = {name: getattr(rows, name) for name in ("sentences", "pooled") if getattr(self.layout, name)}
        made: dict[str, Any] = {name: int8_vectors.stored(own, self.layout.dtype) for name, own in kept.items()}
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
        """Return a copy of float32 vectors, because the caller may change its array before it is written.

        Vectors of other types are already copies.
        """
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
    """A part, opened for reading. Its integers have the types of :mod:`pychunk.index.files.int32_columns`."""

    table: pa.Table
    offsets: I64
    spans: Spans
    sentences: Vectors
    pooled: Vectors
    postings: Postings | None
    blocks: Mapping[str, Blocks] = field(repr=False)
    source: Any = field(repr=False)  # This reference keeps the memory map open.
    encoded_by: str | None = None
    # The columns that were checked, as pairs of the number of a record batch and a name.
    _checked: set[tuple[int, str]] = field(repr=False, default_factory=set)

    @classmethod
    def load(
        cls,
        folder: Path,
        layout: Layout,
        chunks: int,
        blocks: Callable[[str], Blocks] | None = None,
        encoded_by: str | None = None,
    ) -> Part:
        """Open the part in a folder.

        Args:
            folder: The folder of the part.
            layout: The layout of the index.
            chunks: The expected number of chunks.
            blocks: A function that returns the blocks of a file by name. A block is checked when it is first read.
                None: this process wrote the part, so it is not checked.
            encoded_by: See :class:`PartWriter`.

        Raises:
            ValueError: The sizes of the files do not fit each other or ``chunks``, or a file has invalid values. The
                message names the file.
        """
        source = pa.memory_map(str(folder / CHUNKS))
        try:
            table = int32_columns.with_current_names(read_table(source))
            table.validate()
            names = int32_columns.widened_schema(table.schema).names
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(damaged(folder / CHUNKS, f"{error!s:.200}")) from error
        if not names or len(set(names)) < len(names):
            raise ValueError(damaged(folder / CHUNKS, "it has no columns, or two of the same name"))
        _expect(folder / CHUNKS, table.num_rows, chunks)
        own = {} if blocks is None else {name: blocks(name) for name in layout.files()}

        def mapped(name: str, dtype: str, width: int, wanted: bool, rows: int) -> Any:
            if not wanted:
                return np.empty((0, width), dtype)
            data = own[name].data if own else mapped_bytes(folder / name)
            _expect(folder / name, data.size / (np.dtype(dtype).itemsize * width), rows)
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
            encoded_by,
        )
        if found.postings is not None:
            for name, held, wanted in found.postings.sizes(chunks):
                _expect(folder / name, held, wanted)
        return found

    def check(self, names: Iterable[str] | None = None, begin: int = 0, end: int | None = None) -> None:
        """Check columns of the table (None: all) for rows [begin, end), unless they were checked before.

        Call it before values are read. Arrow does not check the offsets of strings and lists, and a wrong offset would
        crash the process.

        Raises:
            ValueError: The hash of a block is wrong, or an offset or a text is invalid. The message names the file.
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
        """Check that each chunk's parent comes before it, so that climbing a tree of headings always ends at its top.

        Raises:
            ValueError: The parent of a row is the row itself or a later one. The message names the file.
        """
        if not self.blocks or "parent" not in self.table.column_names:
            return
        self.check(["parent", "subtree", "chunk_index"])
        parent, size, chunk = (
            np.asarray(self.table[name].cast(pa.int64()).fill_null(empty), np.int64)
            for name, empty in (("parent", -1), ("subtree", 1), ("chunk_index", 0))
        )
        most = 1 << 31
        wrong = (parent >= chunk) | (parent < -1) | (size < 1) | (size > most) | (chunk < 0) | (chunk > most)
        if wrong.any():
            row = int(wrong.argmax())
            found = f"chunk {chunk[row]} has the parent {parent[row]}, which must be before it"
            if not 0 <= chunk[row] <= most or -1 <= parent[row] < chunk[row]:
                found = f"row {row} has the chunk_index {chunk[row]} and the subtree {size[row]}"
            raise ValueError(damaged(self.blocks[CHUNKS].path, found))

    def checked(self, names: Iterable[str], row: int) -> Callable[[int], None]:
        """Check the columns of the record batch that contains a row, except for the bytes of its texts.

        Texts are two thirds of a table, and a search shows only ten of them. For 100,000 chunks, 5 MB are read instead
        of 25.

        Returns:
            A function that checks the hashes of the bytes of one row's texts. It does not check that they are UTF-8;
            decoding them does.
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
        """Return the range [begin, end) of bytes of the file that a column's buffer occupies."""
        if buffer is None or not buffer.size:
            return 0, 0
        begin = buffer.address - self._mapped.address
        if not 0 <= begin <= begin + buffer.size <= self._mapped.size:
            raise ValueError(damaged(self.blocks[CHUNKS].path, "a column cannot be found in the file"))
        return begin, begin + buffer.size

    def _check_offsets(self, texts: pa.Array) -> tuple[I64, int]:
        """Check a column of texts except for their bytes.

        Returns:
            (the offsets of the texts in their bytes; the offset of these bytes in the file).
        """
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
        """The columns in the types with which they were added."""
        return int32_columns.widened_schema(self.table.schema)

    def rows(self) -> Rows:
        """Check and return all rows, for writing them to another part."""
        self.check()
        has = len(self.offsets) > 0
        return Rows(
            self.table,
            self.offsets if has else None,
            self.spans if has else None,
            self.sentences if has else None,
            self.pooled if len(self.pooled) else None,
            self.encoded_by,
        )

    def vectors_of(self, chunks: I64) -> Rows:
        """Check and return the vectors of chunks, given by number. The table has only the column ``start``."""
        self.check(["start"])
        offsets = self.offsets if len(self.offsets) else None
        if offsets is not None:
            sizes = offsets[chunks + 1] - offsets[chunks]
            rows = np.arange(int(sizes.sum())) + np.repeat(offsets[chunks] - np.cumsum(sizes) + sizes, sizes)
            self._check_rows(SPANS, self.spans, rows)
            self._check_rows(SENTENCES, self.sentences, rows)
        pooled = self.pooled if len(self.pooled) else None
        if pooled is not None:
            self._check_rows(POOLED, self.pooled, chunks)
        spans, sentences = (None, None) if offsets is None else (self.spans, self.sentences)
        return Rows(self.table.select(["start"]), offsets, spans, sentences, pooled, self.encoded_by).choose(chunks)

    def _check_rows(self, name: str, array: npt.NDArray[Any], rows: I64) -> None:
        if self.blocks and len(rows):
            self.blocks[name].check_rows(rows, array.shape[1] * array.itemsize)


def slices(rows: Rows, size: int) -> Iterable[Rows]:
    """Yield rows in slices of at most ``size`` chunks, with integers in the types with which they were added."""
    for begin in range(0, rows.table.num_rows, size):
        piece = rows.take(begin, min(begin + size, rows.table.num_rows))
        yield replace(piece, table=int32_columns.widened(piece.table))


def _expect(path: Path, found: float, expected: int) -> None:
    if found != expected:
        raise ValueError(
            f"{path} is damaged: it must have {expected:,} whole rows; it has {found:,g}: restore it from a copy, or "
            "build the index again"
        )
