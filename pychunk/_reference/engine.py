"""The functions of `pychunk._native` that segment() needs, one document after the other, in Python and NumPy.

Chosen by PYCHUNK_BACKEND=reference; never a substitute on its own. From the native core come only the word lists of the
sentence rules, and WordPiece spans for recursive splitting by tokens.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..plan import Plan, Request
from . import scoring, wordpiece
from . import vectors as linear
from .document import Document, Trimmed, token_ids
from .table import segment
from .vectors import F32


def adjacent_sums(request: Request) -> tuple[int, int]:
    """(sum, count) of the scores between neighbours of a batch, the sum in units of 2**-32."""
    total = count = 0
    for row in range(request.documents):
        document = Document(request, row)
        if document.n:
            window = request.plan.window
            scores = linear.adjacent(document.vectors, window) if window > 1 else document.affinities
            total += sum(map(scoring.fixed_point, scores))
            count += len(scores)
    return total, count


def encode_static(text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], encoder: Any, *, threads: int) -> F32:
    """Unit vectors float32[k, dim] of k texts."""
    ids, options = token_ids(encoder), encoder.tokenizer_options
    texts = [bytes(text[a:b]).decode() for a, b in pairwise(offsets)]
    rows = [linear.bag(encoder.table, wordpiece.encode(t, ids, options)) for t in texts]
    return np.array(rows, np.float32).reshape(-1, encoder.table.shape[1])


def sentence_table(
    request: Request,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """(spans int64[n, 2] in bytes of each document, doc_offsets int64[k + 1], flags uint8[n]) of k documents.

    Flags are those of sentences split here; with given ones only whether a paragraph begins.
    """
    spans: list[Trimmed] = []
    flags: list[int] = []
    counts = [0]
    for row in range(request.documents):
        document = Document(request, row)
        borders = [*document.starts, len(document.text)]
        spans += pairwise(
            [len(document.text[:border].encode()) for border in borders[: len(borders) if document.n else 0]]
        )
        flags += document.flags
        counts.append(document.n)
    pairs = np.array(spans, np.int64).reshape(-1, 2)
    return pairs, np.cumsum(counts).astype(np.int64), np.array(flags, np.uint8)


def split_sentences(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], *, wrap: bool, threads: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """As `sentence_table`, of texts alone."""
    return sentence_table(Request(text, offsets, Plan("sentence", wrap=wrap)))


__all__ = ["adjacent_sums", "encode_static", "segment", "sentence_table", "split_sentences"]
