"""The report of a run, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Report:
    """The totals of the data set, and what this call added to them.

    Attributes:
        blank: The number of documents without text. They have no chunks and are no failures.
        dropped: The number of templates of a wiki that were removed inside sentences, because it is unknown what they
            show.
        removed: The half-written files of an earlier run that were removed.
        damaged: The shards of an earlier run that were missing or damaged, with the reasons. They were written again.
        ignored: The files of the source whose kind is unknown.
        repeated: The first id that occurred a second time, or "" if none did.
        did_nothing: Whether the data set was complete before.
        seconds: The seconds of this call.
        stages: The seconds that each stage of the pipeline worked. The stages run in parallel.
    """

    folder: Path
    documents: int = 0
    chunks: int = 0
    text_bytes: int = 0
    letters: int = 0
    blank: int = 0
    dropped: int = 0
    shards: int = 0
    new_text_bytes: int = 0
    new_shards: int = 0
    removed: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    repeated: str = ""
    did_nothing: bool = False
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
