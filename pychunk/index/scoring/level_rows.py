"""The rows of an index by the levels that they are at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ..._engine.arrow import compute as pc
from ...levels.level_names import LEVELS, rank_of
from .scorers import Mask


def has_levels(schema: pa.Schema) -> bool:
    """Return whether chunks of a table are nodes: their column of levels is one of lists."""
    return LEVELS in schema.names and pa.types.is_list(schema.field(LEVELS).type)


def rows_at(table: pa.Table) -> dict[str, Mask]:
    """Return of each level bool[rows] of a table, from fine to coarse; none if it was not made of hierarchies."""
    if not has_levels(table.schema):
        return {}
    column = table[LEVELS]
    row = np.asarray(pc.list_parent_indices(column), np.int64)
    names = pc.list_flatten(column).cast(pa.string()).combine_chunks().dictionary_encode()
    code = np.asarray(names.indices, np.int64)
    found: dict[str, Mask] = {}
    for number, name in enumerate(names.dictionary.to_pylist()):
        mask = np.zeros(table.num_rows, np.bool_)
        mask[row[code == number]] = True
        found[name] = mask
    return dict(sorted(found.items(), key=lambda item: rank_of(item[0])))


class Ranges:
    """The rows of a table by the levels that they are at, from a finest to a coarsest one.

    Args:
        known: of :func:`rows_at`. alive: bool[rows]; None: all.

    Attributes:
        of: int8[rows], the number of each row's range; -1 of rows at no level, and of removed ones.

    Example:
        >>> ranges = Ranges({"sentence": np.array([True, True, False]), "document": np.array([False, True, True])})
        >>> ranges.of.tolist(), ranges.at(["document"]), ranges.at(["document"], finest="sentence")
        ([0, 1, 2], [1, 2], [1])
    """

    def __init__(self, known: Mapping[str, Mask], alive: Mask | None = None) -> None:
        self.names = list(known)
        masks: Mask = np.array(list(known.values()), np.bool_)
        some: Mask = np.asarray(masks.any(axis=0) if alive is None else masks.any(axis=0) & alive)
        low, high = masks.argmax(axis=0), len(known) - 1 - masks[::-1].argmax(axis=0)
        codes, of = np.unique(low[some] * len(known) + high[some], return_inverse=True)
        self._ranges = [divmod(code, len(known)) for code in codes.tolist()]
        self.of = np.full(len(some), -1, np.int8)
        self.of[some] = of.reshape(-1)
        self._sizes = np.bincount(of.reshape(-1), minlength=len(self._ranges)).tolist()

    def at(self, names: Sequence[str] = (), finest: str | None = None) -> list[int]:
        """Numbers of the ranges with one of some levels (none: of all), and of this finest one, if it is said."""
        places = [self.names.index(name) for name in names] or range(len(self.names))
        return [
            number
            for number, (low, high) in enumerate(self._ranges)
            if any(low <= place <= high for place in places) and finest in (None, self.names[low])
        ]

    def rows(self, numbers: Sequence[int]) -> int:
        """How many rows ranges have together."""
        return sum(self._sizes[number] for number in numbers)
