"""The columns of documents that every chunk repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine.arrow import primitive
from .._engine.data.columns import COLUMNS
from .value_columns import only_column, package_of

if TYPE_CHECKING:
    from . import TextBatch

#: The names that a column to keep cannot have.
_OWN = frozenset(column.name for column in COLUMNS)


def kept_columns(keep: Sequence[str], texts: TextBatch) -> dict[str, Any]:
    """Return the columns of the documents with these names, as Arrow.

    Raises:
        TypeError: ``keep`` is one name, not a list of names.
        ValueError: The documents have no columns, or none of that name, or chunks have a column of that name.
    """
    if isinstance(keep, str):
        raise TypeError(f"keep must be a list of columns; got {keep!r}: write keep=[{keep!r}]")
    if not keep:
        return {}
    if texts.source is None:
        raise ValueError(f"keep={list(keep)} names columns, but the documents have none; pass a table or a data frame")
    check_names(keep)
    found: dict[str, Any] = {}
    for name in keep:
        values = only_column(texts.source, name, "keep")
        is_list = package_of(values) == "pandas" or isinstance(values, list)
        found[name] = pa.array(values, from_pandas=True) if is_list else values
    return found


def check_names(keep: Sequence[str]) -> None:
    """Check that each column is named once, and that none is a chunk's own."""
    taken = [name for name in keep if name in _OWN]
    if taken or len(set(keep)) < len(keep):
        raise ValueError(
            f"keep must name each column once and none of the chunks' own; got {', '.join(keep)}; chunks have "
            f"{', '.join(column.name for column in COLUMNS)}: rename the column first"
        )


def with_kept(table: pa.Table, kept: dict[str, Any], first_document: int) -> pa.Table:
    """Return a chunk table with these columns after its own."""
    rows = primitive(np.asarray(table["document"]) - first_document)
    for name, values in kept.items():
        table = table.append_column(name, values.take(rows))
    return table
