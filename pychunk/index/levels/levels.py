"""Search by level: which rows are at the levels asked for, and hits that do not hold one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..._engine.arrow import compute as pc
from ...levels.names import LEVELS, rank_of
from ..search.hits import Hit, Passage

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..scoring.sources import Mask

    I64 = npt.NDArray[np.int64]


def has_levels(schema: pa.Schema) -> bool:
    """Whether chunks of a table are nodes: their column of levels is one of lists."""
    return LEVELS in schema.names and pa.types.is_list(schema.field(LEVELS).type)


def rows_at(table: pa.Table) -> dict[str, Mask]:
    """Of each level bool[rows] of a table, from fine to coarse; none where it was not made of hierarchies."""
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


def between(levels: Any, known: Mapping[str, Mask]) -> list[str]:
    """The levels of an index from one to another, or the one that is named.

    Raises:
        ValueError: the index has no levels, or not these; or the first is coarser than the last.
    """
    if not known:
        raise ValueError(
            "levels= is for an index of levels: make one by pychunk index --levels, or add what "
            "pychunk.Hierarchy.chunks() gives"
        )
    pair = (levels, levels) if isinstance(levels, (str, int)) and not isinstance(levels, bool) else levels
    if not isinstance(pair, Sequence) or len(pair) != 2:
        raise ValueError(f"levels must be one level, or the finest and the coarsest; got {levels!r}")
    names = list(known)
    for level in pair:
        if isinstance(level, bool) or str(level) not in names:
            raise ValueError(f"no level {level!r} in this index; there are {', '.join(names)}")
    low, high = (names.index(str(level)) for level in pair)
    if low > high:
        raise ValueError(f"levels must be the finest first, of {', '.join(names)}; got {pair[0]}, {pair[1]}")
    return names[low : high + 1]


def apart(document: I64, start: I64, end: I64) -> I64:
    """Places of ranked rows that hold none before them, nor lie in one: of those the first stays."""
    chosen: list[int] = []
    taken: dict[int, list[tuple[int, int]]] = {}
    for place, (of, first, last) in enumerate(zip(document.tolist(), start.tolist(), end.tolist(), strict=True)):
        own = taken.setdefault(of, [])
        if all(last <= begin or finish <= first for begin, finish in own):
            own.append((first, last))
            chosen.append(place)
    return np.array(chosen, np.int64)


def once(hits: Sequence[Hit], documents: Sequence[int]) -> list[Hit]:
    """Hits without what is around an earlier one already: passages that share a character with it, and hits inside it.

    ``documents``: a number for each hit's, as without ids those of two calls of ``add`` share theirs.

    Example:
        >>> first, second, third = (Passage(i, 10 * i, 10 * i + 9, "text") for i in range(3))
        >>> facts = {"document": 0, "id": "a", "chunk_id": "", "text": "", "score": 1.0, "scores": {}}
        >>> a = Hit(row=0, chunk=0, start=0, end=9, around=(first, second), **facts)
        >>> b = Hit(row=2, chunk=2, start=20, end=29, around=(second, third), **facts)
        >>> [[each.chunk for each in hit.around] for hit in once([a, b], [0, 0])]
        [[0, 1], [2]]
    """
    taken: dict[int, list[tuple[int, int]]] = {}
    kept = []
    for hit, document in zip(hits, documents, strict=True):
        others = taken.setdefault(document, [])
        own = hit.around or (Passage(hit.chunk, hit.start, hit.end, hit.text),)
        new = [each for each in own if all(each.end <= a or b <= each.start for a, b in others)]
        if any(each.chunk == hit.chunk for each in new):
            others += [(each.start, each.end) for each in new]
            kept.append(replace(hit, around=tuple(new)))
    return kept
