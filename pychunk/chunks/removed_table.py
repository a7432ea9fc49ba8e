"""The table of removed spans, with one row for each span."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from .._engine.arrow import primitive
from .._engine.data.features import Features
from .._engine.data.removed_spans import RemovedSpans


def in_characters(features: Features) -> RemovedSpans | None:
    """Return the removed spans of a request with positions in characters, as in the caller's tables."""
    found = features.removed
    if found is None:
        return None
    start, end = found.start.copy(), found.end.copy()
    for row in range(found.documents):
        own = slice(int(found.offsets[row]), int(found.offsets[row + 1]))
        if own.start < own.stop:
            text = features.text[features.offsets[row] : features.offsets[row + 1]]
            before = np.concatenate([[0], np.cumsum((text & 0xC0) != 0x80)])
            start[own], end[own] = before[start[own]], before[end[own]]
    return replace(found, start=start, end=end)


def removed_table(removed: RemovedSpans, ids: pa.Array | None, first_document: int) -> pa.Table:
    """Return a table with one row for each removed span.

    Its columns are ``document_index``, ``document_id`` (if given), ``start``, ``end`` (characters), ``reason`` and
    ``score`` (null for none).
    """
    rows = np.repeat(np.arange(removed.documents, dtype=np.int64), np.diff(removed.offsets))
    table: dict[str, pa.Array] = {"document_index": primitive(rows + first_document)}
    if ids is not None:
        table["document_id"] = ids.take(primitive(rows))
    return pa.table(
        {
            **table,
            "start": primitive(removed.start),
            "end": primitive(removed.end),
            "reason": pa.array(removed.reason, pa.string()),
            "score": pa.array(removed.score, pa.float32(), from_pandas=True),
        }
    )


def with_text(removed: pa.Table, texts: Iterable[str], first_document: int) -> pa.Table:
    """Return the table with a column ``text`` that holds the text of each span.

    Args:
        removed: A table of :func:`removed_table`, in which all spans of a document are in adjacent rows.
        texts: The documents, from ``first_document`` on.
        first_document: Row of the first document.
    """
    rows = zip(*(removed[name].to_pylist() for name in ("document_index", "start", "end")), strict=True)
    documents = enumerate(texts, first_document)
    at, text, found = -1, "", []
    for document, start, end in rows:
        while at < document:
            at, text = next(documents)
        found.append(text[start:end])
    return removed.append_column("text", pa.array(found, pa.large_string()))
