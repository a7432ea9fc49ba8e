"""The table of summaries, with one row for each document."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from .._engine.arrow import primitive, strings
from .._engine.data.ragged import Ragged
from .._engine.data.request import Request


def summary_table(columns: dict[str, Any], request: Request, ids: pa.Array | None, source: str) -> pa.Table:
    """Return the summaries of a request's documents, made of the arrays that the engine returned.

    The columns are ``document_index``, ``document_id`` (if given), ``source``, ``text``, ``sentences`` and ``vector``.
    ``text`` is the text that the caller passed, or the summary's sentences with a space between them. It is null if the
    summary is only a vector. ``sentences`` lists the sentences that the summary is made of, each with ``start`` and
    ``end`` in characters and ``text``, which is ``document[start:end]``. ``vector`` has unit length. It is null if the
    summary has no vector.
    """
    # This import is here because most calls do not need it, and it takes a fifth of pychunk's import time.
    import pyarrow.compute as pc

    documents = request.documents
    offsets = primitive(columns["summary_offsets"])
    texts = strings(columns["summary_text"], columns["summary_text_offsets"])
    spans = [primitive(columns[name]) for name in ("summary_start", "summary_end")]
    sentences = pa.StructArray.from_arrays([*spans, texts], ["start", "end", "text"])
    given = request.features.summaries
    if isinstance(given, Ragged):
        text = strings(given.values, given.offsets)
    else:
        joined = pc.binary_join(pa.LargeListArray.from_arrays(offsets, texts), pa.scalar(" ", pa.large_string()))
        none = primitive(np.diff(columns["summary_offsets"])).cast(pa.bool_())
        text = pc.if_else(none, joined, pa.scalar(None, pa.large_string()))
    vectors = columns["summary_vector"]
    rows = np.arange(request.first_row, request.first_row + documents)
    table: dict[str, Any] = {"document_index": primitive(rows)}
    if ids is not None:
        table["document_id"] = ids
    return pa.table(
        {
            **table,
            "source": pa.repeat(pa.scalar(source, pa.string()), documents),
            "text": text,
            "sentences": pa.LargeListArray.from_arrays(offsets, sentences),
            "vector": pa.FixedSizeListArray.from_arrays(
                primitive(vectors.reshape(-1)), vectors.shape[1], mask=pa.array(~vectors.any(axis=1))
            ),
        }
    )
