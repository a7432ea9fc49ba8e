"""The BM25 scores of one term, added to the scores of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]


def add_bm25(
    rows: npt.NDArray[np.integer[Any]], counts: npt.NDArray[np.integer[Any]], weight: float, base: F32, out: F32
) -> None:
    """Add ``weight * c / (c + base[r])`` to ``out[r]`` in float32, for each row r and its count c.

    Rows must be distinct.
    """
    times = counts.astype(np.float32)
    out[rows] += np.float32(weight) * times / (times + base[rows])
