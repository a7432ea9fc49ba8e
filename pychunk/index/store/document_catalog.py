"""A catalog of the documents of an index, with digests of their contents, in sorted columns of 24 bytes a document."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..files.arrays import mapped, save_array
from ..files.block_checksums import damaged
from .document_digests import U64


class DocumentCatalog:
    """A mapping from keys to rows of numbers, uint64[columns, n], in which the first column holds the keys.

    Each call of :meth:`note` adds a sorted run of rows. The latest row of a key replaces all earlier ones. The last two
    runs are joined when the last is at least half as long as the one before it. Noting n rows in any number of calls
    therefore takes n log n steps. A row of zeros means that the key was removed.
    """

    def __init__(self, columns: int = 3, first: U64 | None = None) -> None:
        self._columns = columns
        self._runs: list[U64] = [np.empty((columns, 0), np.uint64) if first is None else first]
        self.changed = False

    @classmethod
    def load(cls, path: Path) -> DocumentCatalog:
        """Return the catalog that :meth:`save` wrote, memory-mapped.

        Raises:
            ValueError: The file is damaged. The message names it.
        """
        found = mapped(path)
        if found.ndim != 2 or len(found) != 3 or found.dtype != np.uint64 or (found[0, 1:] <= found[0, :-1]).any():
            raise ValueError(
                damaged(path, f"it holds {found.dtype} of shape {found.shape}, or its documents do not rise")
            )
        return cls(3, found)

    def __len__(self) -> int:
        """Return the number of rows in all runs, including rows that later runs replaced or removed."""
        return sum(run.shape[1] for run in self._runs)

    def latest(self, keys: U64) -> U64:
        """Return the latest values of n keys, uint64[columns - 1, n], with zeros for an unknown key."""
        found = np.zeros((self._columns - 1, len(keys)), np.uint64)
        waiting = np.ones(len(keys), np.bool_)
        for run in reversed(self._runs):
            if not run.shape[1]:
                continue
            at = np.minimum(np.searchsorted(run[0], keys), run.shape[1] - 1)
            here = waiting & (run[0][at] == keys)
            found[:, here] = run[1:, at[here]]
            waiting &= ~here
        return found

    def note(self, rows: U64) -> None:
        """Add rows, which replace earlier rows with the same keys. Of several rows with one key, the last counts."""
        if not rows.shape[1]:
            return
        self.changed = True
        self._runs.append(_sorted(rows))
        while len(self._runs) > 1 and 2 * self._runs[-1].shape[1] >= self._runs[-2].shape[1]:
            self._join(2)

    def forget(self, keys: U64) -> None:
        """Remove keys. Keys that the catalog does not have are ignored."""
        known = keys[self.latest(keys).any(axis=0)]
        rows = np.zeros((self._columns, len(known)), np.uint64)
        rows[0] = known
        self.note(rows)

    def whole(self) -> U64:
        """Return the latest rows of all keys, sorted by key, uint64[columns, n]."""
        self._join(len(self._runs))
        return self._runs[0]

    def save(self, path: Path) -> None:
        """Write the latest rows of all keys. When this returns, they are on the disk."""
        save_array(path, self.whole())

    def _join(self, count: int) -> None:
        joined = _sorted(np.concatenate(self._runs[-count:], axis=1))
        if count == len(self._runs):
            joined = joined[:, joined[1:].any(axis=0)]
        self._runs[-count:] = [np.ascontiguousarray(joined)]


def _sorted(rows: U64) -> U64:
    order = np.argsort(rows[0], kind="stable")
    keys: npt.NDArray[np.uint64] = rows[0][order]
    last = np.append(keys[1:] != keys[:-1], [True] * (len(keys) > 0)).astype(np.bool_)
    return np.ascontiguousarray(rows[:, order[last]])
