"""What a method decided of documents, where it is more than cuts."""

from __future__ import annotations

from dataclasses import dataclass

from .cuts import Cuts
from .removed_spans import RemovedSpans


@dataclass(frozen=True)
class MethodResult:
    """Cuts, what is left out besides what the caller left out, and what did not go as it should.

    Attributes:
        cuts: as :meth:`Method.cuts` returns them; a chunk begins wherever a removed span begins or ends.
        removed: spans in bytes that no chunk holds, runs of whole sentences; None: nothing.
        notes: (document, what happened) for each thing that the caller should know of.
    """

    cuts: Cuts
    removed: RemovedSpans | None = None
    notes: tuple[tuple[int, str], ...] = ()
