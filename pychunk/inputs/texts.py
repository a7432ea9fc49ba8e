"""The conversion of any object that holds text to large_string arrays with one document for each row.

Rows that cannot be used are listed as errors.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from .._engine import native
from .._engine.arrow import are_few, flat_text, flat_texts, strings
from .._engine.data.features import quick
from .._util.counting import counted
from .value_columns import (
    Columns,
    are_uuids,
    ids_of,
    is_missing,
    of_polars,
    only_column,
    package_of,
    plain,
    speaks_arrow,
    the_text,
    warn_of_repeats,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from .mappings import MappedColumns


#: The largest number of characters of a text that is checked for being a path. File systems allow 255 in a name.
_LONGEST_PATH = 255


class RowError(NamedTuple):
    """A row that ``on_error="skip"`` skipped, with the reason."""

    row: int
    reason: str


class PartialRowError(RowError):
    """A row that was cut, but in part not as requested, with the reason."""

    __slots__ = ()


@dataclass(frozen=True)
class TextBatch:
    """The documents of a batch in Arrow, one for each row.

    Attributes:
        texts: Contiguous large_string arrays without nulls. A row in ``errors`` is the empty string.
        ids: The caller's id column, or None.
        errors: The rows that cannot be used.
        source: The table that the texts came from, from which further columns can be read, or None.
        uuids: Whether the ids were UUIDs; ``ids`` holds them as text.
        metadata_columns: The columns of ``source`` that every chunk repeats if the call names none.
    """

    texts: list[pa.LargeStringArray]
    ids: pa.Array | None
    errors: list[RowError]
    source: Columns | None
    uuids: bool = False
    metadata_columns: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        # A batch of a few strings has only _flat at first. Most calls on one text never read the array.
        if name != "texts" or "_flat" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        made = self.__dict__["texts"] = [strings(*flat) for flat in self._flat]
        return made

    def __len__(self) -> int:
        total = 0
        for _, offsets in self._flat:
            total += len(offsets) - 1
        return total

    def __getstate__(self) -> dict[str, Any]:
        state = {**vars(self), "texts": self.texts}
        state.pop("_flat", None)  # else the text is pickled twice
        return state

    @property
    def column_names(self) -> list[str]:
        """The columns of the documents' table; empty if they come from no table."""
        return [] if self.source is None else list(self.source.column_names)

    @property
    def nbytes(self) -> int:
        """The bytes of text."""
        total = 0
        for _, offsets in self._flat:
            total += int(offsets[-1] - offsets[0])
        return total

    @functools.cached_property
    def _flat(self) -> list[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]]:
        """The bytes and offsets of each array of ``texts``: see :func:`flat_text`."""
        return [flat_text(part) for part in self.texts]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of characters of each document."""
        return np.concatenate([np.empty(0, np.int64), *(native.count_characters(*flat) for flat in self._flat)])

    def slices(self, max_bytes: int) -> Iterator[tuple[int, npt.NDArray[np.uint8], npt.NDArray[np.int64]]]:
        """Yield slices of at most ``max_bytes`` of text, or of one longer document.

        Each is (the number of its first document, bytes, the offsets of its documents in the bytes).
        """
        row = 0
        for text, offsets in self._flat:
            count = len(offsets) - 1
            # Most calls fit into one slice. For these, searching for its end would take longer than the rest.
            if count and (text.nbytes <= max_bytes or offsets[-1] - offsets[0] <= max_bytes):
                yield row, text, offsets
                row += count
                continue
            begin = 0
            while begin < count:
                end = int(np.searchsorted(offsets, offsets[begin] + max_bytes, side="right")) - 1
                end = min(max(end, begin + 1), count)
                yield row, text, offsets[begin : end + 1]
                row += end - begin
                begin = end

    @staticmethod
    def of(documents: Any, *, column: str | None = None, ids: Any = None, on_error: str = "raise") -> TextBatch:
        """Return any object that holds text as a TextBatch.

        Args:
            documents: A str; a list or other iterable of str; an Arrow array, chunked array, record batch or table; a
                pandas or Polars series or data frame; a dict of lists, one for each column; a ``datasets.Dataset``; or
                any object with ``__arrow_c_stream__`` or ``__arrow_c_array__``.
            column: The column of a table that holds the text. The default is the only string column, or ``text`` if
                there are several.
            ids: One id for each document, or the name of a column. Pychunk warns if several documents have the same id.
            on_error: ``"raise"`` to raise an error for a row that cannot be used, ``"skip"`` to list it in ``errors``.
        """
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip'; got {on_error!r:.80}")
        if isinstance(documents, TextBatch):
            if column is not None:
                raise ValueError(
                    "documents that are read already have their texts, so no column of texts can be chosen; got "
                    f"{column!r:.80}: leave it out, or name it in the call that read them"
                )
            return documents if ids is None else documents._with_ids(ids)
        if column is None and (few := _of_few(documents)) is not None:
            return few if ids is None else few._with_ids(ids)
        table = _as_table(documents)
        values = _as_chunked(documents, column) if table is None else _column(table, column)[1]
        if isinstance(table, PandasColumns):
            values = _of_series(values)
        elif not (table is None or isinstance(table, pa.Table) or isinstance(values, list)):
            values = _as_chunked(values, None)
        errors: list[RowError] = []
        texts: list[pa.LargeStringArray] = []
        row = 0
        for chunk in [values] if isinstance(values, list) else values.chunks:
            texts.append(_checked(chunk, row, errors))
            row += len(chunk)
        if errors and on_error == "raise":
            row_number, reason = errors[0]
            more = f" ({counted(len(errors) - 1, 'more row')} cannot be used)" if len(errors) > 1 else ""
            kind = TypeError if "must be str" in reason else ValueError
            raise kind(f"row {row_number}: {reason}{more}; fix it or pass on_error='skip'")
        made = TextBatch(texts, None, errors, table)
        return made if ids is None else made._with_ids(ids)

    def _with_ids(self, ids: Any) -> TextBatch:
        ids = list(ids) if isinstance(ids, Iterator) else ids
        names = ids_of(ids, len(self), self.source)
        if names is not None and len(names) > 1:
            warn_of_repeats(names)
        return replace(self, ids=names, uuids=are_uuids(ids, self.source))


def _of_few(documents: Any) -> TextBatch | None:
    """Return a string, or a list of a few strings, as a TextBatch; None for anything else."""
    if type(documents) is str:
        _warn_of_path(documents)
        documents = [documents]
    if type(documents) is not list or any(type(value) is not str for value in documents) or not are_few(documents):
        return None
    try:
        flat = flat_texts(documents)
    except UnicodeEncodeError:
        return None
    return quick(TextBatch, ids=None, errors=[], source=None, _flat=[flat])


class PandasColumns:
    """The columns of a pandas data frame, each converted on demand."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._places = [(i, name) for i, name in enumerate(frame.columns) if isinstance(name, str)]

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return [name for _, name in self._places]

    def column(self, name: str) -> Any:
        """Return the column of this name as a pandas series."""
        return self._frame.iloc[:, next(i for i, own in self._places if own == name)]

    def text_columns(self) -> list[str]:
        """Return the columns that hold at least one string.

        Columns that also hold other objects are included, so that an error can name the row that is not a string.
        """
        return [name for i, name in self._places if self._has_text(self._frame.iloc[:, i])]

    @staticmethod
    def _has_text(series: Any) -> bool:
        if str(series.dtype) == "object":
            return any(isinstance(value, (str, bytes)) for value in series)
        try:
            return _is_text(pa.array(series[:0], from_pandas=True).type)
        except pa.ArrowException:
            return False


def _as_table(documents: Any) -> pa.Table | PandasColumns | MappedColumns | None:
    """Return the documents as a table, or None if they have no columns."""
    if isinstance(documents, pa.Table):
        return documents
    if isinstance(documents, pa.RecordBatch):
        return pa.Table.from_batches([documents])
    if isinstance(documents, (str, bytes, list, tuple, pa.Array, pa.ChunkedArray)):
        return None
    package = package_of(documents)
    if package == "pandas":
        return PandasColumns(documents) if hasattr(documents, "columns") else None
    if package == "polars":
        if hasattr(documents, "collect"):
            raise TypeError("documents are a Polars LazyFrame, which holds no rows yet; pass frame.collect()")
        return documents.to_arrow() if hasattr(documents, "columns") else None
    if isinstance(documents, Mapping) or (package == "datasets" and hasattr(documents, "column_names")):
        from .mappings import MappedColumns, of_datasets  # imported here because few calls have such documents

        return of_datasets(documents) if package == "datasets" else MappedColumns(documents)
    if hasattr(documents, "__arrow_c_stream__"):
        try:
            return pa.table(documents)
        except (TypeError, ValueError, pa.ArrowInvalid):
            return None
    return None


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


def text_column(table: pa.Table, column: str | None) -> str:
    """Return the name of the column that holds the text, which is ``column`` unless it is None."""
    return _column(table, column)[0]


def _column(table: pa.Table | PandasColumns | MappedColumns, column: str | None) -> tuple[str, Any]:
    """Return (name, values) of the column that holds the text."""
    if not isinstance(table, pa.Table):
        names = strings = table.text_columns()
        bare = [name for name in table.column_names if len(table.column(name)) == 0]
    else:
        kinds = {field.name: field.type for field in table.schema}
        names = [name for name in table.column_names if _is_text(kinds[name])]
        strings = [name for name in names if "binary" not in str(kinds[name])]
        bare = [name for name, kind in kinds.items() if pa.types.is_null(kind)]
    listing = ", ".join(names) or "none"
    if column is None:
        candidates = strings or bare  # A frame without rows often has no types either.
        column = the_text(candidates, [*names, *candidates], listing)
    elif column not in table.column_names:
        remedy = "name one of them" if names else "add a column of strings"
        raise ValueError(f"column {column!r} is not there; the string columns are: {listing}; {remedy}")
    values = only_column(table, column, "column")
    if isinstance(table, pa.Table) and column not in names and not pa.types.is_null(values.type):
        raise TypeError(f"column {column!r} must hold strings, got {values.type}; the string columns are: {listing}")
    return column, values


def _as_chunked(documents: Any, column: str | None) -> pa.ChunkedArray | list[Any]:
    """Return documents that have no columns: Arrow data unchanged, other objects as a list of Python objects."""
    if column is not None:
        raise ValueError(
            f"the column {column!r} needs a table; the documents are a {type(documents).__name__}: leave it out, or "
            "pass a table"
        )
    if isinstance(documents, str):
        _warn_of_path(documents)
        return [documents]
    if isinstance(documents, list):
        return documents
    if isinstance(documents, os.PathLike):
        raise TypeError(
            f"documents are a path; pass pychunk.read({os.fspath(documents)!r}) for the documents of a file"
        )
    if isinstance(documents, bytes):
        raise TypeError("documents must be str, got bytes; decode them first")
    if isinstance(documents, pa.ChunkedArray):
        values = documents
    elif isinstance(documents, pa.Array):
        values = pa.chunked_array([documents])
    elif package_of(documents) == "pandas":
        return _of_series(documents)
    elif package_of(documents) == "polars" and hasattr(documents, "to_frame"):
        values = of_polars(documents)
        if isinstance(values, list):
            return values
    elif speaks_arrow(documents):
        streams = hasattr(documents, "__arrow_c_stream__")
        values = pa.chunked_array(documents) if streams else pa.chunked_array([pa.array(documents)])
    elif isinstance(documents, Iterable) and not isinstance(documents, (dict, set, frozenset)):
        return list(documents)
    else:
        raise TypeError(
            "documents must be a str, a list of str, an Arrow array or table, a dict of lists, or a pandas or Polars "
            f"series or data frame; got {type(documents).__name__}"
        )
    if not _is_text(values.type) and not pa.types.is_null(values.type):
        raise TypeError(f"documents must be strings, got an Arrow array of {values.type}; cast it to pyarrow.string()")
    return values


def _warn_of_path(text: str) -> None:
    """Warn if a text is the path of a file, because then the path itself is segmented and not the file's text."""
    if len(text) <= _LONGEST_PATH and "\n" not in text and "\0" not in text and os.path.isfile(text):
        warnings.warn(
            f"{text!r} is the path of a file, and its name is the text; pass pychunk.read({text!r}) for the file's "
            "text",
            stacklevel=3,
        )


def _of_series(series: Any) -> pa.ChunkedArray | list[Any]:
    """Return a pandas series as Arrow if it holds only text, else as a list of its objects.

    With a list, errors can name the row of an object that is not text.
    """
    if str(series.dtype) != "object":
        try:
            values = pa.array(series, from_pandas=True)
        except (pa.ArrowException, UnicodeEncodeError):
            return list(series)
        if _is_text(values.type):
            return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    return list(series)


def _checked(values: pa.Array | list[Any], first_row: int, errors: list[RowError]) -> pa.LargeStringArray:
    """Return values as a large_string array of valid UTF-8 without nulls.

    Rows that are not text become "" and are added to ``errors``.
    """
    if isinstance(values, list):
        try:
            if all(issubclass(kind, str) for kind in set(map(type, values))):
                return pa.array(values, pa.large_string())
        except UnicodeEncodeError:
            pass
        return _checked_objects(values, first_row, errors)
    values = plain(values)
    array = (
        values.cast(pa.large_binary())
        if not pa.types.is_null(values.type)
        else pa.nulls(len(values), pa.large_binary())
    )
    if array.null_count:
        missing = np.flatnonzero(np.asarray(array.is_null()))
        errors.extend(RowError(first_row + int(row), "the text is null") for row in missing)
        array = array.fill_null(b"")
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


def _view_as_text(array: pa.LargeBinaryArray) -> pa.LargeStringArray:
    """Return an array of the same buffers with the type large_string.

    A cast would check UTF-8, which :func:`_invalid_rows` checks already.
    """
    return pa.Array.from_buffers(pa.large_string(), len(array), [None, *array.buffers()[1:]], offset=array.offset)


def _invalid_rows(texts: pa.LargeStringArray) -> list[tuple[int, int]]:
    """Return (row, position of the first invalid byte in the row) for the rows that are not valid UTF-8."""
    text, offsets = flat_text(texts)
    used = text[offsets[0] : offsets[-1]]
    starts = offsets[:-1][offsets[:-1] < len(text)]
    splits_character = bool(((text[starts] & 0xC0) == 0x80).any()) if len(starts) else False
    if not splits_character and native.find_invalid_utf8(used) < 0:
        return []
    found = []
    for row in range(len(texts)):
        byte = native.find_invalid_utf8(text[offsets[row] : offsets[row + 1]])
        if byte >= 0:
            found.append((row, byte))
    return found


def _checked_objects(values: list[Any], first_row: int, errors: list[RowError]) -> pa.LargeStringArray:
    """Return a list as text after checking each value by itself.

    This is slow, so it runs only if some values are not valid strings.
    """
    good: list[str] = []
    for row, value in enumerate(values, first_row):
        reason = None
        if not isinstance(value, str):
            reason = "the text is null" if is_missing(value) else f"the text must be str, got {type(value).__name__}"
        else:
            try:
                value.encode()
            except UnicodeEncodeError as error:
                reason = f"lone surrogate U+{ord(value[error.start]):04X} at character {error.start}"
        if reason is not None:
            errors.append(RowError(row, reason))
        good.append("" if reason is not None else value)
    return pa.array(good, pa.large_string())
