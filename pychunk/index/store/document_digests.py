"""Digests of 128 bits of documents and their options, which show whether an index already holds them unchanged."""

from __future__ import annotations

import hashlib
import itertools
import json
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine.arrow import primitive

U64 = npt.NDArray[np.uint64]
#: A function (begin, end) that yields the bytes to hash for the values [begin, end) of a column.
_Pieces = Callable[[int, int], Iterator[Any]]
_LARGE = (pa.large_string(), pa.large_binary())
_PLAIN_TEXT = (*_LARGE, pa.string(), pa.binary())


@dataclass(frozen=True)
class Digests:
    """The ids of n documents, each with a digest of all that its chunks were made from.

    Attributes:
        ids: The ids, large_string[n].
        values: Three numbers for each document: its key, which is a hash of its id, and the two halves of its digest,
            uint64[3, n].
    """

    ids: pa.Array
    values: U64

    def __len__(self) -> int:
        return len(self.ids)

    def choose(self, rows: npt.NDArray[Any]) -> Digests:
        """Return the digests of some of the documents, given by number or by mask."""
        kept = primitive(np.arange(len(self))[rows])
        return Digests(self.ids.take(kept), np.ascontiguousarray(self.values[:, rows]))


def of(table: pa.Table, columns: Iterable[str], made_by: Any) -> Digests:
    """Return the digests of documents. A digest is the first half of a SHA-256 hash.

    SHA-256 is used because processors have instructions for it. It takes 0.09 s for 125 MB on a Zen 4, where BLAKE2b
    takes 0.23 s. A digest does not depend on other rows, or on how a column is stored in memory. It changes if a value
    or the type of a column changes.

    Args:
        table: One row for each document, with ids in the column ``id``.
        columns: The columns that chunks are made from: the text, and others that segmentation reads or keeps.
        made_by: The segmenter and its options, in any form that JSON can hold.

    Raises:
        ValueError: A document has no id.

    >>> table = pa.table({"id": ["a", "b"], "text": ["One.", "Two."]})
    >>> one, other = of(table, ["text"], {"size": 5}), of(table[1:], ["text"], {"size": 5})
    >>> (one.values[:, 1] == other.values[:, 0]).all()
    np.True_
    """
    ids = text_of_ids(_one(table["id"]))
    if ids.null_count:
        raise ValueError(f"documents must have an id; got {ids.null_count:,} without one: give each an id")
    names = sorted(set(columns))
    types = [[name, str(table.schema.field(name).type)] for name in names]
    base = hashlib.sha256(json.dumps([made_by, types], sort_keys=True, default=str).encode())
    found = bytearray()
    for batch in table.select(names).to_batches():  # Joining them would copy 124 MB of text.
        first = len(found) // 16
        readers = [_pieces(ids[first : first + len(batch)]), *map(_pieces, batch.columns)]
        for row in range(len(batch)):
            digest = base.copy()
            for reader in readers:
                for piece in reader(row, row + 1):
                    digest.update(piece)
            found += digest.digest()[:16]
    halves = np.frombuffer(found, "<u8").astype(np.uint64).reshape(-1, 2)
    return Digests(ids, np.ascontiguousarray(np.concatenate([keys(ids)[None], halves.T])))


def text_of_ids(ids: pa.Array) -> pa.Array:
    """Return ids as the texts by which the index stores and compares them, large_string[n].

    UUIDs become their usual form with hyphens. Arrow's own cast would return their raw bytes as text.
    """
    if isinstance(ids.type, pa.BaseExtensionType) and ids.type.extension_name == "arrow.uuid":
        return pa.array(
            [None if each is None else str(uuid.UUID(bytes=each)) for each in ids.storage.to_pylist()]
        ).cast(pa.large_string())
    return ids.cast(pa.large_string())


def keys(ids: pa.Array) -> U64:
    """Return a hash of each id, uint64[n].

    Two ids have the same hash with a probability of 2^-64. The only effect would be that one of the two documents is
    segmented again.
    """
    made = (hashlib.blake2b(each.encode(), digest_size=8).digest() for each in ids.to_pylist())
    return np.frombuffer(b"".join(made), "<u8").astype(np.uint64)


def _one(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


def _pieces(array: pa.Array) -> _Pieces:
    """Return a function that yields the bytes to hash for any range of an array's values.

    Values that differ only in type may have the same bytes, so the type must be hashed separately.
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _pieces(array.storage)
    if pa.types.is_dictionary(kind):
        return _pieces(array.dictionary_decode())
    if len(array) and not array.null_count and kind in _PLAIN_TEXT:  # The casts of small batches took 0.02 s.
        own = _bytes(array)
        return lambda begin, end: itertools.chain((b"\1",), own(begin, end))
    valid = np.asarray(array.is_valid(), np.uint8)
    own = _values(array, valid)
    if valid.all():
        return lambda begin, end: itertools.chain((b"\1",), own(begin, end))

    def pieces(begin: int, end: int) -> Iterator[Any]:
        here = valid[begin:end]
        yield b"\1" if here.all() else b"\0" + here.tobytes()
        yield from own(begin, end)

    return pieces


def _values(array: pa.Array, valid: npt.NDArray[np.uint8]) -> _Pieces:
    kind = array.type
    if pa.types.is_boolean(kind):
        return _numbers(np.asarray(array.cast(pa.uint8()).fill_null(0)))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        array = array.cast(pa.large_string()).cast(pa.large_binary())
    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        return _bytes(array.cast(pa.large_binary()).fill_null(b""))
    if pa.types.is_struct(kind):
        fields = [_pieces(each) for each in array.flatten()]
        return lambda begin, end: (piece for each in fields for piece in each(begin, end))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _lists(np.asarray(array.offsets, np.int64), _pieces(array.values))
    if pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_fixed_size_binary(kind):
        width = kind.bit_width // 8
        data = np.frombuffer(array.buffers()[1] or b"", np.uint8)[array.offset * width :][: len(array) * width]
        return _numbers(np.where(valid[:, None], data.reshape(len(array), width), np.uint8(0)))
    if pa.types.is_null(kind):
        return _numbers(np.zeros(len(array), np.uint8))
    return lambda begin, end: iter([_sized(repr(array.slice(begin, end - begin).to_pylist()).encode())])


def _numbers(values: npt.NDArray[Any]) -> _Pieces:
    values = np.ascontiguousarray(values)
    return lambda begin, end: iter([values[begin:end].data])


def _bytes(array: pa.Array) -> _Pieces:
    _, offsets, data = array.buffers()
    width = np.int64 if array.type in _LARGE else np.int32
    borders = np.frombuffer(offsets, width)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    text = memoryview(data if data is not None else b"")
    sizes, places = np.diff(borders).tobytes(), borders.tolist()

    def pieces(begin: int, end: int) -> Iterator[Any]:
        yield sizes[8 * begin : 8 * end]
        yield text[places[begin] : places[end]]

    return pieces


def _lists(borders: npt.NDArray[np.int64], items: _Pieces) -> _Pieces:
    def pieces(begin: int, end: int) -> Iterator[Any]:
        yield np.diff(borders[begin : end + 1]).tobytes()
        yield from items(int(borders[begin]), int(borders[end]))

    return pieces


def _sized(value: bytes) -> bytes:
    return len(value).to_bytes(8, "little") + value
