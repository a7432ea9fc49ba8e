"""The spans, page starts and vectors that the caller passes for each document, as flat arrays with offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.data.ragged import Ragged, offsets_of
from .._util.counting import counted

IntArray = npt.NDArray[np.int64]


def ragged_starts(values: Any, documents: int, name: str) -> Ragged:
    """Return one list of whole numbers for each document.

    For a single document, the caller may pass its list without a list around it.
    """
    rows = [values] if documents == 1 and _depth(values) == 1 else list(values)
    if len(rows) != documents:
        raise ValueError(f"{name} must hold as many lists as there are documents, {documents}; got {len(rows)}")
    return _joined([_whole(row, name, document).reshape(-1) for document, row in enumerate(rows)])


def ragged_counts(values: Any, documents: int) -> Ragged:
    """Return one list of numbers of tokens for each document, as :func:`ragged_starts` does.

    Raises:
        ValueError: A number is less than 0, or see :func:`ragged_starts`.
    """
    counts = ragged_starts(values, documents, "token_counts")
    if len(counts.values) and counts.values.min() < 0:
        bad = int(np.flatnonzero(counts.values < 0)[0])
        row = int(np.searchsorted(counts.offsets, bad, side="right")) - 1
        raise ValueError(f"token_counts of document {row} must be 0 or more; got {counts.values[bad]}")
    return counts


def _whole(row: Any, name: str, document: int) -> IntArray:
    """Return the whole numbers of one document.

    Raises:
        ValueError: A value is not a whole number, which NumPy would truncate to one without an error.
    """
    found = np.asarray([] if row is None else row)
    if found.size == 0:
        return found.astype(np.int64)
    if found.dtype.kind not in "iu" or (found.dtype == np.uint64 and found.max() >= 2**63):
        kind = "" if name == "token_counts" else ", positions in the text"
        raise ValueError(f"{name} of document {document} must be whole numbers{kind}; got {str(row)[:60]}")
    return found.astype(np.int64)


def ragged_spans(spans: Any, lengths: IntArray) -> Ragged:
    """Return the positions, in characters, at which the sentences of each document start, from (start, end) pairs.

    Args:
        spans: For each document a list of pairs, in characters.
        lengths: int64[k]: the number of characters of each document.

    Raises:
        ValueError: The number of documents is wrong, or spans overlap, run backwards or end beyond their document.
    """
    documents = len(lengths)
    alone = documents == 1 and (len(spans) == 0 or (_depth(spans) == 2 and len(spans[0]) > 0))
    rows = [spans] if alone else list(spans)
    if len(rows) != documents:
        raise ValueError(f"sentence_spans must hold as many lists as there are documents, {documents}; got {len(rows)}")
    pairs, offsets = _pairs(rows)
    # True if the span starts at or after the end of the previous span in its document.
    rising = np.ones(len(pairs), dtype=bool)
    rising[1:] = pairs[1:, 0] >= pairs[:-1, 1]
    rising[offsets[:-1][np.diff(offsets) > 0]] = True
    good = rising & (pairs[:, 0] >= 0) & (pairs[:, 0] < pairs[:, 1])
    if not good.all():
        bad = int(np.flatnonzero(~good)[0])
        row = int(np.searchsorted(offsets, bad, side="right")) - 1
        raise ValueError(
            f"sentence_spans of document {row} must increase and start before they end; "
            f"got {pairs[max(bad - 1, int(offsets[row])) : bad + 1].tolist()}"
        )
    beyond = np.flatnonzero(pairs[:, 1] > np.repeat(lengths, np.diff(offsets)))
    if len(beyond):
        row = int(np.searchsorted(offsets, beyond[0], side="right")) - 1
        raise ValueError(
            f"sentence_spans of document {row} must lie in its {counted(lengths[row], 'character')}; "
            f"got {tuple(pairs[beyond[0]].tolist())}"
        )
    return Ragged(np.ascontiguousarray(pairs[:, 0]), offsets)


def _pairs(rows: Sequence[Any]) -> tuple[IntArray, IntArray]:
    """Return all (start, end) pairs, int64[n, 2], and the offsets of each document's pairs."""
    if (found := native.span_pairs(rows)) is not None:
        return found[0].reshape(-1, 2), found[1]
    arrays = []
    for row, pairs in enumerate(rows):
        try:
            array = np.asarray([] if pairs is None else pairs)
        except ValueError:  # The rows differ in length.
            array = np.empty(1)
        if array.size and (array.ndim != 2 or array.shape[1] != 2):
            raise ValueError(f"sentence_spans of document {row} must be (start, end) pairs; got {str(pairs)[:60]}")
        arrays.append(_whole(array, "sentence_spans", row).reshape(-1, 2))
    flat, offsets = _joined([array.reshape(-1) for array in arrays])
    return flat.reshape(-1, 2), offsets // 2


def sentence_matrix(vectors: Any, sentence_offsets: IntArray) -> Ragged:
    """Return the vectors of all n sentences, float32[n, d], which have unit length when they are read.

    Raises:
        ValueError: There is not one vector for each sentence, or a vector is not finite. For vectors in float32 or
            float16, whoever reads them raises the latter.
    """
    from .given_vectors import NATIVE, GivenVectors, as_floats, unit_rows  # here, because few calls pass vectors

    documents = len(sentence_offsets) - 1
    if isinstance(vectors, (pa.FixedSizeListArray, pa.ChunkedArray)) or (
        not isinstance(vectors, np.ndarray) and getattr(vectors, "ndim", 0) == 2
    ):
        vectors = as_floats(vectors)
    if isinstance(vectors, np.ndarray) and vectors.ndim == 2:
        pieces = [vectors]
        if len(vectors) != int(sentence_offsets[-1]):
            raise ValueError(
                f"sentence_vectors must hold one row for each sentence; got {counted(len(vectors), 'row')} for "
                f"{counted(int(sentence_offsets[-1]), 'sentence')}"
            )
    else:
        rows: Sequence[Any] = list(vectors)
        if documents == 1 and len(rows) and np.ndim(rows[0]) == 1:
            rows = [rows]
        if len(rows) != documents:
            raise ValueError(
                "sentence_vectors must hold one matrix for each document; got "
                f"{counted(len(rows), 'matrix', 'matrices')} for {counted(documents, 'document')}"
            )
        arrays = [as_floats(row) for row in rows]
        matrices = [array for array in arrays if array.ndim == 2]
        dims = {array.shape[1] for array in matrices if len(array)} or {array.shape[1] for array in matrices}
        flat = next((row for row, array in enumerate(arrays) if array.ndim != 2 and array.size), None)
        if len(dims) > 1 or flat is not None:
            got = f"d of {sorted(dims)!s:.80}" if flat is None else f"shape {arrays[flat].shape} for document {flat}"
            raise ValueError(
                f"sentence_vectors must be float[n, d] for n sentences, with the same d in all documents; got {got}"
            )
        dim = dims.pop() if dims else 1
        for row, array in enumerate(arrays):
            wanted = int(sentence_offsets[row + 1] - sentence_offsets[row])
            if len(array) != wanted:
                raise ValueError(
                    f"document {row} has {counted(wanted, 'sentence')} but {counted(len(array), 'sentence vector')}; "
                    "pass columns={'sentence_spans': ...} to say which sentences they belong to"
                )
        pieces = [array.reshape(-1, dim) for array in arrays] or [np.empty((0, dim), np.float32)]
    if pieces[0].shape[1] == 0:
        if len(pieces[0]):
            raise ValueError("sentence_vectors must have at least one column; got none")
        pieces = [np.empty((0, 1), np.float32)]
    if pieces[0].dtype not in NATIVE:
        return Ragged(unit_rows(pieces[0], sentence_offsets), sentence_offsets)
    return GivenVectors.of_pieces(pieces, sentence_offsets)


def matrices(column: Any) -> Any:
    """Return the vectors in each row of an Arrow column of lists of vectors, float[n, d] for n vectors.

    If there are no rows, the result is one empty array.
    """
    import pyarrow.compute as pc  # imported here because few calls need it: it takes a fifth of pychunk's import time

    from .given_vectors import as_floats

    ends = np.cumsum(np.asarray(pc.list_value_length(column), np.int64))
    vectors = pc.list_flatten(column)
    fixed = pa.types.is_fixed_size_list(vectors.type)
    widths = [vectors.type.list_size] if fixed else np.unique(np.asarray(pc.list_value_length(vectors)))
    if len(widths) > 1:
        raise ValueError(f"sentence_vectors must be of one width; got {', '.join(map(str, widths))}")
    numbers = as_floats(pc.list_flatten(vectors)).reshape(len(vectors), widths[0] if len(widths) else 1)
    return np.split(numbers, ends[:-1]) if len(ends) else numbers


def _joined(arrays: list[IntArray]) -> Ragged:
    values = np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int64)
    return Ragged(values, offsets_of([len(array) for array in arrays]))


def _depth(values: Any) -> int:
    """Return the nesting depth of lists or arrays, which is 0 for a number."""
    if isinstance(values, np.ndarray):
        return values.ndim
    if isinstance(values, (list, tuple)):
        return 1 + (_depth(values[0]) if values else 0)
    return 0
