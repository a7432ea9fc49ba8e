"""The conversion of blocks and removed spans to columns of an Arrow table, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine.data.blocks import BLOCK_KINDS, Blocks
from .._engine.data.ragged import offsets_of
from .._util.counting import counted

if TYPE_CHECKING:
    import numpy.typing as npt

#: The type of the column ``blocks``, whose rows are the blocks of one document each. Values that the document's format
#: does not have are null.
BLOCKS_TYPE = pa.list_(
    pa.struct(
        [
            ("kind", pa.string()),
            ("level", pa.int16()),
            ("start", pa.int64()),
            ("end", pa.int64()),
            ("source_start", pa.int64()),
            ("source_end", pa.int64()),
            ("page", pa.int32()),
            ("box", pa.list_(pa.float32(), 4)),
            ("markup", pa.bool_()),
        ]
    )
)
#: The type of the column ``removed``, whose rows are the removed spans of one document each, in characters.
#: ``score``, from 0 to 1, is the parser's certainty.
REMOVED_TYPE = pa.list_(
    pa.struct([("start", pa.int64()), ("end", pa.int64()), ("reason", pa.string()), ("score", pa.float32())])
)
#: The metadata of a table whose texts are plain prose. Blocks add little to such texts, so only the method
#: ``structure`` uses them, unless the caller names the column of blocks.
PROSE = {b"pychunk.blocks": b"prose"}
_REMOVED_FIELDS = [field.name for field in REMOVED_TYPE.value_type]
_NAMES = pa.array(BLOCK_KINDS)


def blocks_to_arrow(blocks: Blocks) -> pa.Array:
    """Return one row for each document, of type :data:`BLOCKS_TYPE`.

    A value that is unknown in ``blocks`` becomes null: an attribute that is None, a source span below 0, a page below
    1, or a box that is NaN.

    Example:
        >>> column = blocks_to_arrow(Blocks.of([[("heading", 1, 0, 7), ("paragraph", 0, 9, 14)], []]))
        >>> len(column), column[0][1]["kind"].as_py(), column[0][1]["start"].as_py(), column[0][1]["page"].as_py()
        (2, 'paragraph', 9, None)
    """
    offsets = blocks.offsets - blocks.offsets[0]
    own = slice(int(blocks.offsets[0]), int(blocks.offsets[-1]))

    def known(values: npt.NDArray[Any] | None, least: int, kind: pa.DataType) -> pa.Array:
        if values is None:
            return pa.nulls(int(offsets[-1]), kind)
        part = values[own]
        return pa.array(part, kind, mask=part < least)

    fields = {
        "kind": pa.DictionaryArray.from_arrays(pa.array(blocks.kind[own]), _NAMES).cast(pa.string()),
        "level": pa.array(blocks.level[own]),
        "start": pa.array(blocks.start[own]),
        "end": pa.array(blocks.end[own]),
        "source_start": known(blocks.source_start, 0, pa.int64()),
        "source_end": known(blocks.source_end, 0, pa.int64()),
        "page": known(blocks.page, 1, pa.int32()),
        "box": _boxes(None if blocks.box is None else blocks.box[own], int(offsets[-1])),
        "markup": pa.nulls(int(offsets[-1]), pa.bool_()) if blocks.markup is None else pa.array(blocks.markup[own]),
    }
    rows = pa.StructArray.from_arrays(list(fields.values()), fields=list(BLOCKS_TYPE.value_type))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), rows, type=BLOCKS_TYPE)


def packed(rows: Sequence[tuple[str, int, int, int]]) -> npt.NDArray[np.int64]:
    """Return int64[b, 4]: (kind, level, start, end) of the blocks of one document.

    Kinds are positions in ``BLOCK_KINDS``. In this form, blocks take little memory until :func:`packed_to_arrow` makes
    one column of many documents. Making a column for each document would take 100 microseconds, half as long as
    cleaning an article.
    """
    values = [(BLOCK_KINDS.index(kind), level, start, end) for kind, level, start, end in rows]
    return np.array(values, np.int64).reshape(-1, 4)


def packed_to_arrow(documents: Sequence[npt.NDArray[np.int64] | None]) -> pa.Array:
    """Return one row for each document, of type :data:`BLOCKS_TYPE`, from results of :func:`packed`; None becomes null.

    Example:
        >>> packed_to_arrow([packed([("heading", 2, 0, 4)]), None])[0][0]["kind"].as_py()
        'heading'
    """
    known = [np.empty((0, 4), np.int64) if each is None else each for each in documents]
    offsets = offsets_of([len(each) for each in known])
    kind, level, start, end = np.concatenate([np.empty((0, 4), np.int64), *known]).T
    blocks = Blocks(offsets, kind.astype(np.int8), level.astype(np.int16), start.copy(), end.copy())
    found = blocks_to_arrow(blocks)
    if all(each is not None for each in documents):
        return found
    import pyarrow.compute as pc

    return pc.if_else(pa.array([each is not None for each in documents]), found, pa.scalar(None, BLOCKS_TYPE))


def blocks_from_arrow(array: pa.Array | pa.ChunkedArray) -> Blocks:
    """Return the blocks of a column's rows; a null row has no blocks.

    The function takes columns of :data:`BLOCKS_TYPE` and similar ones: chunked or sliced, large lists, kinds in a
    dictionary, integers of other widths, fields in another order. Optional fields may be missing. If only some blocks
    have a source span, page or box, the other blocks get -1, 0 or NaN instead.

    Raises:
        TypeError: The column does not hold lists of blocks.
        ValueError: A kind is unknown, or a block lacks its kind, start or end.

    Example:
        >>> blocks = Blocks.of([[("heading", 1, 0, 7)], [("table", 0, 2, 30)]])
        >>> blocks_from_arrow(blocks_to_arrow(blocks)[1:]).end.tolist()
        [30]
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)) or not (
        pa.types.is_struct(array.type.value_type) or not len(array.flatten())
    ):
        raise TypeError(
            f"blocks must be a column of lists of structs with kind, level, start and end; got {array.type}"
        )
    counts = array.value_lengths().fill_null(0)
    rows = array.flatten()
    if not len(rows):
        none = np.empty(0, np.int64)
        return Blocks(offsets_of(counts), none.astype(np.int8), none.astype(np.int16), none, none)
    if rows.null_count:
        lost = int(np.searchsorted(np.cumsum(counts), rows.is_null().index(True).as_py(), "right"))
        raise ValueError(f"a block must not be null, but document {lost} has one that is: leave it out")
    names = {field.name for field in rows.type}
    if missing := {"kind", "start", "end"} - names:
        raise TypeError(f"blocks must have the fields kind, start and end; missing: {', '.join(sorted(missing))}")

    def field(name: str, kind: pa.DataType, least: float | None = None) -> npt.NDArray[Any] | None:
        found = rows.field(name) if name in names else None
        if found is None or found.null_count == len(found):
            return None
        if found.null_count and least is not None:
            found = found.fill_null(least)
        return np.asarray(found.cast(kind))

    def needed(name: str) -> npt.NDArray[Any]:
        if rows.field(name).null_count:
            place = rows.field(name).is_null().index(True).as_py()
            document = int(np.searchsorted(np.cumsum(counts), place, "right"))
            raise ValueError(
                f"each block must have `{name}`; it is null in document {document}, in {rows[place].as_py()!s:.200}"
            )
        found = field(name, pa.int64())
        assert found is not None
        return found

    level = field("level", pa.int16(), 0)
    return Blocks(
        offsets_of(counts),
        _kinds(rows.field("kind")),
        np.zeros(len(rows), np.int16) if level is None else level,
        needed("start"),
        needed("end"),
        field("source_start", pa.int64(), -1),
        field("source_end", pa.int64(), -1),
        field("page", pa.int32(), 0),
        _matrix(rows.field("box")) if "box" in names else None,
        None if (markup := field("markup", pa.uint8(), False)) is None else markup.astype(np.bool_),
    )


def removed_to_arrow(documents: Sequence[Sequence[tuple[int, int, str, float]]]) -> pa.Array:
    """Return one row for each document, of type :data:`REMOVED_TYPE`, from (start, end, reason, score) of each span.

    Example:
        >>> removed_to_arrow([[(0, 4, "running_head", 1.0)], []])[0][0]["reason"].as_py()
        'running_head'
    """
    rows = [[dict(zip(_REMOVED_FIELDS, span, strict=True)) for span in spans] for spans in documents]
    return pa.array(rows, REMOVED_TYPE)


def _kinds(names: pa.Array) -> npt.NDArray[np.int8]:
    import pyarrow.compute as pc

    if pa.types.is_dictionary(names.type):
        names = names.dictionary_decode()
    found = pc.index_in(names.cast(pa.string()), value_set=_NAMES)
    if found.null_count:
        unknown = names.filter(found.is_null())[0].as_py()
        raise ValueError(
            f"unknown kind of block {unknown!r:.80}; the kinds are {', '.join(BLOCK_KINDS)}: choose one of them"
        )
    return np.asarray(found).astype(np.int8)


def _boxes(box: npt.NDArray[np.float32] | None, count: int) -> pa.Array:
    kind = BLOCKS_TYPE.value_type.field("box").type
    if box is None:
        return pa.nulls(count, kind)
    values = pa.array(np.ascontiguousarray(box, np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=pa.array(np.isnan(box).any(axis=1)))


def _matrix(boxes: pa.Array) -> npt.NDArray[np.float32] | None:
    if boxes.null_count == len(boxes):
        return None
    out = np.full((len(boxes), 4), np.nan, np.float32)
    given = np.flatnonzero(np.asarray(boxes.is_valid()))
    values = boxes.drop_null().flatten().to_numpy(zero_copy_only=False)
    if len(values) != 4 * len(given):
        raise ValueError(
            "the box of a block must be four numbers: left, top, right and bottom; got "
            f"{counted(len(values), 'number')} for {counted(len(given), 'box', 'boxes')}"
        )
    out[given] = values.reshape(-1, 4)
    return out
