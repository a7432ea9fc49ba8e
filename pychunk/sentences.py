"""The sentences of a request, for models that see them from outside the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .plan import Request

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sentences:
    """A request's sentences: bounds in bytes of its text, int64[n + 1], the documents as runs of them, int64[k + 1].

    ``flags`` uint8[n] say where paragraphs begin (csrc/text.h).
    """

    bounds: I64
    documents: I64
    flags: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, request: Request, engine: Any) -> Sentences:
        """As the engine splits them, or as the request gives them."""
        spans, documents, flags = engine.sentence_table(request.only_sentences())
        starts = spans[:, 0] + np.repeat(request.offsets[:-1], np.diff(documents))
        return cls(np.append(starts, request.offsets[-1]), documents, flags)


def neighbours(documents: I64) -> tuple[I64, I64]:
    """First sentences of all adjacent pairs of documents, int64[p], and the pairs of each, as offsets int64[k + 1]."""
    last = documents[1:][np.diff(documents) > 0] - 1
    first = np.delete(np.arange(documents[-1]), last)
    return first, np.concatenate([[0], np.cumsum(np.maximum(np.diff(documents) - 1, 0))]).astype(np.int64)
