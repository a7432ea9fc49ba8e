"""What was left out of all chunks, one row a span."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ._arrow import primitive
from .data.removed import Removed


def removed_table(removed: Removed, ids: pa.Array | None, first_document: int) -> pa.Table:
    """Columns: ``document``, ``id`` (if given), ``start``, ``end`` (characters), ``reason``, ``score`` (null: none)."""
    rows = np.repeat(np.arange(removed.documents, dtype=np.int64), np.diff(removed.offsets))
    table: dict[str, pa.Array] = {"document": primitive(rows + first_document)}
    if ids is not None:
        table["id"] = ids.take(primitive(rows))
    return pa.table(
        {
            **table,
            "start": primitive(removed.start),
            "end": primitive(removed.end),
            "reason": pa.array(removed.reason, pa.string()),
            "score": pa.array(removed.score, pa.float32(), from_pandas=True),
        }
    )
