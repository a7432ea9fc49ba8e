"""What adding to an index did, in numbers."""

from __future__ import annotations

from typing import Any


class AddResult(int):
    """The number of chunks that were added, and of documents what became of them; adds up.

    Chunks without ids count as documents of their own.

    Attributes:
        added: documents that were not there before.
        kept: documents that were there as they are, and were left alone.
        replaced: documents that took the place of others of their ids.
        removed: documents that went.

    >>> both = AddResult(3, added=2) + Added(1, replaced=1)
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
