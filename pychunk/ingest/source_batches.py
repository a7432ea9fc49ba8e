"""The batches of a source with their dead letters, reduced to the documents that ``limit`` and ``sample`` select."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from .._engine.arrow import flat_text
from ..inputs import TextBatch
from ..io import DeadLetter, Source
from ..io.document_batches import documents_of
from ..io.wiki.mediawiki import DROPPED
from .row_digests import Digests
from .sample import Sample

#: The size in bytes above which a batch holds one long document. After such a batch is read, the allocator keeps twice
#: its size until it is told to release it.
LARGE_BYTES = 64 << 20


@dataclass(frozen=True)
class BatchPart:
    """The documents of batch ``number`` that ``limit`` and ``sample`` select; ``first`` is the number of the first one.

    ``table`` has the columns ``id``, ``text``, ``file`` and others; it is None if there are no documents. A part whose
    ``table_rows`` is None, too, holds the dead letters that were reported after the last batch.

    Attributes:
        read: The number of documents of the batch before the selection.
        table_rows: The number of selected documents.
        blank: The number of selected documents that have no chunks. It is known after segmentation.
        dropped: The number of wiki templates that were removed inside sentences.
        digests: The digests of the documents, in a run that stores them.
    """

    number: int
    table: pa.Table | None
    first: int
    read: int
    text_bytes: int
    letters: list[DeadLetter]
    bytes_read: int
    table_rows: int | None
    blank: int = 0
    dropped: int = 0
    digests: Digests | None = None

    def documents(self) -> TextBatch:
        """Return the texts with their ids, and the other columns that the run needs."""
        return documents_of(cast(pa.Table, self.table).drop_columns("file"))

    def with_letters(self, more: list[DeadLetter]) -> BatchPart:
        """Return the part with further dead letters about its documents, after the dead letters of the reader."""
        return replace(self, letters=self.letters + more) if more else self

    def without_table(self) -> BatchPart:
        """Return the part without its texts, to free their memory when only the numbers are still needed."""
        return replace(self, table=None)


@dataclass(frozen=True)
class Range:
    """The batches of a source from ``batch`` up to, but not including, ``end`` (None: up to the last batch).

    In the batches before this range, ``read`` is the number of all documents, and ``document`` is the number of
    documents that ``limit`` and ``sample`` select.
    """

    batch: int = 0
    end: int | None = None
    read: int = 0
    document: int = 0


def parts(source: Source, where: Range, limit: int | None, sample: Sample | None) -> Generator[BatchPart, None, None]:
    """Yield the parts of a range in order, then the dead letters that are reported after the last batch.

    ``limit`` is the largest number of documents of the whole run, not of this range.
    """
    told: list[DeadLetter] = []
    source = replace(source, dead_letters=told.append)
    read, document = where.read, where.document
    if limit is not None and document >= limit:
        return
    for batch in source.batches(skip=where.batch):
        if where.end is not None and batch.number >= where.end:
            return
        table = batch.table
        if sample is not None:
            ids = table.column("id").to_pylist()
            table = table.filter(pa.array([sample.holds(id_, read + i) for i, id_ in enumerate(ids)], pa.bool_()))
        if limit is not None:
            table = table.slice(0, limit - document)
        letters, told[:] = told[:], []
        if batch.table.nbytes > LARGE_BYTES:
            pa.default_memory_pool().release_unused()
        rows = table.num_rows
        yield BatchPart(
            batch.number,
            table,
            document,
            len(batch),
            text_bytes_of(table),
            letters,
            batch.bytes_read,
            rows,
            dropped=dropped_of(table),
        )
        read, document = read + len(batch), document + rows
        if limit is not None and document >= limit:
            return
    if told:
        yield BatchPart(-1, None, document, 0, 0, told, source.total_bytes, None)


def dropped_of(table: pa.Table) -> int:
    """Return the number of templates that were removed inside the sentences of documents."""
    if DROPPED not in table.column_names or not pa.types.is_int32(table.schema.field(DROPPED).type):
        return 0
    return int(pc.sum(table.column(DROPPED)).as_py() or 0)


def text_bytes_of(table: pa.Table) -> int:
    """Return the bytes of the texts of documents."""
    total = 0
    for chunk in table.column("text").chunks:
        _, offsets = flat_text(chunk)
        total += int(offsets[-1] - offsets[0])
    return total
