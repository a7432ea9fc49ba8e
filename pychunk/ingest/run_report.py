"""The numbers that a run returns as its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Report:
    """The totals of the data set, and the numbers of this call.

    Attributes:
        letters: The number of dead letters.
        new_text_bytes, new_shards: The bytes of text and the shards that this call wrote.
        blank: The number of documents without text. They have no chunks, but are not failures.
        dropped: The number of wiki templates that were removed inside sentences, because pychunk does not know the text
            that they show.
        removed: The half-written files of an earlier run that this call removed.
        damaged: The shards of an earlier run that were missing or damaged, with the reasons. They were written again.
        ignored: The files of the source whose kind is unknown.
        repeated: The first id that occurred a second time, or "" if none did.
        duplicates: The number of documents that were left out as copies of earlier ones.
        kept: The number of unchanged documents whose chunks an update took over.
        changes: The number of chunks in the list of changes of this update, by change.
        did_nothing: Whether the data set was complete before this call.
        cuts: The number of chunks by the reason why they end (column ``end_reason``).
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
    duplicates: int = 0
    kept: int = 0
    changes: dict[str, int] = field(default_factory=dict)
    did_nothing: bool = False
    cuts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
