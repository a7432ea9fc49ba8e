"""The reasons for removing blocks that follow from the names of elements, as in csrc/parsing/noise_names.h."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


def put_reasons(page: Mapping[str, npt.NDArray[Any]], *, known: npt.NDArray[np.uint32], reasons: I64, why: I64) -> I64:
    """Return the result of :func:`pychunk._engine.native.put_reasons`."""
    why = why.copy()
    words, element = page["names"], page["element"]
    at = np.minimum(np.searchsorted(known, words), len(known) - 1)
    hits = np.flatnonzero(known[at] == words)
    rows = np.searchsorted(page["name_offsets"], hits, side="right") - 1
    first = np.searchsorted(element, rows)
    last = np.searchsorted(element, page["last"][rows])
    running = np.concatenate([[0], np.cumsum(page["text_chars"], dtype=np.int64)])
    small = (running[last] - running[first]) * 2 <= running[-1]
    before = -1
    for row, begin, end, reason in zip(
        rows[small].tolist(),
        first[small].tolist(),
        last[small].tolist(),
        reasons[at[hits]][small].tolist(),
        strict=True,
    ):
        if row != before or (begin < end and reason < why[begin]):
            why[begin:end] = reason
        before = row
    return why
