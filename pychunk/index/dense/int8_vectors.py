"""Vectors in 8 bits: each row its numbers as whole ones from -127 to 127, and behind them the scale they are times."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._engine import native

F32 = npt.NDArray[np.float32]
Packed = npt.NDArray[np.int8]

#: Bytes of a row's scale, a float32.
SCALE = 4


def width(dim: int, dtype: str) -> int:
    """Numbers of ``dtype`` that a stored row of ``dim`` takes."""
    return dim + SCALE if dtype == "int8" else dim


def stored(vectors: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
    """Rows as they are stored: rounded to float16 or float32, or :func:`packed`. Bytes are such rows already."""
    if dtype == "int8" and vectors.dtype != np.int8:
        return packed(np.asarray(vectors, np.float32))
    return np.ascontiguousarray(vectors, dtype)


def packed(vectors: F32) -> Packed:
    """Rows of float32[n, dim] as int8[n, dim + 4]: a number is off by half a scale at most, 1/254 of the row's largest.

    In the native core; ``pychunk._engine.reference.search.int8_rows`` says the same in NumPy.

    Example:
        >>> rows = packed(np.array([[0.5, -1.0, 0.0]], np.float32))
        >>> rows[:, :3].tolist(), unpacked(rows).round(2).tolist()
        ([[64, -127, 0]], [[0.5, -1.0, 0.0]])
    """
    return native.pack_rows(vectors)


def scales(rows: Packed) -> F32:
    """The scale of each row, float32[n]."""
    return np.ascontiguousarray(rows[:, -SCALE:]).view(np.float32)[:, 0]


def unpacked(rows: npt.NDArray[Any]) -> F32:
    """Rows as float32[n, dim], of bytes or of floating point."""
    if rows.dtype != np.int8:
        return np.asarray(rows, np.float32)
    return np.asarray(rows[:, :-SCALE] * scales(rows)[:, None], np.float32)
