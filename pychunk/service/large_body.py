"""Large JSON bodies, read by Arrow: other requests wait while msgspec reads one, as it holds Python's lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .requests import FORMATS, LONGEST_ID


@dataclass
class LargeRequest:
    """The fields of a body for /v1/segment."""

    texts: pa.StringArray
    ids: list[str] | None
    options: dict[str, Any]
    format: str


_TEXT = pa.string()
_DOCUMENT = pa.struct({"text": pa.string(), "id": pa.string()})


def large_request(body: bytes) -> LargeRequest | None:
    """Return the fields of a body, or None if it is wrong, or has something that Arrow reads otherwise than msgspec.

    This is documents with columns, options with mixed lists, and halves of surrogate pairs.
    """
    row = _read(body, _TEXT)
    if row is None:
        row = _read(body, _DOCUMENT)
    if row is None:
        return None
    documents = row["documents"].chunk(0).flatten()
    ids = None
    if documents.type == _DOCUMENT:
        texts, names = documents.field("text"), documents.field("id")
        if documents.null_count or names.null_count not in (0, len(names)):
            return None
        if not names.null_count:
            ids = names.to_pylist()
            if max(map(len, ids), default=0) > LONGEST_ID:
                return None
    else:
        texts = documents
    options, format = (
        row[name].to_pylist()[0] if name in row.column_names else default
        for name, default in (("options", {}), ("format", "text"))
    )
    if texts.type != _TEXT or texts.null_count or not isinstance(options, dict) or format not in FORMATS:
        return None
    return LargeRequest(texts, ids, options, format)


def _read(body: bytes, kind: pa.DataType) -> pa.Table | None:
    """Return a body with documents of a type as a table of one row, or None if it is no such body."""
    from pyarrow import json

    try:
        row = json.read_json(
            pa.BufferReader(body),
            read_options=json.ReadOptions(use_threads=False, block_size=len(body) + 1),
            parse_options=json.ParseOptions(
                explicit_schema=pa.schema({"documents": pa.list_(kind)}), newlines_in_values=True
            ),
        )
    except (pa.ArrowException, OSError):
        return None
    is_request = set(row.column_names) <= {"documents", "options", "format"}
    return row if row.num_rows == 1 and is_request and not row["documents"].null_count else None
