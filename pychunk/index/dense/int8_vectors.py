"""Vectors in 8 bits: each row holds its numbers as integers from -127 to 127, followed by their scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._engine import native

F32 = npt.NDArray[np.float32]
Packed = npt.NDArray[np.int8]

#: The bytes of a row's scale, a float32.
SCALE = 4


def width(dim: int, dtype: str) -> int:
    """Return the number of values of type ``dtype`` in the stored form of a vector of ``dim`` numbers."""
    return dim + SCALE if dtype == "int8" else dim


def stored(vectors: npt.NDArray[Any], dtype: str, added: native.Added | None = None) -> npt.NDArray[Any]:
    """Return vectors in the form in which they are stored: :func:`packed` for int8, else rounded to ``dtype``.

    Vectors of type int8 are already packed, and are returned unchanged.

    Args:
        vectors: Unit vectors, or vectors that are already stored.
        dtype: The type in which the index stores vectors.
        added: Rows that :func:`.native.unit_sums` adds to unit vectors.
    """
    if dtype == "int8" and vectors.dtype != np.int8:
        return packed(np.asarray(vectors, np.float32), added)
    return np.ascontiguousarray(vectors if added is None else native.unit_sums(vectors, added), dtype)


def packed(vectors: F32, added: native.Added | None = None) -> Packed:
    """Return rows float32[n, dim] as int8[n, dim + 4], made by the native core.

    The error of a number is at most half the scale, which is 1/254 of the row's largest number.
    ``pychunk._engine.reference.search.int8_rows`` does the same in NumPy.

    Example:
        >>> rows = packed(np.array([[0.5, -1.0, 0.0]], np.float32))
        >>> rows[:, :3].tolist(), unpacked(rows).round(2).tolist()
        ([[64, -127, 0]], [[0.5, -1.0, 0.0]])
    """
    return native.pack_rows(vectors, added)


def scales(rows: Packed) -> F32:
    """Return the scale of each row, float32[n]."""
    return np.ascontiguousarray(rows[:, -SCALE:]).view(np.float32)[:, 0]


def unpacked(rows: npt.NDArray[Any]) -> F32:
    """Return stored rows, packed int8 or floating-point numbers, as float32[n, dim]."""
    if rows.dtype != np.int8:
        return np.asarray(rows, np.float32)
    return np.asarray(rows[:, :-SCALE] * scales(rows)[:, None], np.float32)
