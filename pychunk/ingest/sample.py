"""The choice of the documents of a sample, which are the documents whose ids have the lowest hashes."""

from __future__ import annotations

import hashlib
import heapq
from typing import NamedTuple

from ..io import Source


class Sample(NamedTuple):
    """A sample of the documents of a source.

    It holds a document if the pair (hash of seed and id, number in the source) is at most ``(highest, last)``.
    """

    seed: int
    highest: int
    last: int

    def holds(self, id_: str, number: int) -> bool:
        """Return whether the document with this id and number in the source belongs to the sample."""
        return (rank(self.seed, id_), number) <= (self.highest, self.last)


def rank(seed: int, id_: str) -> int:
    """Return the first 64 bits of BLAKE2b of ``"<seed> <id>"``, as a big-endian number."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {id_}".encode(), digest_size=8).digest(), "big")


def sample_of(source: Source, count: int, seed: int) -> Sample:
    """Return the sample of ``count`` documents of a source.

    This reads the whole source once and keeps ``count`` pairs of numbers in memory.
    """
    kept: list[tuple[int, int]] = []  # The numbers are negated, so that the heap's first pair is the highest.
    number = 0
    for batch in source.batches():
        for id_ in batch.table.column("id").to_pylist():
            key = (-rank(seed, id_), -number)
            if len(kept) < count:
                heapq.heappush(kept, key)
            else:
                heapq.heappushpop(kept, key)
            number += 1
    highest, last = max(((-high, -at) for high, at in kept), default=(-1, -1))
    return Sample(seed, highest, last)
