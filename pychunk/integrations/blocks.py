"""Chunks of one block of a distributed data frame, beside the columns kept of its rows."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import _native
from ..chunks import ChunkBatch
from ..documents import RowError, TextBatch
from ..documents.columns import column_of
from ..functions import segment
from ..segmenter import CALL_BYTES, Segmenter

logger = logging.getLogger("pychunk")

#: Arguments of ``segment`` that hold something for each document; here each is the name of a column.
PER_DOCUMENT = ("summaries", "titles", "sentence_vectors", "sentence_spans", "page_starts")


@dataclass(frozen=True)
class BlockSegmenter:
    """Turns blocks of documents into blocks of chunks.

    It holds names and options, no model: it travels to workers, where :func:`pychunk.segment` makes a Segmenter once a
    process. Its tables have the columns of ``ChunkBatch.table``, but ``document`` is a number made from the hash of the
    document's id, without ids of its text, because a distributed frame has no row numbers.

    Attributes:
        method, options: as for :class:`pychunk.Segmenter`.
        column: holds the text. ids: the column of the documents' ids, or None. keep: columns repeated on every chunk.
        given: arguments of PER_DOCUMENT, each with the column that holds it.
        on_error: ``"raise"``; ``"skip"``; or ``"row"``: a row that is not text becomes a row of its own, with the
            reason in the column ``error`` and null in those of the chunk.
        batch_bytes: text cut at a time.
    """

    method: str
    options: dict[str, Any]
    column: str | None
    ids: str | None
    keep: tuple[str, ...]
    given: dict[str, str]
    on_error: str
    batch_bytes: int

    @staticmethod
    def of(
        method: str,
        *,
        column: str | None,
        ids: str | None,
        keep: Sequence[str],
        batch_bytes: int = CALL_BYTES,
        on_error: str = "raise",
        **options: Any,
    ) -> BlockSegmenter:
        """Checks what can be checked without the data; ValueError or TypeError names the choices."""
        if on_error not in ("raise", "skip", "row"):
            raise ValueError(f"on_error must be 'raise', 'skip' or 'row'; got {on_error!r}")
        if not isinstance(batch_bytes, int) or batch_bytes < 1:
            raise ValueError(f"batch_bytes must be a whole number above 0; got {batch_bytes!r}")
        if isinstance(keep, str):
            raise TypeError(f"keep must be a list of columns; got {keep!r}: write keep=[{keep!r}]")
        given = {name: options.pop(name) for name in PER_DOCUMENT if options.get(name) is not None}
        for name, value in {"ids": ids, **given}.items():
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} must be the name of a column; got {type(value).__name__}")
        Segmenter(method, **options)
        return BlockSegmenter(method, options, column, ids, tuple(keep), given, on_error, batch_bytes)

    @property
    def needed(self) -> list[str]:
        """The columns that are read; none where the one with the text is still to be found."""
        names = [self.column, self.ids, *self.given.values(), *self.keep] if self.column else []
        return list(dict.fromkeys(name for name in names if name))

    def schema(self, source: pa.Schema) -> pa.Schema:
        """Of the chunks of documents with the columns ``source``; raises for a column that is not there."""
        documents = source.empty_table()
        missing = [name for name in self.keep if name not in source.names]
        if missing:
            raise ValueError(f"keep: no column {missing[0]!r}; the columns are {', '.join(source.names)}")
        chunks = self.segment(documents).table
        taken = [name for name in self.keep if name in chunks.column_names or name == "error"]
        if taken or len(set(self.keep)) < len(self.keep):
            raise ValueError(
                f"keep must name each column once and none of the chunks' own; got {', '.join(self.keep)}, the chunks "
                f"have {', '.join(chunks.column_names)}: rename the column before"
            )
        return self._with_errors(self._beside(chunks, documents), documents, []).schema

    def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
        """The chunks of a block, in tables of the documents that hold ``batch_bytes`` of text."""
        texts = TextBatch.of(block, column=self.column, on_error="skip")
        for first, part in texts.slices(self.batch_bytes):
            documents = block.slice(first, len(part))
            chunks = self.segment(documents)
            if chunks.errors:
                self._report(chunks.errors, documents, first)
            table = self._with_errors(self._beside(chunks.table, documents), documents, chunks.errors)
            if table.num_rows or not self.given:  # given vectors of no sentence do not say how wide they are
                yield table

    def segment(self, documents: pa.Table) -> ChunkBatch:
        """The chunks as ``segment`` gives them; rows that are not text are in ``errors``."""
        given = {name: _column(documents, value, name) for name, value in self.given.items()}
        return segment(
            documents, self.method, column=self.column, ids=self.ids, on_error="skip", **given, **self.options
        )

    def _beside(self, chunks: pa.Table, documents: pa.Table) -> pa.Table:
        """Chunks with the columns that are kept, and with numbers of documents that hold for the whole frame."""
        rows = chunks.column("document")
        table = chunks.set_column(0, "document", self._numbers(documents).take(rows))
        for name in self.keep:
            table = table.append_column(name, documents.column(name).take(rows))
        return table

    def _numbers(self, documents: pa.Table) -> pa.Array:
        if self.ids is None:
            parts = TextBatch.of(documents, column=self.column, on_error="skip").texts
        else:
            parts = documents.column(self.ids).cast(pa.large_string()).chunks
        # 63 of the hash's 128 bits: two of four million documents are the same number with probability 1e-6.
        hashes = [int(_native.hash128(value)[:16], 16) >> 1 for part in parts for value in _as_bytes(part)]
        return pa.array(hashes, pa.int64())

    def _with_errors(self, table: pa.Table, documents: pa.Table, errors: Sequence[RowError]) -> pa.Table:
        """With one row more for each error, where rows are asked for."""
        if self.on_error != "row":
            return table
        table = table.append_column("error", pa.nulls(table.num_rows, pa.large_string()))
        rows = pa.array([error.row for error in errors], pa.int64())
        found = {
            "document": self._numbers(documents).take(rows),
            "error": pa.array([error.reason for error in errors], pa.large_string()),
        }
        if self.ids is not None:
            found["id"] = documents.column(self.ids).take(rows)
        for name in self.keep:
            found[name] = documents.column(name).take(rows)
        columns = [found.get(field.name, pa.nulls(len(rows), field.type)) for field in table.schema]
        return pa.concat_tables([table, pa.table(columns, schema=table.schema)]) if errors else table

    def _report(self, errors: list[RowError], documents: pa.Table, first: int) -> None:
        """Raises or logs rows that are not text, by id where there is one: a row number counts within the block."""
        row, reason = errors[0]
        name = (
            f"row {first + row} of a block" if self.ids is None else f"id {documents.column(self.ids)[row].as_py()!r}"
        )
        more = f" ({len(errors) - 1} more rows beside it)" if len(errors) > 1 else ""
        if self.on_error == "raise":
            raise ValueError(f"{name}: {reason}{more}; mend it or pass on_error='skip' or 'row'")
        if self.on_error == "skip":
            logger.warning("left out: %s: %s%s", name, reason, more)


def _as_bytes(part: pa.Array) -> list[bytes]:
    """Strings as UTF-8, without a check or a copy of the whole."""
    return list(pa.Array.from_buffers(pa.large_binary(), len(part), part.buffers(), offset=part.offset).to_pylist())


def _column(documents: pa.Table, column: str, name: str) -> Any:
    """What an argument of PER_DOCUMENT takes, from a column of the documents."""
    if name in ("summaries", "titles"):
        return column
    array = column_of(column, documents.num_rows, documents, name)
    assert array is not None
    return _matrices(array) if name == "sentence_vectors" else array.to_pylist()


def _matrices(column: Any) -> Any:
    """float32[n, d] a row, from a column of lists of vectors; of no rows a single one."""
    ends = np.cumsum(np.asarray(pc.list_value_length(column), np.int64))
    vectors = pc.list_flatten(column)
    fixed = pa.types.is_fixed_size_list(vectors.type)
    widths = [vectors.type.list_size] if fixed else np.unique(np.asarray(pc.list_value_length(vectors)))
    if len(widths) > 1:
        raise ValueError(f"sentence_vectors must be of one width; got {', '.join(map(str, widths))}")
    numbers = np.asarray(pc.list_flatten(vectors), np.float32).reshape(len(vectors), widths[0] if len(widths) else 1)
    return np.split(numbers, ends[:-1]) if len(ends) else numbers
