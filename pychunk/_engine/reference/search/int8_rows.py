"""Vectors in 8 bits. A row holds integers from -127 to 127, followed by a float32 by which they are multiplied."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def packed(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """Return vectors float32[n, dim] as rows int8[n, dim + 4]."""
    scales = np.abs(vectors).max(axis=1, initial=0).astype(np.float32) / np.float32(127)
    safe = np.where(scales > 0, scales, np.float32(1))
    out = np.empty((len(vectors), vectors.shape[1] + 4), np.int8)
    out[:, :-4] = np.clip(np.rint(vectors / safe[:, None]), -127, 127)
    out[:, -4:] = scales[:, None].view(np.int8)
    return out
