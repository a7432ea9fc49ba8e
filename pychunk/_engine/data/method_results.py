"""The result of a method that returns more than cuts."""

from __future__ import annotations

from dataclasses import dataclass

from .cuts import Cuts
from .removed_spans import RemovedSpans


@dataclass(frozen=True)
class MethodResult:
    """The cuts of a method, the spans that it removes, and notes for the caller.

    Attributes:
        cuts: The cuts, as :meth:`Method.cuts` returns them. A chunk also begins wherever a removed span begins or ends.
        removed: Spans, in bytes, that no chunk contains, in addition to the spans that the caller removed. Each
            consists of whole sentences. None means no spans.
        notes: (number of the document, message) for each event of which the caller should know.
    """

    cuts: Cuts
    removed: RemovedSpans | None = None
    notes: tuple[tuple[int, str], ...] = ()
