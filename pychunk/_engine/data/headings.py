"""The headings of documents, for levels and trees of chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Headings(NamedTuple):
    """The headings of k documents with n sentences.

    Attributes:
        first: int64[m]: the first sentence of each section in its document, increasing.
        offsets: int64[k + 1]: the offsets of each document's sections in ``first`` and ``level``.
        level: uint8[m]: the level of each section's heading, from 1.
        tied: uint8[n]: 1 for a sentence that no cut separates from the sentence before it, such as the first sentence
            after a heading, or a list after the line that introduces it.
    """

    first: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    level: npt.NDArray[np.uint8]
    tied: npt.NDArray[np.uint8]
