"""The class Ragged: the values of all documents in one array, with the offsets at which each document begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


class Ragged(NamedTuple):
    """The values of k documents; document i has ``values[offsets[i] : offsets[i + 1]]``.

    The array may hold further values before, between and after these.

    Attributes:
        values: One entry or row for each sentence, pair of sentences, cut, page or byte. C-contiguous.
        offsets: int64[k + 1], never decreasing. Each feature has its own offsets, because its values may be a slice of
            a larger array.

    Example:
        >>> ragged = Ragged.of([[1, 2], [], [3]], np.int64)
        >>> ragged.documents, ragged.part(0).tolist(), ragged.rows(1, 3).part(1).tolist()
        (3, [1, 2], [3])
    """

    values: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[Any], dtype: Any) -> Ragged:
        """Build a Ragged from one array or list for each document."""
        arrays = [np.asarray(part, dtype) for part in parts]
        values = np.concatenate(arrays) if arrays else np.empty(0, dtype)
        return cls(np.ascontiguousarray(values), offsets_of([len(array) for array in arrays]))

    @classmethod
    def concat(cls, parts: Sequence[Ragged], dtype: Any) -> Ragged:
        """Concatenate the documents of several parts."""
        values = [part.flat() for part in parts]
        counts = [part.counts for part in parts]
        return cls(
            np.concatenate([np.empty(0, dtype), *values]).astype(dtype, copy=False),
            offsets_of(np.concatenate([np.empty(0, np.int64), *counts])),
        )

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """int64[k]: the number of values of each document."""
        return np.diff(self.offsets)

    def part(self, document: int) -> npt.NDArray[Any]:
        """Return the values of one document."""
        return self.values[self.offsets[document] : self.offsets[document + 1]]

    def rows(self, begin: int, end: int) -> Ragged:
        """Return the same values with the offsets of documents [begin, end) only. Nothing is copied."""
        return Ragged(self.values, self.offsets[begin : end + 1])

    def flat(self) -> npt.NDArray[Any]:
        """Return the values of all documents, without other values that the array may hold before or after them."""
        return self.values[self.offsets[0] : self.offsets[-1]]

    def like(self, values: npt.NDArray[Any]) -> Ragged:
        """Return a Ragged with one new value for each value of :meth:`flat`, in the same document as that value."""
        return Ragged(values, self.offsets - self.offsets[0])


def offsets_of(counts: Any) -> npt.NDArray[np.int64]:
    """Return the offsets, int64[k + 1], of k documents from the number of values of each."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets
