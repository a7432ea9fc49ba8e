"""The sizes of chunks, which ``ChunkBatch.describe()`` returns."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from .batch_options import limits_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import pyarrow as pa

PERCENTILES = (5, 25, 50, 75, 95)


class Sizes(dict[str, dict[str, float]]):
    """The sizes of chunks by unit, each a dict of ``count``, ``mean``, ``std``, ``min``, percentiles and ``max``.

    If the method has a limit in the unit, the dict also has ``limit``, and ``over``, the number of chunks that exceed
    the limit. Python and notebooks show the object as a table.
    """

    def __repr__(self) -> str:
        if not self:
            return "Sizes({})"
        rows = self._rows()
        wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, wide, strict=True)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        from .notebook_tables import table

        head, *rows = self._rows()
        return table(head, [[escape(cell) for cell in row] for row in rows])

    def _rows(self) -> list[list[str]]:
        names = list(dict.fromkeys(name for unit in self.values() for name in unit))
        return [["", *self], *([name, *(_shown(unit.get(name)) for unit in self.values())] for name in names)]


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def lengths_of(table: pa.Table) -> dict[str, npt.NDArray[np.int64]]:
    """Return the tokens (if they were counted), words and characters of each chunk."""
    import pyarrow.compute as pc

    found = {}
    if table["tokens"].null_count < table.num_rows:
        found["tokens"] = np.asarray(table["tokens"].drop_null(), np.int64)
    words = pc.list_value_length(pc.utf8_split_whitespace(table["text"]))
    found["words"] = np.asarray(words.cast("int64"), np.int64)
    found["characters"] = np.asarray(pc.subtract(table["end"], table["start"]), np.int64)
    return found


def sizes_of(table: pa.Table, metadata: Mapping[str, Any], windowed: int = 0) -> Sizes:
    """Return the sizes of the chunks of a table.

    ``windowed`` is the number of sentences that a transformer read in windows. The result has it if it is not 0.
    """
    limits = limits_of(metadata)
    found = Sizes()
    for unit, lengths in lengths_of(table).items():
        facts: dict[str, float] = {"count": len(lengths)}
        if len(lengths):
            facts |= {"mean": float(lengths.mean()), "std": float(lengths.std()), "min": int(lengths.min())}
            percentiles = np.percentile(lengths, PERCENTILES)
            facts |= {f"{p} %": float(value) for p, value in zip(PERCENTILES, percentiles, strict=True)}
            facts["max"] = int(lengths.max())
        if unit in limits:
            facts |= {"limit": limits[unit], "over": int((lengths > limits[unit]).sum())}
        found[unit] = facts
    if windowed:
        found["sentences"] = {"windowed": windowed}
    return found
