"""Spans, page starts and vectors that the caller gives document by document, as flat arrays with offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native

IntArray = npt.NDArray[np.int64]


def ragged_starts(values: Any, documents: int, name: str) -> tuple[IntArray, IntArray]:
    """One list of whole numbers a document as (values, offsets); a single document's list may stand alone."""
    rows = [values] if documents == 1 and _depth(values) == 1 else list(values)
    if len(rows) != documents:
        raise ValueError(f"{name} must hold one list for each of {documents} documents; got {len(rows)}")
    arrays = [np.asarray(row if row is not None else [], dtype=np.int64).reshape(-1) for row in rows]
    return _joined(arrays)


def ragged_spans(spans: Any, documents: int) -> tuple[IntArray, IntArray]:
    """First characters of the sentences of each document, from (start, end) pairs.

    Raises:
        ValueError: the wrong number of documents, or spans that overlap or run backwards.
    """
    alone = documents == 1 and (len(spans) == 0 or (_depth(spans) == 2 and len(spans[0]) > 0))
    rows = [spans] if alone else list(spans)
    if len(rows) != documents:
        raise ValueError(f"sentence_spans must hold one list for each of {documents} documents; got {len(rows)}")
    starts = []
    for row, pairs in enumerate(rows):
        array = np.asarray(pairs if len(pairs) else np.empty((0, 2)), dtype=np.int64)
        if array.ndim != 2 or array.shape[1] != 2:
            raise ValueError(f"sentence_spans of document {row} must be (start, end) pairs; got shape {array.shape}")
        flat = array.reshape(-1)
        if len(flat) and (flat[0] < 0 or (np.diff(flat) < 0).any() or (array[:, 0] >= array[:, 1]).any()):
            raise ValueError(
                f"sentence_spans of document {row} must increase, start before end; got {array.tolist()[:5]}"
            )
        starts.append(np.ascontiguousarray(array[:, 0]))
    return _joined(starts)


def sentence_matrix(vectors: Any, sentence_offsets: IntArray) -> tuple[npt.NDArray[np.float32], IntArray]:
    """Unit vectors float32[n, d] of all sentences and the offsets of each document's.

    Raises:
        ValueError: the number of vectors is not that of the sentences, or a vector is not finite.
    """
    documents = len(sentence_offsets) - 1
    if isinstance(vectors, np.ndarray) and vectors.ndim == 2:
        matrix, offsets = vectors, sentence_offsets
        if len(matrix) != int(offsets[-1]):
            raise ValueError(
                f"sentence_vectors must hold one row for each of {int(offsets[-1])} sentences; got {len(matrix)}"
            )
    else:
        rows: Sequence[Any] = list(vectors)
        if documents == 1 and len(rows) and np.ndim(rows[0]) == 1:
            rows = [rows]
        if len(rows) != documents:
            raise ValueError(
                f"sentence_vectors must hold one matrix for each of {documents} documents; got {len(rows)}"
            )
        arrays = [np.asarray(row, dtype=np.float32) for row in rows]
        matrices = [array for array in arrays if array.ndim == 2]
        dims = {array.shape[1] for array in matrices if len(array)} or {array.shape[1] for array in matrices}
        if len(dims) > 1 or any(array.ndim != 2 and array.size for array in arrays):
            raise ValueError("sentence_vectors must be float[n, d] with one d for all documents")
        dim = dims.pop() if dims else 1
        for row, array in enumerate(arrays):
            wanted = int(sentence_offsets[row + 1] - sentence_offsets[row])
            if len(array) != wanted:
                raise ValueError(f"document {row} has {wanted} sentences but {len(array)} sentence vectors")
        matrix = np.concatenate([array.reshape(-1, dim) for array in arrays]) if arrays else np.empty((0, dim))
        offsets = sentence_offsets
    unit, row = _native.normalized_rows(matrix)
    if row >= 0:
        document = int(np.searchsorted(offsets, row, side="right")) - 1
        raise ValueError(
            f"sentence_vectors must be finite; sentence {row - int(offsets[document])} of document {document} is not"
        )
    return unit, offsets


def _joined(arrays: list[IntArray]) -> tuple[IntArray, IntArray]:
    offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
    np.cumsum([len(array) for array in arrays], out=offsets[1:])
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int64), offsets


def _depth(values: Any) -> int:
    """Nesting of lists or arrays: 0 for a number."""
    if isinstance(values, np.ndarray):
        return values.ndim
    if isinstance(values, (list, tuple)):
        return 1 + (_depth(values[0]) if values else 0)
    return 0
