"""The rows of an index by their levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ..._engine.arrow import compute as pc
from ...levels.level_names import LEVELS, rank_of
from .scorers import Mask


def has_levels(schema: pa.Schema) -> bool:
    """Return whether a table's chunks are nodes of levels: then its column of levels holds lists."""
    return LEVELS in schema.names and pa.types.is_list(schema.field(LEVELS).type)


def rows_at(table: pa.Table) -> dict[str, Mask]:
    """Return the rows of a table at each level, bool[rows], from fine to coarse. Without levels, it is empty."""
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
    """The rows of a table, grouped by range: the finest and the coarsest level at which a row is a node.

    Args:
        known: The result of :func:`rows_at`.
        alive: The rows that are not removed, bool[rows]. None: all.

    Attributes:
        of: The number of each row's range, int8[rows]. It is -1 for rows without a level and for removed rows.

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
        """Return the numbers of the ranges that include at least one of the levels ``names`` (empty: all ranges).

        With ``finest``, only ranges whose finest level is that one are returned.
        """
        places = [self.names.index(name) for name in names] or range(len(self.names))
        return [
            number
            for number, (low, high) in enumerate(self._ranges)
            if any(low <= place <= high for place in places) and finest in (None, self.names[low])
        ]

    def rows(self, numbers: Sequence[int]) -> int:
        """Return the total number of rows in ranges."""
        return sum(self._sizes[number] for number in numbers)
