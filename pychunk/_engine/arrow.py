"""Conversions between Arrow buffers and NumPy arrays without copies."""

from __future__ import annotations

import functools
import importlib
import itertools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .data.columns import current_names


class _LazyModule:
    """A module that is loaded when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(importlib.import_module(self._name), name)
        self.__dict__[name] = found
        return found


#: ``pyarrow.compute`` takes 0.07 s to load, and a search without conditions does not need it.
compute: Any = _LazyModule("pyarrow.compute")

_NO_BYTES: npt.NDArray[np.uint8] = np.empty(0, dtype=np.uint8)


def flat_texts(texts: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return k strings as (bytes in UTF-8 uint8[m], offsets int64[k + 1]) without Arrow.

    Arrow needs 0.2 s for its first array, because it imports pandas if pandas is installed.
    """
    parts = [text.encode() for text in texts]
    if len(parts) == 1:  # takes a quarter of the time of the general way
        ends = np.zeros(2, np.int64)
        ends[1] = len(parts[0])
        return np.frombuffer(parts[0], np.uint8), ends
    offsets = np.fromiter(itertools.accumulate(map(len, parts), initial=0), np.int64, len(parts) + 1)
    return np.frombuffer(b"".join(parts), np.uint8), offsets


#: The most strings, and the most characters in total, of an array that is made without Arrow. This is half as fast as
#: Arrow, but avoids the import of pandas.
_FEW, _SHORT = 4096, 1 << 26
#: The most strings of an array that is also made without Arrow if pandas is already imported, because Arrow then asks
#: pandas what they are.
_SINGLE = 8


def are_few(values: Sequence[str]) -> bool:
    """Return whether an array of these strings is made without Arrow: see :func:`few_strings`."""
    return len(values) <= (_SINGLE if "pandas" in sys.modules else _FEW) and sum(map(len, values)) <= _SHORT


def few_strings(values: Sequence[str], kind: pa.DataType) -> pa.Array | None:
    """Return the strings as an array of string or large_string without the import of pandas.

    Return None if there are many strings, or several if pandas is already imported.
    """
    if not are_few(values):
        return None
    text, offsets = flat_texts(values)
    return strings(text, offsets if pa.types.is_large_string(kind) else offsets.astype(np.int32))


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return the values of a column as one array, without a copy if it is one. ``combine_chunks`` always copies."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def flat_text(array: pa.LargeStringArray | pa.StringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the k strings of an array as (bytes in UTF-8 uint8[m], offsets int64[k + 1]).

    Neither the bytes nor offsets of 64 bits are copied. The offsets of a slice need not begin with 0, because the bytes
    are those of the whole array.
    """
    _, offset_buffer, data = array.buffers()
    if len(array) == 0 or offset_buffer is None:
        return _NO_BYTES, np.zeros(len(array) + 1, dtype=np.int64)
    width = np.int64 if pa.types.is_large_string(array.type) else np.int32
    offsets = items(offset_buffer, width, array.offset + len(array) + 1)[array.offset :].astype(np.int64, copy=False)
    text = _NO_BYTES if data is None or data.size == 0 else np.frombuffer(data, dtype=np.uint8)
    return text, offsets


def items(buffer: Any, dtype: Any, count: int) -> npt.NDArray[Any]:
    """Return the first ``count`` values of a buffer. In a damaged file, the buffer may end inside a later value."""
    return np.frombuffer(buffer, dtype, count)


def primitive(values: npt.NDArray[Any]) -> pa.Array:
    """Return a one-dimensional array without nulls, which shares the memory of ``values``."""
    return pa.Array.from_buffers(
        _type_of(values.dtype), len(values), [None, pa.py_buffer(np.ascontiguousarray(values))]
    )


def owned(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return an array whose numbers or dates are copied, because they may share the memory of a NumPy array."""
    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array([owned(piece) for piece in array.chunks], array.type)
    if not (pa.types.is_primitive(array.type) or pa.types.is_dictionary(array.type)):
        return array
    return pa.concat_arrays([array, array.slice(0, 0)])  # which always copies


def masked(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> pa.Array:
    """Return an array with nulls, like ``pa.array(values, mask=missing)``, which would import pandas."""
    if not missing.any():
        return primitive(values)
    buffers = [_valid(missing), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(_type_of(values.dtype), len(values), buffers)


def _valid(missing: npt.NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(~missing, bitorder="little"))


#: The result is cached, because Arrow needs a microsecond for it, and a call needs it ten times.
_type_of = functools.cache(pa.from_numpy_dtype)


def strings(
    text: npt.NDArray[Any],
    offsets: npt.NDArray[np.int32] | npt.NDArray[np.int64],
    missing: npt.NDArray[np.bool_] | None = None,
) -> Any:
    """Return an array of string or large_string, by the type of ``offsets``. It shares the memory of both.

    Strings for which ``missing`` is true are null.
    """
    valid = None if missing is None or not missing.any() else _valid(missing)
    kind = pa.large_string() if offsets.dtype == np.int64 else pa.string()
    return pa.Array.from_buffers(kind, len(offsets) - 1, [valid, pa.py_buffer(offsets), pa.py_buffer(text)])


def vectors(values: npt.NDArray[np.float32]) -> pa.FixedSizeListArray:
    """Return rows of float32[n, d] as a fixed_size_list<float>[d] array, which shares the memory of ``values``."""
    return pa.FixedSizeListArray.from_arrays(primitive(values.reshape(-1)), values.shape[1])


def python_values(array: pa.Array) -> list[Any]:
    """Return the result of ``array.to_pylist()`` by way of NumPy, without an Arrow object for each value.

    A list of float vectors takes an eighth of the time, and a dictionary's strings take a twentieth. Values that NumPy
    would change, such as numbers next to nulls and times, are converted by Arrow.
    """
    kind = array.type
    if (pa.types.is_dictionary(kind) and _is_string(kind.value_type)) or _is_string(kind):
        return list(array.to_numpy(zero_copy_only=False))
    if array.null_count:
        return [None] * len(array) if array.null_count == len(array) else list(array.to_pylist())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return list(array.to_numpy(zero_copy_only=False).tolist())
    if pa.types.is_fixed_size_list(kind) and kind.list_size:
        return _pieces(array.flatten(), np.arange(len(array) + 1) * kind.list_size)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        offsets = np.asarray(array.offsets)
        return _pieces(array.flatten(), offsets - offsets[0])
    if pa.types.is_struct(kind) and len(kind):
        names = [field.name for field in kind]
        return [dict(zip(names, row, strict=True)) for row in zip(*map(python_values, array.flatten()), strict=True)]
    return list(array.to_pylist())


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _pieces(items: pa.Array, offsets: npt.NDArray[Any]) -> list[list[Any]]:
    values, borders = python_values(items), offsets.tolist()
    return [values[begin:end] for begin, end in itertools.pairwise(borders)]


def with_current_names(table: pa.Table) -> pa.Table:
    """Return a table of chunks or nodes, which an older version may have written, with the columns' current names."""
    names = current_names(table.column_names)
    if names == table.column_names:
        return table
    fields = [field.with_name(name) for field, name in zip(table.schema, names, strict=True)]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields, table.schema.metadata))
