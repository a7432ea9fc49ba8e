"""Documents in: whatever holds text becomes one large_string column, with the rows that cannot be used listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import _native
from ._arrow import flat_text


class RowError(NamedTuple):
    """A row that ``on_error="skip"`` left out, and why."""

    row: int
    reason: str


@dataclass(frozen=True)
class TextBatch:
    """Documents as Arrow, one row each.

    ``texts`` holds contiguous large_string arrays without nulls (a row in ``errors`` is the empty string);
    ``ids`` is the caller's id column or None; ``source`` is the table the texts came from, for further columns.
    """

    texts: list[pa.LargeStringArray]
    ids: pa.Array | None
    errors: list[RowError]
    source: pa.Table | None

    def __len__(self) -> int:
        return sum(len(text) for text in self.texts)

    @property
    def nbytes(self) -> int:
        """Bytes of text."""
        return sum(int(o[-1] - o[0]) for _, o in map(flat_text, self.texts))

    def slices(self, max_bytes: int) -> Iterator[tuple[int, pa.LargeStringArray]]:
        """(first row, texts) pieces of at most ``max_bytes`` of text, or of one document."""
        row = 0
        for texts in self.texts:
            _, offsets = flat_text(texts)
            begin = 0
            while begin < len(texts):
                end = int(np.searchsorted(offsets, offsets[begin] + max_bytes, side="right")) - 1
                end = min(max(end, begin + 1), len(texts))
                yield row, texts.slice(begin, end - begin)
                row += end - begin
                begin = end

    @staticmethod
    def of(documents: Any, *, column: str | None = None, ids: Any = None, on_error: str = "raise") -> TextBatch:
        """Anything that holds text, as a TextBatch.

        ``documents``: a str; a list or other iterable of str; an Arrow array, chunked array, record batch or table;
        a pandas or Polars series or data frame; anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``.
        ``column``: which column of a table holds the text (default: the only string column, else ``text``).
        ``ids``: one a document, or the name of a column.
        """
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip'; got {on_error!r}")
        if isinstance(documents, TextBatch):
            return documents
        table = _as_table(documents)
        values = _column(table, column) if table is not None else _as_chunked(documents, column)
        errors: list[RowError] = []
        texts: list[pa.LargeStringArray] = []
        row = 0
        for chunk in [values] if isinstance(values, list) else values.chunks:
            texts.append(_checked(chunk, row, errors))
            row += len(chunk)
        if errors and on_error == "raise":
            row_number, reason = errors[0]
            more = f" ({len(errors) - 1} more rows cannot be used)" if len(errors) > 1 else ""
            kind = TypeError if "must be str" in reason else ValueError
            raise kind(f"row {row_number}: {reason}{more}; mend it or pass on_error='skip'")
        return TextBatch(texts, column_of(ids, row, table, "ids"), errors, table)


def column_of(values: Any, rows: int, table: pa.Table | None, name: str) -> pa.Array | None:
    """One value a row from a list, an array or the name of a column of ``table``; None stays None."""
    if values is None:
        return None
    if isinstance(values, str):
        if table is None:
            if rows == 1:
                values = [values]
            else:
                raise ValueError(f"{name}={values!r} names a column, but the documents have no columns; pass a list")
        elif values not in table.column_names:
            raise ValueError(f"{name}={values!r} is not a column; the columns are {', '.join(table.column_names)}")
        else:
            values = table.column(values)
    elif not isinstance(values, (pa.Array, pa.ChunkedArray)):
        values = _as_arrow(values) if _speaks_arrow(values) else pa.array(list(values))
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if len(array) != rows:
        raise ValueError(f"{name} must hold one value for each of {rows} documents; got {len(array)}")
    if array.null_count:
        row = int(np.flatnonzero(np.asarray(array.is_null()))[0])
        raise ValueError(f"{name} must not be null, but is for document {row}")
    return array


def _speaks_arrow(values: Any) -> bool:
    return hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")


def _as_arrow(values: Any) -> pa.ChunkedArray | pa.Array:
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    return pa.array(values)


def _as_table(documents: Any) -> pa.Table | None:
    """The documents as a table, or None where they have no columns."""
    if isinstance(documents, pa.Table):
        return documents
    if isinstance(documents, pa.RecordBatch):
        return pa.Table.from_batches([documents])
    if isinstance(documents, (str, bytes, list, tuple, pa.Array, pa.ChunkedArray)):
        return None
    module = type(documents).__module__.partition(".")[0]
    if module == "pandas":
        if not hasattr(documents, "columns"):
            return None
        names = [name for name in documents.columns if isinstance(name, str)]
        return pa.table({name: _pandas_column(documents[name]) for name in names})
    if module == "polars":
        return documents.to_arrow() if hasattr(documents, "columns") else None
    if hasattr(documents, "__arrow_c_stream__"):
        try:
            return pa.table(documents)
        except (TypeError, ValueError, pa.ArrowInvalid):
            return None
    return None


def _pandas_column(series: Any) -> pa.Array | pa.ChunkedArray:
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        return _mixed(series.tolist())


def _mixed(values: list[Any]) -> pa.Array:
    """Python objects of several types as strings; what is not a str becomes null here and is named later on."""
    return pa.array([value if isinstance(value, str) else None for value in values], pa.large_string())


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or str(kind) in ("string_view", "binary_view")
    )


def _column(table: pa.Table, column: str | None) -> pa.ChunkedArray:
    names = [field.name for field in table.schema if _is_text(field.type)]
    listing = ", ".join(names) or "none"
    if column is None:
        strings = [name for name in names if "binary" not in str(table.schema.field(name).type)]
        if len(strings) == 1:
            column = strings[0]
        elif "text" in names:
            column = "text"
        else:
            raise ValueError(f"column= must say which column holds the text; the string columns are: {listing}")
    elif column not in table.column_names:
        raise ValueError(f"column {column!r} is not there; the string columns are: {listing}")
    values = table.column(column)
    if column not in names and not pa.types.is_null(values.type):
        raise TypeError(f"column {column!r} must hold strings, got {values.type}; the string columns are: {listing}")
    return values


def _as_chunked(documents: Any, column: str | None) -> pa.ChunkedArray | list[Any]:
    """Documents that have no columns: Arrow as it is, anything else as a list of Python objects."""
    if column is not None:
        raise ValueError(f"column={column!r} needs a table; the documents are a {type(documents).__name__}")
    if isinstance(documents, str):
        return [documents]
    if isinstance(documents, bytes):
        raise TypeError("documents must be str, got bytes; decode them first")
    if isinstance(documents, pa.ChunkedArray):
        values = documents
    elif isinstance(documents, pa.Array):
        values = pa.chunked_array([documents])
    elif type(documents).__module__.partition(".")[0] == "pandas":
        return list(documents)
    elif _speaks_arrow(documents):
        arrow = _as_arrow(documents)
        values = arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])
    elif isinstance(documents, Iterable) and not isinstance(documents, dict):
        return list(documents)
    else:
        raise TypeError(
            "documents must be a str, a list of str, an Arrow array or table, or a pandas or Polars series or data "
            f"frame; got {type(documents).__name__}"
        )
    if not _is_text(values.type) and not pa.types.is_null(values.type):
        raise TypeError(f"documents must be strings, got an Arrow array of {values.type}")
    return values


def _checked(values: pa.Array | list[Any], first_row: int, errors: list[RowError]) -> pa.LargeStringArray:
    """large_string without nulls and of valid UTF-8; rows that are not text become "" and are listed in errors."""
    if isinstance(values, list):
        try:
            array = pa.array(values, pa.large_string()) if all(map(_is_str, values)) else None
        except UnicodeEncodeError:
            array = None
        if array is None:
            return _checked_objects(values, first_row, errors)
        return array
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if str(values.type) in ("string_view", "binary_view"):
        values = values.cast(pa.large_binary())
    array = (
        values.cast(pa.large_binary())
        if not pa.types.is_null(values.type)
        else pa.nulls(len(values), pa.large_binary())
    )
    if array.null_count:
        missing = np.flatnonzero(np.asarray(array.is_null()))
        errors.extend(RowError(first_row + int(row), "the text is null") for row in missing)
        array = pc.fill_null(array, b"")
    text = _view_as_text(array)
    bad = _invalid_rows(text)
    if bad:
        errors.extend(RowError(first_row + row, f"invalid UTF-8 at byte {byte}") for row, byte in bad)
        rows = {row for row, _ in bad}
        errors.sort()
        text = pa.array(
            [b"" if row in rows else value for row, value in enumerate(array.to_pylist())], pa.large_binary()
        ).cast(pa.large_string())
    return text


def _is_str(value: Any) -> bool:
    return isinstance(value, str)


def _view_as_text(array: pa.LargeBinaryArray) -> pa.LargeStringArray:
    """The same buffers under the type large_string; a cast would check UTF-8 a second time."""
    return pa.Array.from_buffers(pa.large_string(), len(array), [None, *array.buffers()[1:]], offset=array.offset)


def _invalid_rows(texts: pa.LargeStringArray) -> list[tuple[int, int]]:
    """(row, byte in it) of the rows that are not valid UTF-8."""
    text, offsets = flat_text(texts)
    used = text[offsets[0] : offsets[-1]]
    starts = offsets[:-1][offsets[:-1] < len(text)]
    splits_character = bool(((text[starts] & 0xC0) == 0x80).any()) if len(starts) else False
    if not splits_character and _native.find_invalid_utf8(used) < 0:
        return []
    found = []
    for row in range(len(texts)):
        byte = _native.find_invalid_utf8(text[offsets[row] : offsets[row + 1]])
        if byte >= 0:
            found.append((row, byte))
    return found


def _checked_objects(values: list[Any], first_row: int, errors: list[RowError]) -> pa.LargeStringArray:
    """The slow path of a list that holds something else than good strings."""
    good: list[str] = []
    for row, value in enumerate(values, first_row):
        reason = None
        if not isinstance(value, str):
            missing = value is None or value != value or str(value) == "<NA>"
            reason = "the text is null" if missing else f"the text must be str, got {type(value).__name__}"
        else:
            try:
                value.encode()
            except UnicodeEncodeError as error:
                reason = f"lone surrogate U+{ord(value[error.start]):04X} at character {error.start}"
        if reason is not None:
            errors.append(RowError(row, reason))
        good.append("" if reason is not None else value)
    return pa.array(good, pa.large_string())
