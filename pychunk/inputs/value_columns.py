"""The conversion of arguments with one value for each document, such as ids and titles, from any form to Arrow."""

from __future__ import annotations

import numbers
import sys
import uuid
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from .._engine import native
from .._engine.arrow import few_strings, flat_text, owned

if TYPE_CHECKING:
    import numpy.typing as npt

#: The values that can be ids. Each has a unique text, by which an index finds it.
_NAMES = "strings, UTF-8 bytes, numbers, booleans, dates, times or UUIDs"
#: The usual names of columns of ids. Such a column does not hold the text.
_OF_IDS = ("id", "_id", "doc_id", "url")


class Columns(Protocol):
    """The protocol of tables: a ``pyarrow.Table``, or the columns of a pandas data frame or of a dict."""

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        ...

    def column(self, name: str) -> Any:
        """Return the values of a column."""
        ...


def column_of(values: Any, rows: int, table: Columns | None, name: str) -> pa.Array | None:
    """Return one value for each row, none of them null, from a list, an array or the name of a column.

    If ``values`` is None, the result is None.

    Raises:
        ValueError, TypeError: There is no such column, values are missing, or they are not of one type. The message
            names the document and the remedy.
    """
    if values is None:
        return None
    array = array_of(values, rows, table, name)
    missing = missing_rows(array)
    if len(missing):
        raise ValueError(f"{name} must not be null; got null for document {missing[0]}: give a value")
    return array


def array_of(values: Any, rows: int, table: Columns | None, name: str) -> pa.Array:
    """Return one value for each row, as :func:`column_of` does, including nulls."""
    if isinstance(values, str):
        if table is not None:
            values = only_column(table, values, name)
        elif rows == 1:
            values = [values]
        else:
            raise ValueError(f"{name}={values!r} names a column, but the documents have no columns; pass a list")
    array = _as_array(values, name)
    if len(array) != rows:
        raise ValueError(f"{name} must hold one value for each of {rows} documents; got {len(array)}")
    return array


def missing_rows(array: pa.Array) -> npt.NDArray[np.int64]:
    """Return the rows of an array that are null or NaN."""
    if not array.null_count and not pa.types.is_floating(array.type):
        return np.empty(0, np.int64)
    is_missing = array.is_null(nan_is_null=True) if pa.types.is_floating(array.type) else array.is_null()
    return np.flatnonzero(np.asarray(is_missing))


def ids_of(values: Any, rows: int, table: Columns | None) -> pa.Array | None:
    """Return document ids as :func:`column_of` does: numbers and dates unchanged, UUIDs and UTF-8 bytes as strings.

    Raises:
        ValueError, TypeError: See :func:`column_of`, or values cannot identify a document, such as lists.
    """
    array = column_of(values, rows, table, "ids")
    if array is None:
        return None
    kind = array.type
    if pa.types.is_null(kind):
        return array.cast(pa.large_string())
    if pa.types.is_nested(kind):
        raise TypeError(f"ids must be {_NAMES}, got {kind}; make a string of each")
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return _text_of_bytes(array)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_primitive(kind)):
        try:
            array.cast(pa.large_string())
        except pa.ArrowException:
            raise TypeError(f"ids must be {_NAMES}, got {kind}; make a string of each") from None
    return owned(array)  # The caller may change the values before the chunks' table is made.


def warn_of_repeats(ids: pa.Array) -> None:
    """Warn of an id that several rows have, because an index identifies a document by its id."""
    count = len(ids)
    if len(ids.unique() if count > _FEW else set(ids.to_pylist())) == count:
        return
    rows: dict[Any, list[int]] = {}
    for row, name in enumerate(ids.to_pylist()):
        rows.setdefault(name, []).append(row)
    repeated = [(name, own) for name, own in rows.items() if len(own) > 1]
    name, own = repeated[0]
    listed = f"{', '.join(map(str, own[:4]))} and {len(own) - 4:,} more" if len(own) > 5 else _listing(own)
    more = f" ({len(repeated) - 1:,} more ids come more than once)" if len(repeated) > 1 else ""
    warnings.warn(
        f"the id {name!r} belongs to rows {listed}{more}: give each document its own id, or, if the rows are parts "
        "of one document, pass on_duplicate='merge' to Index.add",
        stacklevel=_of_caller(),
    )


def _of_caller() -> int:
    """Return the number of frames from the calling function up to the first one outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(f"{_PACKAGE}."):
        frame, level = frame.f_back, level + 1
    return level


_PACKAGE = __name__.partition(".")[0]


def _listing(rows: Sequence[int]) -> str:
    return f"{', '.join(map(str, rows[:-1]))} and {rows[-1]}"


#: The most ids that are compared without pyarrow.compute, because its import takes longer.
_FEW = 50_000


def are_uuids(values: Any, table: Columns | None) -> bool:
    """Return whether the ids, in any form that :func:`ids_of` takes, are UUIDs of Python or Arrow."""
    if isinstance(values, str):
        values = None if table is None else table.column(values)
    kind = getattr(values, "type", None)
    if isinstance(kind, pa.DataType):
        return isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.uuid"
    if not isinstance(values, Iterable) or str(getattr(values, "dtype", "object")).lower() != "object":
        return False
    return isinstance(next((value for value in values if not is_missing(value)), None), uuid.UUID)


def texts_of(values: Any, rows: int, table: Columns | None, name: str) -> pa.LargeStringArray:
    """Return titles or summaries, as :func:`column_of` does."""
    array = array_of(values, rows, table, name)
    missing = missing_rows(array)
    if len(missing):
        raise ValueError(
            f"{name} must not be null; got null for document {missing[0]}: give a text, or pass on_error='skip'"
        )
    try:
        return array.cast(pa.large_string())
    except pa.ArrowException as error:
        raise TypeError(f"{name} must be strings, or vectors as one array float[k, d]; got {array.type}") from error


def only_column(table: Columns, column: str, name: str) -> Any:
    """Return the column of a name.

    Raises:
        ValueError: No column has this name, or more than one has it.
    """
    names = table.column_names
    if column not in names:
        raise ValueError(f"{name}={column!r} is not a column; the columns are {', '.join(names)}: name one of them")
    if names.count(column) > 1:
        raise ValueError(f"{name}={column!r}: {names.count(column)} columns have this name; rename all but one")
    return table.column(column)


#: The argument that names the column of the text, as errors name it.
_TEXT = "columns={'text': ...} (column= of read, open_source, parse, embed and split_sentences)"


class NoTextColumnError(ValueError):
    """The error for a table in which no column is known to hold the text."""


def the_text(strings: Sequence[str], names: Sequence[str], listing: str) -> str:
    """Return the column that holds the text if the caller names none: the only one of ``strings``, else ``text``.

    A single string column whose name is usual for ids, such as ``url``, is not taken as the text.

    Args:
        strings: Names of the string columns.
        names: Names of all columns that can hold the text.
        listing: The columns as an error lists them.

    Raises:
        NoTextColumnError: There is no single string column, and no column ``text``.
    """
    of_ids = len(strings) == 1 and strings[0].lower() in _OF_IDS
    if len(strings) == 1 and not of_ids:
        return strings[0]
    if "text" in names:
        return "text"
    if of_ids:
        raise NoTextColumnError(
            f"the only string column is {strings[0]!r}, whose name suggests ids or URLs, not text: pass {_TEXT} with "
            "its name if it does hold the text, or with the name of another column"
        )
    raise NoTextColumnError(
        f"it is unclear which column holds the text; pass {_TEXT} with its name; the string columns are: {listing}"
    )


def speaks_arrow(values: Any) -> bool:
    """Return whether values have Arrow's PyCapsule interface."""
    return hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")


def package_of(values: Any) -> str:
    """Return the package that a value's type comes from, without importing it."""
    return type(values).__module__.partition(".")[0]


def plain(array: pa.Array) -> pa.Array:
    """Return an array without dictionaries, views, run ends and extension types, with UUIDs as text.

    Arrow has few kernels for these types.
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.uuid":
            texts = [None if value is None else str(uuid.UUID(bytes=value)) for value in array.storage.to_pylist()]
            return pa.array(texts, pa.large_string())
        return plain(array.storage)
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary).take(array.indices)
    if pa.types.is_run_end_encoded(kind):
        import pyarrow.compute as pc

        return plain(pc.run_end_decode(array))
    views = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    return array.cast(views[str(kind)]) if str(kind) in views else array


def of_polars(series: Any) -> pa.ChunkedArray | list[Any]:
    """Return a Polars series as Arrow, or as a list if it holds Python objects.

    The conversion goes through a frame, because older Polars (such as 1.33) exports a series of categories as a stream
    that is not valid Arrow. A frame with this series is exported correctly. Polars exports Python objects as memory
    addresses, or crashes the process, so they become a list.
    """
    return list(series) if str(series.dtype) == "Object" else pa.table(series.to_frame()).column(0)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or pandas' NA or NaT."""
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _as_array(values: Any, name: str) -> pa.Array:
    """Return a plain array from an object that holds one value for each document."""
    if isinstance(values, (dict, set, frozenset, bytes)) or not (isinstance(values, Iterable) or speaks_arrow(values)):
        raise TypeError(
            f"{name} must be a list or an array with one value for each document; got {type(values).__name__}"
        )
    package = package_of(values)
    if package == "polars" and hasattr(values, "to_frame"):
        values = of_polars(values)
    elif package in ("numpy", "pandas"):
        if getattr(values, "ndim", 1) != 1:
            raise ValueError(f"{name} must have one dimension; got {values.ndim}")
        if str(getattr(values, "dtype", "")).lower() == "object":
            values = list(values)
        else:
            values = pa.array(values, from_pandas=True)
    if speaks_arrow(values) and not isinstance(values, (pa.Array, pa.ChunkedArray)):
        values = pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values)
    if isinstance(values, pa.ChunkedArray):
        parts = [plain(chunk) for chunk in values.chunks]
        return pa.concat_arrays(parts) if parts else plain(pa.array([], values.type))
    return plain(values) if isinstance(values, pa.Array) else _of_objects(list(values), name)


def _kind(value: Any) -> str:
    """Return the kind of a Python object. All values of one argument must be of the same kind.

    Whole numbers and floats are different kinds, because in a list with a float, Arrow would turn 1 into 1.0.
    """
    if isinstance(value, str):
        return "str"
    for kind, label in ((bool, "bool"), (numbers.Integral, "int"), (numbers.Real, "float")):
        if isinstance(value, kind):
            return label
    return type(value).__name__


def _of_objects(values: list[Any], name: str) -> pa.Array:
    """Return Python objects of one type as an array, with UUIDs as text and pandas' missing values as null."""
    types = set(map(type, values))
    if len(types) > 1 or not types <= {str, int}:
        first: dict[str, int] = {}
        for row, value in enumerate(values):
            if not is_missing(value):
                first.setdefault(_kind(value), row)
        if len(first) > 1:
            found = " and ".join(f"{kind} (document {row})" for kind, row in list(first.items())[:2])
            raise TypeError(f"{name} must be of one type; got {found}: make a string of each")
        values = [str(value) if isinstance(value, uuid.UUID) else value for value in values]
    try:
        few = few_strings(values, pa.string()) if types == {str} else None
        return plain(pa.array(values, from_pandas=True)) if few is None else few
    except (pa.ArrowException, UnicodeEncodeError, OverflowError, TypeError, ValueError) as error:
        if all(isinstance(value, numbers.Integral) and 0 <= int(value) < 2**64 for value in values):
            return pa.array(values, pa.uint64())
        for row, value in enumerate(values):
            if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
                raise ValueError(
                    f"{name} must be text that UTF-8 can encode; got {value!r:.80} for document {row}: remove the lone "
                    "surrogate"
                ) from None
            if isinstance(value, numbers.Integral) and (int(value) < 0 or int(value) >= 2**64):
                shown = f"{value:,}" if -(2**64) < int(value) < 2**80 else f"{int(value).bit_length()} bits"
                raise ValueError(
                    f"{name} must all fit into int64 or all into uint64; got {shown} for document {row}; make a "
                    "string of each"
                ) from None
        raise TypeError(f"{name} must be {_NAMES}, all of one type ({error}); make a string of each") from error


def _text_of_bytes(array: pa.Array) -> pa.LargeStringArray:
    binary = array.cast(pa.large_binary())
    text = pa.Array.from_buffers(pa.large_string(), len(binary), [None, *binary.buffers()[1:]], offset=binary.offset)
    data, offsets = flat_text(text)
    for row in range(len(text)):
        if native.find_invalid_utf8(data[offsets[row] : offsets[row + 1]]) >= 0:
            raise ValueError(
                f"ids must be strings or UTF-8; got {binary[row].as_py()!r:.80} for document {row}; pass strings, such "
                "as value.hex()"
            )
    return text
