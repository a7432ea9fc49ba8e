"""The batches of a source with the dead letters that belong to them, reduced to the documents that a run wants."""

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
from .sample import Sample

#: The size above which a batch is one long document. After it is read, the allocator keeps twice its size and does not
#: return it.
LARGE_BYTES = 64 << 20


@dataclass(frozen=True)
class BatchPart:
    """The wanted documents of batch ``number``, of which ``first`` is the number of the first.

    ``table`` has the columns ``id``, ``text`` and others. A part whose ``table`` and ``table_rows`` are None holds the
    dead letters that were reported after the last batch.

    Attributes:
        read: The number of documents of the batch before any were left out.
        table_rows: The number of documents that were kept.
        blank: The number of kept documents that have no chunks. It is known after segmentation.
        dropped: The number of templates of a wiki that were removed inside their sentences.
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

    def documents(self) -> TextBatch:
        """Return the texts with their ids, and the other columns that the run needs."""
        return documents_of(cast(pa.Table, self.table))

    def with_letters(self, more: list[DeadLetter]) -> BatchPart:
        """Return the part with further dead letters about its documents, after those of reading them."""
        return replace(self, letters=self.letters + more) if more else self

    def without_table(self) -> BatchPart:
        """Return the part without its texts, which frees their memory, for code that needs only the numbers."""
        return replace(self, table=None)


@dataclass(frozen=True)
class Range:
    """The batches of a source from ``batch`` to before ``end`` (None: all), and the counts before them."""

    batch: int = 0
    end: int | None = None
    read: int = 0
    document: int = 0


def parts(source: Source, where: Range, limit: int | None, sample: Sample | None) -> Generator[BatchPart, None, None]:
    """Yield the parts of a range in order, then the dead letters after the last batch.

    ``limit`` is the limit of the whole run.
    """
    told: list[DeadLetter] = []
    source = replace(source, dead_letters=told.append)
    read, document = where.read, where.document
    if limit is not None and document >= limit:
        return
    for batch in source.batches(skip=where.batch):
        if where.end is not None and batch.number >= where.end:
            return
        table = batch.table.drop_columns("file")
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
            _text_bytes(table),
            letters,
            batch.bytes_read,
            rows,
            dropped=_dropped(table),
        )
        read, document = read + len(batch), document + rows
        if limit is not None and document >= limit:
            return
    if told:
        yield BatchPart(-1, None, document, 0, 0, told, source.total_bytes, None)


def _dropped(table: pa.Table) -> int:
    if DROPPED not in table.column_names or not pa.types.is_int32(table.schema.field(DROPPED).type):
        return 0
    return int(pc.sum(table.column(DROPPED)).as_py() or 0)


def _text_bytes(table: pa.Table) -> int:
    total = 0
    for chunk in table.column("text").chunks:
        _, offsets = flat_text(chunk)
        total += int(offsets[-1] - offsets[0])
    return total
