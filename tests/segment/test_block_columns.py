"""Blocks as a column of an Arrow table, and back."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk._engine.data.blocks import BLOCK_KINDS, Blocks
from pychunk.parsing.block_columns import (
    BLOCKS_TYPE,
    REMOVED_TYPE,
    blocks_from_arrow,
    blocks_to_arrow,
    removed_to_arrow,
)

ROW = st.tuples(st.sampled_from(BLOCK_KINDS), st.integers(0, 6), st.integers(0, 2**40), st.integers(0, 2**40))
DOCUMENTS = st.lists(st.lists(ROW, max_size=5), max_size=5)


def whole(blocks: Blocks, paged: bool) -> Blocks:
    """Return blocks with source spans, pages and boxes, some of them missing."""
    b = len(blocks.kind)
    some = np.arange(b)
    box = np.stack([some, some + 1, some + 2, some + 3], axis=1).astype(np.float32)
    box[some % 3 == 2] = np.nan
    source = np.where(some % 3 == 1, -1, blocks.start)
    parts = (blocks.offsets, blocks.kind, blocks.level, blocks.start, blocks.end)
    places = ((some % 4).astype(np.int32), box) if paged else (None, None)
    return Blocks(*parts, source, source, *places, markup=some % 2 == 0)


#: The placeholders for unknown values; a column of only these comes back as None.
UNKNOWN = {"source_start": -1, "source_end": -1, "page": 0, "box": np.nan, "markup": []}


def equal(a: Blocks, b: Blocks) -> bool:
    for name in Blocks.__dataclass_fields__:
        one, other = getattr(a, name), getattr(b, name)
        if one is not None and name in UNKNOWN and np.isin(one, UNKNOWN[name]).all() | np.isnan(one).all():
            one = None
        if one is None or other is None:
            if one is not other:
                return False
        elif one.dtype != other.dtype or not np.array_equal(one, other, equal_nan=name == "box"):
            return False
    return True


@pytest.mark.slow
@given(DOCUMENTS, st.booleans(), st.booleans())
def test_blocks_come_back(documents: list, known: bool, paged: bool) -> None:
    blocks = Blocks.of(documents)
    if known:
        blocks = whole(blocks, paged)
    column = blocks_to_arrow(blocks)
    column.validate(full=True)
    assert column.type == BLOCKS_TYPE
    assert [[row["kind"] for row in rows] for rows in column.to_pylist()] == [[r[0] for r in d] for d in documents]
    assert equal(blocks, blocks_from_arrow(column))
    chunked = pa.chunked_array([column[:1], column[1:]], BLOCKS_TYPE)
    assert equal(blocks, blocks_from_arrow(chunked))


@pytest.mark.slow
@given(DOCUMENTS, st.data())
def test_slices(documents: list, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(documents)))
    end = data.draw(st.integers(begin, len(documents)))
    whole_blocks, wanted = Blocks.of(documents), Blocks.of(documents[begin:end])
    assert equal(wanted, blocks_from_arrow(blocks_to_arrow(whole_blocks)[begin:end]))
    part = Blocks(
        whole_blocks.offsets[begin : end + 1], *(getattr(whole_blocks, n) for n in ("kind", "level", "start", "end"))
    )
    assert blocks_to_arrow(part).to_pylist() == blocks_to_arrow(wanted).to_pylist()


def test_columns_of_others() -> None:
    kind = pa.large_list(
        pa.struct([("end", pa.int32()), ("start", pa.int32()), ("kind", pa.dictionary(pa.int8(), pa.string()))])
    )
    column = pa.array([[{"kind": "table", "start": 1, "end": 9}], None, [{"kind": "code", "start": 0, "end": 2}]], kind)
    found = blocks_from_arrow(column)
    assert (found.offsets.tolist(), found.level.tolist(), found.end.tolist()) == ([0, 1, 1, 2], [0, 0], [9, 2])
    assert [BLOCK_KINDS[kind] for kind in found.kind] == ["table", "code"]
    assert blocks_from_arrow(pa.array([[], None])).offsets.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        ([[{"kind": "stanza", "start": 0, "end": 1}]], ValueError, "'stanza'"),
        ([[{"kind": None, "start": 0, "end": 1}]], ValueError, "None"),
        (
            [[], [{"kind": "code", "start": 0, "end": 1}, {"kind": "table", "start": None, "end": 1}], []],
            ValueError,
            "`start`; it is null in document 1, in .*'table'",
        ),
        ([[{"kind": "code", "start": 0}]], TypeError, "end"),
        ([[None, {"kind": "code", "start": 0, "end": 1}]], ValueError, "null"),
        ([[1, 2]], TypeError, "lists of structs"),
        (["a"], TypeError, "lists of structs"),
        ([[{"kind": "code", "start": 0, "end": 1, "box": [1.0, 2.0]}]], ValueError, "box"),
    ],
)
def test_what_is_no_column_of_blocks(values: list, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        blocks_from_arrow(pa.array(values))


def test_what_is_left_out_is_a_column() -> None:
    column = removed_to_arrow([[(0, 4, "running_head", 1.0), (9, 12, "page_number", 0.5)], []])
    assert column.type == REMOVED_TYPE
    assert column.to_pylist()[0][1] == {"start": 9, "end": 12, "reason": "page_number", "score": 0.5}
    assert column.to_pylist()[1] == []
