"""The chunks of one block of a distributed data frame, with the columns that are kept from its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa

from .._engine import native
from .._util.counting import counted
from ..api import segment
from ..chunks.batch import ChunkBatch
from ..inputs import RowError, TextBatch
from ..inputs.document_columns import DocumentColumns, columns_by_role, wanted_columns
from ..inputs.inputs import CALL_BYTES
from ..inputs.passthrough import check_names
from ..methods.method_options import MethodName
from ..segmenter import Segmenter
from ..telemetry import logger


@dataclass(frozen=True)
class BlockSegmenter:
    """A function that turns blocks of documents into blocks of chunks.

    It holds names and options, but no model. It can therefore be sent to workers, where :func:`pychunk.segment` makes
    one Segmenter in each process. Its tables have the columns of ``ChunkBatch.table``, except that ``document_index``
    is a number made from a hash. It is the hash of the document's id, or of its text if there are no ids, because a
    distributed frame has no row numbers.

    Attributes:
        method, options: The arguments of :class:`pychunk.Segmenter`.
        columns: The column that the caller named for each role, such as ``text``.
        ids: The column of the documents' ids, or None.
        metadata_columns: The columns that are repeated on every chunk.
        wants: The roles of the columns that the method can use, such as ``titles``.
        on_error: ``"raise"``, ``"skip"`` or ``"row"``. With ``"row"``, a row that is not text becomes a row of the
            result, with the reason in the column ``error`` and null in the columns of the chunk.
        batch_bytes: The bytes of text that are cut at a time.
    """

    method: MethodName | None
    options: dict[str, Any]
    columns: dict[str, str]
    ids: str | None
    metadata_columns: tuple[str, ...]
    wants: frozenset[str]
    on_error: str
    batch_bytes: int

    @staticmethod
    def of(
        method: MethodName | None,
        *,
        columns: Mapping[str, Any] | None,
        ids: str | None,
        metadata_columns: Sequence[str],
        batch_bytes: int = CALL_BYTES,
        on_error: str = "raise",
        **options: Any,
    ) -> BlockSegmenter:
        """Return a BlockSegmenter after all checks that are possible without the data.

        Raises:
            ValueError, TypeError: An argument is wrong. The message names the choices.
        """
        if on_error not in ("raise", "skip", "row"):
            raise ValueError(f"on_error must be 'raise', 'skip' or 'row'; got {on_error!r:.80}")
        if not isinstance(batch_bytes, int) or batch_bytes < 1:
            raise ValueError(f"batch_bytes must be a whole number above 0; got {batch_bytes!r:.80}")
        check_names(metadata_columns)
        given = columns_by_role(columns)
        for name, value in {"ids": ids, **given}.items():
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} must be the name of a column; got {type(value).__name__}")
        if options.get("summaries_out"):
            raise ValueError(
                f"summaries_out={options['summaries_out']!r:.80} is not possible, because a distributed frame holds "
                "only chunks: call pychunk.segment() for summaries"
            )
        wants = Segmenter(method, **options).method.wants
        return BlockSegmenter(method, options, given, ids, tuple(metadata_columns), wants, on_error, batch_bytes)

    def needed(self, known: Sequence[str] | None) -> list[str]:
        """Return the columns to read; an empty list means all, because it is unknown which columns are needed."""
        given = wanted_columns(self.wants, known or (), self.columns)
        if "text" not in given or (known is None and self.wants - given.keys()):
            return []
        names = [given["text"], self.ids, *given.values(), *self.metadata_columns]
        return list(dict.fromkeys(name for name in names if name))

    def schema(self, source: pa.Schema) -> pa.Schema:
        """Return the schema of the chunks that documents with the schema ``source`` yield.

        Raises:
            ValueError: A column does not exist.
        """
        documents = source.empty_table()
        chunks = self.segment(documents).table
        if "error" in self.metadata_columns:
            raise ValueError(
                "metadata_columns: 'error' is a column of the result: rename the documents' column 'error' first"
            )
        return self._with_errors(self._beside(chunks, documents), documents, []).schema

    def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
        """Yield the chunks of a block, with one table for every ``batch_bytes`` of text."""
        texts = TextBatch.of(block, column=self.columns.get("text"), on_error="skip")
        for first, _, offsets in texts.slices(self.batch_bytes):
            documents = block.slice(first, len(offsets) - 1)
            chunks = self.segment(documents)
            if chunks.errors:
                self._report(chunks.errors, documents, first)
            table = self._with_errors(self._beside(chunks.table, documents), documents, chunks.errors)
            # If the caller passes vectors and there is no sentence, the width of the vectors is unknown. Such an empty
            # table would have another schema, so it is left out.
            if table.num_rows or self.columns.keys() <= {"text"}:
                yield table

    def segment(self, documents: pa.Table) -> ChunkBatch:
        """Return the chunks of documents, from :func:`pychunk.segment`. Rows that are not text are in ``errors``."""
        chunks: ChunkBatch = segment(
            documents,
            self.method,
            columns=cast("DocumentColumns", self.columns),
            ids=self.ids,
            metadata_columns=self.metadata_columns,
            on_error="skip",
            **self.options,
        )
        return chunks

    def _beside(self, chunks: pa.Table, documents: pa.Table) -> pa.Table:
        """Return chunks with numbers of documents that are valid in the whole frame."""
        return chunks.set_column(0, "document_index", self._numbers(documents).take(chunks.column("document_index")))

    def _numbers(self, documents: pa.Table) -> pa.Array:
        if self.ids is None:
            parts = TextBatch.of(documents, column=self.columns.get("text"), on_error="skip").texts
        else:
            parts = documents.column(self.ids).cast(pa.large_string()).chunks
        # The number has 63 of the hash's 128 bits. Two of four million documents have the same number with probability
        # 1e-6.
        hashes = [int(native.hash128(value)[:16], 16) >> 1 for part in parts for value in _as_bytes(part)]
        return pa.array(hashes, pa.int64())

    def _with_errors(self, table: pa.Table, documents: pa.Table, errors: Sequence[RowError]) -> pa.Table:
        """Return the table, with one more row for each error if ``on_error`` is ``"row"``."""
        if self.on_error != "row":
            return table
        table = table.append_column("error", pa.nulls(table.num_rows, pa.large_string()))
        rows = pa.array([error.row for error in errors], pa.int64())
        found = {
            "document_index": self._numbers(documents).take(rows),
            "error": pa.array([error.reason for error in errors], pa.large_string()),
        }
        if self.ids is not None:
            found["document_id"] = documents.column(self.ids).take(rows)
        for name in self.metadata_columns:
            found[name] = documents.column(name).take(rows)
        columns = [found.get(field.name, pa.nulls(len(rows), field.type)) for field in table.schema]
        return pa.concat_tables([table, pa.table(columns, schema=table.schema)]) if errors else table

    def _report(self, errors: list[RowError], documents: pa.Table, first: int) -> None:
        """Raise or log the rows that are not text, by id if there is one.

        A row number counts only within the block.
        """
        row, reason = errors[0]
        name = (
            f"row {first + row} of a block" if self.ids is None else f"id {documents.column(self.ids)[row].as_py()!r}"
        )
        more = f" ({counted(len(errors) - 1, 'more row')} cannot be used)" if len(errors) > 1 else ""
        if self.on_error == "raise":
            raise ValueError(f"{name}: {reason}{more}; fix it or pass on_error='skip' or 'row'")
        if self.on_error == "skip":
            logger.warning("left out: %s: %s%s", name, reason, more)


def _as_bytes(part: pa.Array) -> list[bytes]:
    """Return strings as UTF-8, without a check or a copy of the whole."""
    return list(pa.Array.from_buffers(pa.large_binary(), len(part), part.buffers(), offset=part.offset).to_pylist())
