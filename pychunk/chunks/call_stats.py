"""The counts and times of the call that made a batch of chunks, which ``ChunkBatch.stats`` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from .._engine.data.columns import CUT_REASONS


@dataclass(frozen=True)
class CallStats:
    """The counts and times of a call.

    Attributes:
        documents: Number of input documents, including those without a chunk.
        bytes: Bytes of their text in UTF-8; None if the chunks do not come from a call, but from a file or a slice.
        chunks: Number of chunks.
        seconds: Seconds by stage: ``features`` (models outside the engine), ``cut`` (the engine), ``contexts`` (only
            with ``augment``) and ``total``, from the beginning of the call to its end. The rest of the total is the
            time for reading and checking the input. On a GPU the stages overlap, so that their sum may exceed the
            total. Empty if ``bytes`` is None.
        cuts: Number of chunks by the reason why they end (column ``end_reason``), without reasons that do not occur.
    """

    documents: int
    bytes: int | None
    chunks: int
    seconds: dict[str, float]
    cuts: dict[str, int]


def stats_of(table: pa.Table, documents: int, text_bytes: int | None, seconds: Sequence[float]) -> CallStats:
    """Return the stats of a batch. ``seconds`` has a number for each of the four stages, or none."""
    stages = ("features", "cut", "contexts", "total")
    named = {name: spent for name, spent in zip(stages, seconds, strict=False) if spent or name != "contexts"}
    return CallStats(documents, text_bytes, table.num_rows, named, cuts_of(table))


def cuts_of(table: pa.Table) -> dict[str, int]:
    """Return the number of chunks by the reason why they end, in the order of ``CUT_REASONS``.

    Example:
        >>> cuts_of(pa.table({"end_reason": ["size", "end", "size", None]}))
        {'end': 1, 'size': 2}
    """
    import pyarrow.compute as pc  # imported here because it takes a fifth of pychunk's import time

    if "end_reason" not in table.column_names:
        return {}
    found = {row["values"]: row["counts"] for row in pc.value_counts(table["end_reason"]).to_pylist()}
    return {reason: found[reason] for reason in CUT_REASONS if reason in found}
