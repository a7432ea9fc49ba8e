"""A check for ids that several documents of a source have; an index can keep only one of these documents."""

from __future__ import annotations

import pyarrow as pa

#: The number of ids after which no more ids are remembered, about 25 MB. A later id is compared only with the
#: remembered ids and with the other ids of its batch.
MOST = 300_000


class DuplicateIds:
    """A check of ids in the order of documents; ``found`` describes the first duplicate, and is "" before that."""

    def __init__(self) -> None:
        self.found = ""
        self._seen: set[int] = set()

    def see(self, ids: pa.ChunkedArray, first: int) -> None:
        """Check the ids of consecutive documents, of which the first has the number ``first`` in the source."""
        if self.found:
            return
        names = ids.to_pylist()
        hashes = list(map(hash, names))
        if len(set(hashes)) == len(hashes) and self._seen.isdisjoint(hashes):
            if len(self._seen) < MOST:
                self._seen.update(hashes)
            return
        here: dict[int, int] = {}
        for row, (name, each) in enumerate(zip(names, hashes, strict=True)):
            if each in self._seen or each in here:
                other = f"document {first + here[each]}" if each in here else "an earlier document"
                self.found = f"ids come more than once: {name!r} is the id of document {first + row} and of {other}"
                return
            here[each] = row
