"""What a term adds to the scores of BM25."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]


def add_bm25(
    rows: npt.NDArray[np.integer[Any]], counts: npt.NDArray[np.integer[Any]], weight: float, base: F32, out: F32
) -> None:
    """``out[r] += weight * c / (c + base[r])`` for each row r, all of them different, and its count c, in float32."""
    times = counts.astype(np.float32)
    out[rows] += np.float32(weight) * times / (times + base[rows])
