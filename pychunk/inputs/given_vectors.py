"""The sentence vectors that the caller passes, in the caller's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.data.ragged import Ragged

Array = npt.NDArray[Any]
#: The types that the core reads. All others are converted.
NATIVE = (np.dtype(np.float32), np.dtype(np.float16))


class GivenVectors(Ragged):
    """The vectors of the caller, which the core scales to unit length while it reads them, without a copy.

    Everything else reads :attr:`values`, which makes the copy.

    Attributes:
        pieces: Arrays float32[n, d] or float16[n, d] of any strides: one for all documents, or one for each.
        borders: The offsets of all documents in ``pieces``, by which errors name a document.
        first: The number of the first of these documents.
        unit: The values, after the first access. Slices of one array share them.
    """

    pieces: list[Array]
    borders: npt.NDArray[np.int64]
    first: int
    unit: list[npt.NDArray[np.float32]]

    @classmethod
    def of_pieces(cls, pieces: Sequence[Array], offsets: npt.NDArray[np.int64]) -> GivenVectors:
        """Return the vectors of documents, one array for each, or one array for all of them."""
        out = cls(pieces[0], offsets)
        out.pieces, out.borders, out.first, out.unit = list(pieces), offsets, 0, []
        return out

    @property
    def values(self) -> npt.NDArray[np.float32]:
        """float32[n, d] of unit length.

        Raises:
            ValueError: A vector is not finite.
        """
        if not self.unit:
            matrix = self.pieces[0] if len(self.pieces) == 1 else np.concatenate(self.pieces)
            self.unit.append(unit_rows(matrix, self.borders, self.first))
        return self.unit[0]

    def rows(self, begin: int, end: int) -> GivenVectors:
        """Return the vectors of documents [begin, end), in the same memory."""
        if len(self.pieces) == 1:
            out = GivenVectors(self.pieces[0], self.offsets[begin : end + 1])
            out.pieces, out.borders, out.first, out.unit = self.pieces, self.borders, self.first, self.unit
            return out
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        out = GivenVectors.of_pieces(self.pieces[begin:end] or [self.pieces[0][:0]], offsets)
        out.first = self.first + begin
        return out


def unit_rows(matrix: Array, offsets: npt.NDArray[np.int64], first: int = 0) -> npt.NDArray[np.float32]:
    """Return the rows of a matrix at unit length, float32[n, d].

    Args:
        matrix: float[n, d].
        offsets: The first row of each document.
        first: The number of the first document.

    Raises:
        ValueError: A row is not finite. The message names its document.
    """
    unit, row = native.normalized_rows(matrix)
    if row >= 0:
        document = int(np.searchsorted(offsets, row, side="right")) - 1
        raise ValueError(
            f"sentence_vectors must be finite in float32; sentence {row - int(offsets[document])} of document "
            f"{first + document} has {matrix[row][~np.isfinite(matrix[row].astype(np.float32))][0]}"
        )
    return unit


def as_floats(values: Any) -> Array:
    """Return vectors as an array of float32 or float16: in place if they are such an array, tensor or Arrow array."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.FixedSizeListArray):
        return as_floats(values.flatten()).reshape(len(values), values.type.list_size)
    if hasattr(values, "__array__"):
        array = np.asarray(values)
    elif hasattr(values, "__dlpack__"):
        array = np.from_dlpack(values)
    else:
        return np.asarray(values, np.float32)
    return array if array.dtype in NATIVE else array.astype(np.float32)
