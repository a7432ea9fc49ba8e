"""The windows in which a model reads texts that are longer than its input, and the mean of the windows' vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._engine import native
from .._engine.data.tokens import Tokens

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]


class Windows(NamedTuple):
    """The windows of n texts, each with at most as many tokens as a model reads.

    Attributes:
        tokens: The tokens of all windows, one after the other.
        first: int64[n + 1]: text i has the windows from ``first[i]`` to before ``first[i + 1]``.
    """

    tokens: Tokens
    first: I64

    def pooled(self, vectors: F32, unit: bool) -> F32:
        """Return float32[n, dim]: for each text, the mean of its windows' vectors, weighted by their numbers of tokens.

        The vector of a text with one window is that window's vector, bit for bit.

        Args:
            vectors: float32[m, dim]: the vectors of the windows.
            unit: Whether to scale the means to unit length.
        """
        out = vectors[self.first[:-1]]
        for text in np.flatnonzero(np.diff(self.first) > 1).tolist():
            own = slice(int(self.first[text]), int(self.first[text + 1]))
            sizes = np.diff(self.tokens.offsets[own.start : own.stop + 1])
            mean = (vectors[own].astype(np.float64) * sizes[:, None]).sum(axis=0) / sizes.sum()
            out[text] = native.normalized_rows(mean.astype(np.float32)[None])[0][0] if unit else mean
        return out


def many(found: Tokens, room: int) -> int:
    """Return the number of texts that have more than ``room`` tokens, the most that a model reads at once."""
    return int(np.count_nonzero(np.diff(found.offsets) > room))


def windows(found: Tokens, room: int) -> Windows | None:
    """Return the windows of texts, as few as possible and of even sizes, or None if every text fits into one.

    Args:
        found: The tokens of the texts.
        room: The most tokens of a text that the model reads at once.

    Example:
        >>> found = Tokens(np.arange(9, dtype=np.int32), np.array([0, 2, 9]), np.array([2, 7]))
        >>> made = windows(found, 3)
        >>> made.tokens.offsets.tolist(), made.first.tolist()
        ([0, 2, 4, 6, 9], [0, 1, 4])
    """
    sizes = np.diff(found.offsets)
    if not len(sizes) or int(sizes.max()) <= room:
        return None
    parts = np.maximum(1, -(-sizes // room))
    first = np.concatenate([[0], np.cumsum(parts)]).astype(np.int64)
    part = np.arange(first[-1]) - np.repeat(first[:-1], parts)
    begins = np.repeat(found.offsets[:-1], parts) + part * np.repeat(sizes, parts) // np.repeat(parts, parts)
    offsets = np.concatenate([begins, found.offsets[-1:]]).astype(np.int64)
    return Windows(Tokens(found.ids, offsets, np.diff(offsets)), first)
