"""The collection of a batch's tables of chunks, summaries and removed spans, request by request."""

from __future__ import annotations

import functools
from typing import Any

import pyarrow as pa

from .._engine.data.request import Request
from ..inputs.inputs import Inputs
from ..inputs.texts import PartialRowError, RowError
from .batch import ChunkBatch


class ChunkCollector:
    """The results of the engine for a batch, in Arrow.

    Args:
        facts: The metadata of the chunk table.
        summaries: The source of summaries; None if there is no table of summaries.
        removes: Whether the method removes spans.

    Attributes:
        tokens: Number of tokens in the texts, as the tokenizer splits them.
        unknown: Number of these tokens that are in a script which the tokenizer does not know.
        windowed: Number of sentences that a transformer read in windows.
    """

    def __init__(self, facts: dict[bytes, bytes], *, summaries: str | None, removes: bool) -> None:
        self._facts, self._source, self._removes = facts, summaries, removes
        self._tables: list[tuple[dict[str, Any], pa.Array | None, int]] = []
        self._summaries: list[pa.Table] = []
        self._dropped: list[pa.Table] = []
        self._notes: list[RowError] = []
        self.tokens = self.unknown = self.windowed = 0

    def add(self, columns: dict[str, Any], request: Request, ids: pa.Array | None) -> None:
        """Add the columns of a request's chunks.

        ``ids`` are the ids of the request's documents, or None.
        """
        if request.features.page_starts is not None:
            from .page_boxes import boxes_of, page_breaks_of  # imported here because few documents have pages

            columns["page_breaks"] = page_breaks_of(columns, request.features, request.first_row)
            columns["boxes"] = boxes_of(columns, request.features, request.first_row)
            without = request.features.page_starts.counts == 0  # such as a mail beside a PDF in an archive
            if without.any():
                columns["pageless"] = without[columns["document_index"] - request.first_row]
        self._tables.append((columns, ids, request.first_row))
        if self._source is not None:
            from .summary_table import summary_table  # imported here because few calls ask for summaries

            self._summaries.append(summary_table(columns, request, ids, self._source))
        if self._removes:
            from .removed_table import in_characters, removed_table

            found = in_characters(request.features)
            self._dropped += [] if found is None else [removed_table(found, ids, request.first_row)]
        self._notes += [PartialRowError(request.first_row + row, note) for row, note in request.notes]
        self.windowed += request.windowed
        self.tokens += columns["tokens_met"]
        self.unknown += columns["fallback_tokens"]

    def __bool__(self) -> bool:
        return bool(self._tables)

    def batch(self, inputs: Inputs, text_bytes: int, seconds: list[float], origin: Any) -> ChunkBatch:
        """Return the chunks of all requests, each with the metadata columns of its document.

        At least one request must have been added. ``text_bytes`` is the size of all texts. ``seconds`` are those of
        each stage of the call; the caller may still add to them.
        """
        removed = _concat(self._dropped) if self._dropped else None  # The method's removed spans include the caller's.
        if removed is None and inputs.given.removed is not None:
            from .removed_table import removed_table

            removed = removed_table(inputs.given.removed, inputs.texts.ids, inputs.first_document)
        return ChunkBatch(
            functools.partial(_table_of, self._tables, self._facts, inputs.columns_of_chunks, inputs.first_document),
            documents=len(inputs.texts),
            first_document=inputs.first_document,
            errors=inputs.errors_with(self._notes),
            text_bytes=text_bytes,
            seconds=seconds,
            summaries=_concat(self._summaries) if self._summaries else None,
            removed=removed,
            origin=origin,
            windowed=self.windowed,
        )


def _table_of(
    parts: list[tuple[dict[str, Any], pa.Array | None, int]],
    facts: dict[bytes, bytes],
    kept: dict[str, Any],
    first_document: int,
) -> pa.Table:
    """Return the chunk table of all requests. It is made only for callers who look at chunks: it takes 0.1 ms."""
    from .chunk_table import chunk_table  # imported here because not all callers look at the table

    table = _concat([chunk_table(*part, facts) for part in parts])
    if kept:
        from ..inputs.passthrough import with_kept

        table = with_kept(table, kept, first_document)
    return table


def _concat(tables: list[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables)
