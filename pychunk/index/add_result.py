"""The result of adding to an index, in numbers."""

from __future__ import annotations

from typing import Any


class AddResult(int):
    """The number of chunks that were added, with the numbers of added, kept, replaced and removed documents.

    Results can be added up. Each chunk without a document id counts as one document.

    Attributes:
        added: The number of documents that were not in the index before.
        kept: The number of documents that were already in the index unchanged, and were not added again.
        replaced: The number of documents that replaced documents with the same ids.
        removed: The number of documents that were removed.

    >>> both = AddResult(3, added=2) + AddResult(1, replaced=1)
    >>> both, both.added, both.replaced
    (4, 2, 1)
    """

    added: int
    kept: int
    replaced: int
    removed: int

    def __new__(
        cls, chunks: int = 0, *, added: int = 0, kept: int = 0, replaced: int = 0, removed: int = 0
    ) -> AddResult:
        """Return the number ``chunks`` with the counts of documents as attributes."""
        made = super().__new__(cls, chunks)
        made.added, made.kept, made.replaced, made.removed = added, kept, replaced, removed
        return made

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, AddResult):
            return int(self) + other
        counts = {name: getattr(self, name) + getattr(other, name) for name in ("added", "kept", "replaced", "removed")}
        return AddResult(int(self) + int(other), **counts)

    def __reduce__(self) -> Any:
        return _made, (int(self), self.added, self.kept, self.replaced, self.removed)


def _made(chunks: int, added: int, kept: int, replaced: int, removed: int) -> AddResult:
    return AddResult(chunks, added=added, kept=kept, replaced=replaced, removed=removed)
