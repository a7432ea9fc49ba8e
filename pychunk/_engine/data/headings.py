"""Headings of documents, as levels and trees of chunks go by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Headings(NamedTuple):
    """Of k documents with n sentences.

    Attributes:
        first: int64[m], first sentence of each section in its document, rising.
        offsets: int64[k + 1] of ``first`` and ``level``.
        level: uint8[m], of each section's heading, from 1.
        tied: uint8[n], 1 for a sentence that nothing cuts from the one before: what a heading heads, a list behind the
            line that introduces it.
    """

    first: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    level: npt.NDArray[np.uint8]
    tied: npt.NDArray[np.uint8]
