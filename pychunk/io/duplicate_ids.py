"""Ids that a source has twice: of two such documents an index can keep one alone."""

from __future__ import annotations

import pyarrow as pa

#: Ids that are remembered; some 25 MB. Later ones are held against these, and against those of their own batch.
MOST = 300_000


class DuplicateIds:
    """Looks at ids in their order; ``found`` says which came again first, "" while none has."""

    def __init__(self) -> None:
        self.found = ""
        self._seen: set[int] = set()

    def see(self, ids: pa.ChunkedArray, first: int) -> None:
        """The ids of the documents from number ``first`` on."""
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
                other = f"document {first + here[each]}" if each in here else "an earlier one"
                self.found = f"ids come more than once: {name!r} is that of document {first + row} and of {other}"
                return
            here[each] = row
