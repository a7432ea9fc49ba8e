"""Digests of 128 bits of documents, by which an update finds the ones that changed.

Whole columns are hashed at once, at about 4 GB/s, because an update hashes every document that it reads: SHA-256 with a
loop over documents took as long as reading them. The hash is MurmurHash3, so texts that somebody made to collide are
taken for unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.arrow import compute as pc
from .._engine.arrow import flat_text, primitive

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
_Leaf = tuple[npt.NDArray[np.uint8], I64]


@dataclass(frozen=True)
class Digests:
    """The ids of n documents with the hashes that an update compares.

    Attributes:
        ids: The ids, large_string[n].
        keys: The hash of each id, uint64[n, 2].
        values: The digest of all that the chunks of each document are made from, uint64[n, 2].
    """

    ids: pa.Array
    keys: U64
    values: U64

    def __len__(self) -> int:
        return len(self.ids)

    def choose(self, rows: I64) -> Digests:
        """Return the digests of some of the documents, given by number."""
        return Digests(self.ids.take(primitive(rows)), self.keys[rows], self.values[rows])


def digests_of(table: pa.Table) -> Digests:
    """Return the digests of a batch of documents: of every column but ``file``, and of the marks of its reader.

    A digest does not depend on other rows, or on how a column is stored. The options are not included, because the
    manifest holds them, and an update needs the same ones.
    """
    names = sorted(name for name in table.column_names if name not in ("id", "file"))
    marks = sorted((key.hex(), value.hex()) for key, value in (table.schema.metadata or {}).items())
    types = [[name, str(table.schema.field(name).type)] for name in names]
    base = int(native.hash128(json.dumps([marks, types]).encode()), 16)
    ids = _whole(table.column("id")).cast(pa.large_string())
    keys = key_hashes(ids)
    start = np.array([base & (2**64 - 1), base >> 64], np.uint64)
    found = []
    for batch in table.select(names).to_batches():  # Joining them would copy the texts.
        states = np.tile(start, (len(batch), 1))
        for column in batch.columns:
            for data, bounds in _leaves(column, np.arange(len(batch) + 1)):
                states = native.extend_row_hashes(data, bounds, states)
        found.append(states)
    values = np.concatenate(found) if found else np.empty((0, 2), np.uint64)
    return Digests(ids, keys, values)


def key_hashes(ids: pa.Array) -> U64:
    """Return a hash of each id, uint64[n, 2]."""
    return native.extend_row_hashes(*flat_text(ids), np.zeros((len(ids), 2), np.uint64))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


def _leaves(array: pa.Array, bounds: I64) -> Iterator[_Leaf]:
    """Yield the bytes to hash for n rows, as flat arrays with n + 1 bounds; row i has the values from bounds[i] on."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        yield from _leaves(array.storage, bounds)
        return
    if pa.types.is_dictionary(kind):
        yield from _leaves(array.dictionary_decode(), bounds)
        return
    yield np.asarray(array.is_valid().cast(pa.uint8())), bounds
    if pa.types.is_string_view(kind):
        array = array.cast(pa.large_string())
        kind = array.type
    if pa.types.is_struct(kind):
        for each in array.flatten():
            yield from _leaves(each, bounds)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        offsets = np.asarray(array.offsets, np.int64)
        yield from _fixed(np.diff(offsets), bounds)
        yield from _leaves(array.values, offsets[bounds])
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        data, offsets = flat_text(array.fill_null("") if array.null_count else array)
        yield from _fixed(np.diff(offsets), bounds)
        yield data, offsets[bounds]
    elif pa.types.is_boolean(kind):
        yield from _fixed(np.asarray(array.cast(pa.uint8()).fill_null(0)), bounds)
    elif (pa.types.is_primitive(kind) or pa.types.is_decimal(kind)) and array.buffers()[1] is not None:
        width = kind.bit_width // 8
        data = np.frombuffer(array.buffers()[1], np.uint8)[array.offset * width :][: len(array) * width]
        yield from _fixed(np.where(np.asarray(array.is_valid())[:, None], data.reshape(-1, width), 0), bounds)
    elif not pa.types.is_null(kind):  # Rare types, value by value.
        values = pa.array([repr(each) for each in array.to_pylist()], pa.large_string())
        yield from _leaves(values, bounds)


def _fixed(values: npt.NDArray[Any], bounds: I64) -> Iterator[_Leaf]:
    data = np.ascontiguousarray(values)
    yield data.reshape(-1).view(np.uint8), bounds * (data.nbytes // max(1, len(data)))


def as_binary(values: U64, missing: npt.NDArray[np.bool_]) -> pa.Array:
    """Return hashes as an array of binary(16), null where ``missing``."""
    array = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(16), len(values), [None, pa.py_buffer(np.ascontiguousarray(values, "<u8"))]
    )
    return pc.if_else(pa.array(~missing), array, pa.scalar(None, pa.binary(16))) if missing.any() else array


def from_binary(array: pa.Array) -> U64:
    """Return the hashes of an array of binary(16), with zeros for nulls; uint64[n, 2]."""
    filled = array.fill_null(bytes(16)) if array.null_count else array
    data = np.frombuffer(filled.buffers()[1] or b"", "<u8")
    return data.astype(np.uint64, copy=False).reshape(-1, 2)[filled.offset : filled.offset + len(filled)]
