"""The summaries with which the sentences of documents were compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.request import Request
from .document import Document, trim
from .segmentation import summary
from .vectors import F32


def summaries(request: Request, dim: int) -> dict[str, Any]:
    """Return the columns with the summary of each document, by name; see :func:`pychunk._engine.native.segment`."""
    vectors: list[F32] = []
    counts, spans, texts = [], [], []
    for row in range(request.documents):
        document = Document(request, row)
        made = document.n > 0 or request.plan.summary == "given"
        vector, took = summary(document) if made else (np.zeros(dim, np.float32), [])
        starts = [*document.starts, len(document.text)]
        own = [trim(document.text, starts[s], starts[s + 1]) for s in took]
        vectors.append(vector)
        counts.append(len(own))
        spans += own
        texts += [document.text[begin:end].encode() for begin, end in own]
    return {
        "summary_vector": np.array(vectors, np.float32).reshape(-1, dim),
        "summary_offsets": np.cumsum([0, *counts]).astype(np.int64),
        "summary_start": np.array([begin for begin, _ in spans], np.int64),
        "summary_end": np.array([end for _, end in spans], np.int64),
        "summary_text": np.frombuffer(b"".join(texts), np.uint8),
        "summary_text_offsets": np.cumsum([0, *map(len, texts)]).astype(np.int64),
    }
