"""The columns of documents that every chunk repeats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine.arrow import owned, primitive
from .._engine.data.columns import COLUMNS
from .value_columns import only_column, package_of

if TYPE_CHECKING:
    from . import TextBatch

#: The names of the chunk table's columns, which a column of the documents cannot have if chunks repeat it.
_OWN = frozenset(column.name for column in COLUMNS)


def kept_columns(metadata_columns: Sequence[str], texts: TextBatch) -> dict[str, Any]:
    """Return the columns of the documents with these names, as Arrow.

    Raises:
        TypeError: ``metadata_columns`` is one name, not a list of names.
        ValueError: The documents have no columns, or lack one of these names, or chunks have a column of that name.
    """
    if not isinstance(metadata_columns, Iterable):
        raise TypeError(f"metadata_columns must be a list of columns; got {metadata_columns!r:.80}")
    check_names(metadata_columns)
    if not metadata_columns:
        return {}
    if texts.source is None:
        said = f"metadata_columns={list(metadata_columns)} names columns, but the documents have none"
        raise ValueError(f"{said}; pass a table or a data frame")
    found: dict[str, Any] = {}
    for name in metadata_columns:
        values = only_column(texts.source, name, "metadata_columns")
        is_list = package_of(values) == "pandas" or isinstance(values, list)
        # The chunks' table is made when it is read. Until then the caller may change a data frame or a NumPy array.
        found[name] = owned(pa.array(values, from_pandas=True) if is_list else values)
    return found


def check_names(metadata_columns: Sequence[str]) -> None:
    """Check that ``metadata_columns`` is a list that names each column once and no column of the chunk table.

    Raises:
        TypeError: ``metadata_columns`` is one name, not a list of names.
        ValueError: A name occurs twice, or the chunk table has a column of that name.
    """
    if isinstance(metadata_columns, str):
        said = f"got {metadata_columns!r:.80}: write metadata_columns=[{metadata_columns!r}]"
        raise TypeError(f"metadata_columns must be a list of columns; {said}")
    taken = [name for name in metadata_columns if name in _OWN]
    if taken:
        raise ValueError(
            f"metadata_columns must not name a column of pychunk's own chunk table; got {taken[0]!r}: rename this "
            "column of the documents first"
        )
    twice = [name for at, name in enumerate(metadata_columns) if name in metadata_columns[:at]]
    if twice:
        raise ValueError(f"metadata_columns must name each column once; got {twice[0]!r} twice: leave one out")


def with_kept(table: pa.Table, kept: dict[str, Any], first_document: int) -> pa.Table:
    """Return a chunk table with the columns ``kept`` of its documents after its own columns."""
    rows = primitive(np.asarray(table["document_index"]) - first_document)
    for name, values in kept.items():
        table = table.append_column(name, values.take(rows))
    return table
