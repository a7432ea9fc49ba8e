"""A check for ids that several documents of a source have; an index can keep only one of these documents."""

from __future__ import annotations

import pyarrow as pa

#: The number of ids after which no more ids are remembered, about 40 MB. A later id is compared only with the
#: remembered ids and with the other ids of its batch.
MOST = 300_000


class DuplicateIds:
    """A check of ids in the order of documents; ``found`` describes the first duplicate, and is "" before that."""

    def __init__(self) -> None:
        self.found = ""
        self._seen: dict[int, int] = {}  # The number of the document, by the hash of its id.

    def see(self, ids: pa.ChunkedArray, first: int) -> None:
        """Check the ids of consecutive documents, of which the first has the number ``first`` in the source."""
        if self.found:
            return
        names = ids.to_pylist()
        hashes = list(map(hash, names))
        if len(set(hashes)) == len(hashes) and self._seen.keys().isdisjoint(hashes):
            if len(self._seen) < MOST:
                self._seen.update(zip(hashes, range(first, first + len(hashes)), strict=True))
            return
        for number, (name, each) in enumerate(zip(names, hashes, strict=True), first):
            other = self._seen.setdefault(each, number)
            if other != number:
                self.found = f"ids come more than once: {name!r} is the id of document {number} and of document {other}"
                return
