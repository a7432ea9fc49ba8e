"""Columns in a dict, as in batches of Hugging Face's datasets: one list for each column, all of one length."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

import pyarrow as pa

from .value_columns import package_of, speaks_arrow


class MappedColumns:
    """The columns of a dict, each converted on demand.

    A column of objects for which Arrow has no type stays a list.
    """

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self._columns = {name: values for name, values in columns.items() if isinstance(name, str)}
        lengths: dict[int, str] = {}
        for name, values in self._columns.items():
            if isinstance(values, (str, bytes)) or not isinstance(values, Sized) or isinstance(values, Mapping):
                raise TypeError(
                    f"a dict of documents must map each column to a list; the value of {name!r} is a "
                    f"{type(values).__name__}: if each value is a document, pass list(documents.values()) with "
                    "ids=list(documents)"
                )
            lengths.setdefault(len(values), name)
        if len(lengths) > 1:
            found = " and ".join(f"{length} of {name!r}" for length, name in list(lengths.items())[:2])
            raise ValueError(
                f"the lists of a dict must be of one length, with one value for each document; got {found}"
            )

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def column(self, name: str) -> Any:
        """Return the values of a column as Arrow data if possible, else as a list."""
        values = self._columns[name]
        if isinstance(values, (pa.Array, pa.ChunkedArray)) or speaks_arrow(values):
            return values
        if package_of(values) == "numpy" and getattr(values, "ndim", 1) == 1:
            values = values.tolist()
        try:
            return pa.array(list(values))
        except (pa.ArrowException, UnicodeEncodeError, OverflowError, TypeError, ValueError):
            return list(values)

    def text_columns(self) -> list[str]:
        """Return the columns that hold at least one string.

        Columns that also hold other objects are included, so that an error can name the row that is not a string.
        """
        return [name for name in self._columns if _has_text(self.column(name))]


def _has_text(values: Any) -> bool:
    if isinstance(values, list):
        return any(isinstance(value, (str, bytes)) for value in values)
    kind = str(values.type)
    return any(each in kind for each in ("string", "binary")) and not pa.types.is_nested(values.type)


def of_datasets(documents: Any) -> pa.Table:
    """Return the rows of a ``datasets.Dataset`` as a table, without importing that package.

    Raises:
        TypeError: The object holds no rows, or several data sets.
    """
    name = type(documents).__name__
    if isinstance(documents, Mapping):
        splits = list(documents)
        listing = ", ".join(map(str, splits)) or "none"
        example = f", such as documents[{splits[0]!r}]" if splits else ""
        raise TypeError(f"documents are a {name} of several data sets ({listing}): pass one{example}")
    if not hasattr(documents, "__len__"):
        raise TypeError(
            f"documents are of type {name}, which holds no rows yet: pass its batches to Segmenter.stream, as in "
            'stream(documents.iter(1000), columns={"text": "text"})'
        )
    return documents.with_format("arrow")[:]
