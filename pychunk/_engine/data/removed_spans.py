"""Spans of documents that are in no chunk, each with a reason and a score."""

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
    """The removed spans of k documents, in increasing order and without overlap.

    Attributes:
        offsets: int64[k + 1]; document i has the spans ``offsets[i]`` up to ``offsets[i + 1]``.
        start, end: int64[n], in characters of the document, with ``start < end``.
        reason: A short name for each span, such as ``"navigation"``, or "" if there is no reason.
        score: float32[n], the confidence of the removal, or NaN if there is none.

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
        """Build removed spans from the (start, end, reason, score) of each span of each document."""
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
        """Return the (start, end, reason, score) of each span of one document."""
        own = range(int(self.offsets[document]), int(self.offsets[document + 1]))
        return [(int(self.start[at]), int(self.end[at]), self.reason[at], float(self.score[at])) for at in own]

    def merged(self, other: RemovedSpans) -> RemovedSpans:
        """Return the spans of both objects, which must not overlap.

        Example:
            >>> RemovedSpans.of([[(5, 9, "a", 1.0)]]).merged(RemovedSpans.of([[(0, 2, "b", 1.0)]])).start.tolist()
            [0, 5]
        """
        return RemovedSpans.of([sorted([*self.part(row), *other.part(row)]) for row in range(self.documents)])

    def rows(self, begin: int, end: int) -> RemovedSpans:
        """Return the spans of documents [begin, end)."""
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        own = slice(first, last)
        offsets = self.offsets[begin : end + 1] - first
        return RemovedSpans(offsets, self.start[own], self.end[own], self.reason[own], self.score[own])
