"""Spans of documents that are left out of all chunks: where, why, and how sure whoever said so was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .ragged import offsets_of

if TYPE_CHECKING:
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]
    I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RemovedSpans:
    """Spans of k documents, which rise and do not overlap.

    Attributes:
        offsets: int64[k + 1]; document i has spans ``offsets[i]`` up to ``offsets[i + 1]``.
        start, end: int64[n], characters of the document, ``start < end``.
        reason: a short name of each, such as ``"navigation"``; "" where none was said.
        score: float32[n]; NaN where there is none.

    Example:
        >>> removed = RemovedSpans.of([[(0, 4, "navigation", 0.9)], []])
        >>> removed.documents, removed.end.tolist(), removed.reason
        (2, [4], ('navigation',))
    """

    offsets: I64
    start: I64
    end: I64
    reason: tuple[str, ...]
    score: F32

    @classmethod
    def of(cls, documents: Sequence[Sequence[tuple[int, int, str, float]]]) -> RemovedSpans:
        """From (start, end, reason, score) of each span of each document."""
        rows = [row for spans in documents for row in spans]
        return cls(
            offsets_of([len(spans) for spans in documents]),
            np.array([row[0] for row in rows], np.int64),
            np.array([row[1] for row in rows], np.int64),
            tuple(row[2] for row in rows),
            np.array([row[3] for row in rows], np.float32),
        )

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    def part(self, document: int) -> list[tuple[int, int, str, float]]:
        """(start, end, reason, score) of each span of one document."""
        own = range(int(self.offsets[document]), int(self.offsets[document + 1]))
        return [(int(self.start[at]), int(self.end[at]), self.reason[at], float(self.score[at])) for at in own]

    def merged(self, other: RemovedSpans) -> RemovedSpans:
        """The spans of both; those of one document must not overlap.

        Example:
            >>> RemovedSpans.of([[(5, 9, "a", 1.0)]]).merged(Removed.of([[(0, 2, "b", 1.0)]])).start.tolist()
            [0, 5]
        """
        return RemovedSpans.of([sorted([*self.part(row), *other.part(row)]) for row in range(self.documents)])

    def rows(self, begin: int, end: int) -> RemovedSpans:
        """Those of documents [begin, end) alone."""
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        own = slice(first, last)
        offsets = self.offsets[begin : end + 1] - first
        return RemovedSpans(offsets, self.start[own], self.end[own], self.reason[own], self.score[own])
