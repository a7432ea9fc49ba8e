"""What a run did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Report:
    """Totals of the data set, and what this call added to them.

    ``blank``: documents without text, which have no chunks and are no failures. ``dropped``: templates of a wiki that
    were left out inside sentences, as nobody knows what they show.
    ``removed``: half-written files of an earlier run that were cleared away; ``damaged``: shards of an earlier run that
    were missing or damaged, and why, and were made again; ``ignored``: files of the source that are of no known kind;
    ``repeated``: the first id that came a second time, "" where none was seen; ``did_nothing``: the data set was
    complete before. ``seconds``: of this call; ``stages``: seconds that each stage of the pipeline worked, side by
    side.
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
