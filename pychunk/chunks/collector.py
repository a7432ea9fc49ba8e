"""Tables of the chunks of a batch, of their summaries and of what was left out, gathered request by request."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from .._engine.data.request import Request
from .batch import chunk_table


class Gathered:
    """What comes out of the engine, in Arrow.

    Args:
        facts: of the chunk table's metadata.
        summaries: where summaries come from; None: there is no table of them.
        removes: whether the method leaves spans out.

    Attributes:
        tokens: how many the tokenizer met; ``unknown``: those of a script that it does not know.
        windowed: sentences that a transformer read in windows.
    """

    def __init__(self, facts: dict[bytes, bytes], *, summaries: str | None, removes: bool) -> None:
        self._facts, self._source, self._removes = facts, summaries, removes
        self._tables: list[pa.Table] = []
        self._summaries: list[pa.Table] = []
        self._dropped: list[pa.Table] = []
        self.tokens = self.unknown = self.windowed = 0

    def add(self, columns: dict[str, Any], request: Request, ids: pa.Array | None) -> None:
        """The columns of a request's chunks. ``ids``: of its documents."""
        if request.features.page_starts is not None:
            from .boxes import boxes_of, page_breaks_of  # here, as few documents have any

            columns["page_breaks"] = page_breaks_of(columns, request.features, request.first_row)
            columns["boxes"] = boxes_of(columns, request.features, request.first_row)
        self._tables.append(chunk_table(columns, ids, request.first_row, self._facts))
        if self._source is not None:
            from .summaries import summary_table  # here, as few ask for them

            self._summaries.append(summary_table(columns, request, ids, self._source))
        if self._removes:
            from .removed import in_characters, removed_table

            found = in_characters(request.features)
            self._dropped += [] if found is None else [removed_table(found, ids, request.first_row)]
        self.windowed += request.windowed
        self.tokens += columns["tokens_met"]
        self.unknown += columns["fallback_tokens"]

    def __bool__(self) -> bool:
        return bool(self._tables)

    @property
    def table(self) -> pa.Table:
        """Of the chunks of all requests, of which there was one at least."""
        return self._tables[0] if len(self._tables) == 1 else pa.concat_tables(self._tables)

    @property
    def summaries(self) -> pa.Table | None:
        """A row a document."""
        return pa.concat_tables(self._summaries) if self._summaries else None

    @property
    def removed(self) -> pa.Table | None:
        """A row a span that caller or method left out; None where the method leaves out nothing of its own."""
        return pa.concat_tables(self._dropped) if self._dropped else None
