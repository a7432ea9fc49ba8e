"""Rows of tables as JSON equal those that Python's modules write."""

import datetime
import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("msgspec")

from pychunk._engine import native
from pychunk.service.segmentation import rows_json

TYPES = [
    (pa.string(), st.text()),
    (pa.large_string(), st.text()),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["a", 'b"', "\\c\n"])),
    (pa.int8(), st.integers(-128, 127)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.float64(), st.floats()),
    (pa.float32(), st.floats(width=32)),
    (pa.bool_(), st.booleans()),
    (pa.null(), st.none()),
]
NESTED = [
    lambda kind, values: (pa.list_(kind), st.lists(values, max_size=3)),
    lambda kind, values: (pa.large_list(kind), st.lists(values, max_size=3)),
    lambda kind, values: (pa.list_(kind, 2), st.lists(values, min_size=2, max_size=2)),
    lambda kind, values: (
        pa.struct({"x": kind, "y\n": pa.int32()}),
        st.fixed_dictionaries({"x": values, "y\n": st.integers(-9, 9)}),
    ),
]


def plain(value):
    """Return a value as it comes back from JSON: NaN and infinity as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [plain(each) for each in value]
    return {name: plain(each) for name, each in value.items()} if isinstance(value, dict) else value


def read(text, kind):
    """Return a value read from JSON, with floats of 32 bits as those that its digits stand for."""
    if pa.types.is_float32(kind):
        return None if text is None else float(np.float32(text))
    if isinstance(text, list):
        return [read(each, kind.value_type) for each in text]
    return {field.name: read(text[field.name], field.type) for field in kind} if isinstance(text, dict) else text


@given(st.data())
def test_rows_equal_those_of_python(data):
    kind, values = data.draw(st.sampled_from(TYPES))
    for nest in data.draw(st.lists(st.sampled_from(NESTED), max_size=2)):
        kind, values = nest(kind, values | st.none())
    rows = data.draw(st.lists(values | st.none(), max_size=8))
    first, name = data.draw(st.integers(0, len(rows))), data.draw(st.text())
    table = pa.table({name: pa.array(rows, kind), name + "2": pa.array(range(len(rows)), pa.int16())}).slice(first)
    inner = data.draw(st.lists(st.integers(0, table.num_rows), max_size=3))
    borders = np.array([0, *sorted(inner), table.num_rows], np.int64)
    batch = pa.RecordBatch.from_arrays(
        [pa.concat_arrays(each.chunks) if each.num_chunks else pa.array([], each.type) for each in table.columns],
        table.column_names,
    )
    for found in (native.json_rows(batch, borders), rows_json(table, borders)):
        wanted = [plain(table.slice(begin, end - begin).to_pylist()) for begin, end in zip(borders, borders[1:])]
        given = [
            [{key: read(value, table.field(key).type) for key, value in row.items()} for row in json.loads(each)]
            for each in found
        ]
        assert given == wanted


def test_whole_floats_stay_floats():
    (found,) = rows_json(pa.table({"a": [1.0, 1e30, -0.0]}), np.array([0, 3]))
    assert found == b'[{"a":1.0},{"a":1e+30},{"a":-0.0}]'


def test_values_that_json_has_not_become_text():
    table = pa.table({"day": [datetime.date(2020, 1, 2)], "bytes": [b"\x00\xff"], "n": [float("nan")]})
    assert rows_json(table, np.array([0, 1])) == [b'[{"day":"2020-01-02","bytes":"AP8=","n":null}]']
    with pytest.raises(ValueError, match="column 'day' has values that JSON has not: convert it to text"):
        native.json_rows(table.to_batches()[0], np.array([0, 1]))


def test_borders_are_checked():
    batch = pa.table({"a": [1, 2]}).to_batches()[0]
    for wrong in ([0, 3], [-1, 2], [2, 1]):
        with pytest.raises(ValueError, match="borders must rise from 0 to at most 2"):
            native.json_rows(batch, np.array(wrong))


@given(st.lists(st.binary(max_size=5)))
def test_bytes_are_joined(parts):
    assert native.joined(parts) == b"".join(parts)
    with pytest.raises(TypeError):
        native.joined([*parts, "text"])
