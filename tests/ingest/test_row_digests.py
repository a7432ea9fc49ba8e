"""The digest of a document depends on all of its values, and on nothing else."""

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pychunk._engine import native
from pychunk._engine.reference import hashing
from pychunk.ingest.row_digests import digests_of

COLUMNS: dict[str, tuple[Any, Any]] = {
    "text": (["One.", "Two.", ""], "Two!"),
    "null text": (["One.", None, ""], ""),
    "number": ([1, 2, 3], 4),
    "null number": ([1, None, 3], 0),
    "flag": ([True, False, None], True),
    "decimal": ([Decimal("1.5"), Decimal("2.5"), None], Decimal("2.6")),
    "list": ([[1], [2, 3], []], [2, 4]),
    "texts": ([["a", "b"], ["ab", ""], None], ["a", "b"]),
    "structs": ([[{"s": 1, "r": "a"}], [{"s": 2, "r": None}], []], [{"s": 2, "r": ""}]),
    "map": (pa.array([[("a", 1)], [("b", 2)], []], pa.map_(pa.string(), pa.int64())), [("b", 3)]),
}


def documents(**columns: Any) -> pa.Table:
    return pa.table({"id": ["a", "b", "c"], "text": ["One.", "Two.", "Three."], **columns})


def test_the_hashes_of_rows_are_those_of_the_reference() -> None:
    rows = [b"", b"a", b"0123456789abcdef", "Zürich".encode() * 99] * 600
    bounds = np.cumsum([2, *map(len, rows)])
    states = np.arange(2 * len(rows), dtype=np.uint64).reshape(-1, 2) * 0x123456789ABCDEF
    data = np.frombuffer(b"??" + b"".join(rows), np.uint8)
    expected = hashing.extend_row_hashes(rows[:9], [tuple(each) for each in states[:9].tolist()])
    found = native.extend_row_hashes(data, bounds, states)
    assert found[:9].tolist() == [list(each) for each in expected]
    assert (found[4:] == native.extend_row_hashes(data, bounds[4:], states[4:])).all()
    with pytest.raises(ValueError, match="bounds"):
        native.extend_row_hashes(data[:-1], bounds, states)
    with pytest.raises(ValueError, match="states"):
        native.extend_row_hashes(data, bounds, states[1:])


@pytest.mark.parametrize("name", COLUMNS)
def test_a_digest_depends_on_every_value_of_its_row_and_on_no_other_row(name: str) -> None:
    values, other = COLUMNS[name]
    column = pa.array(values)
    changed = pa.array([other if row == 1 else value for row, value in enumerate(column.to_pylist())], column.type)
    first = digests_of(documents(more=column)).values
    assert (first == digests_of(documents(more=changed)).values).all(1).tolist() == [True, False, True]
    for begin in range(3):
        assert (digests_of(documents(more=column).slice(begin)).values == first[begin:]).all()
    assert (
        digests_of(pa.concat_tables([documents(more=column)[:1], documents(more=column)[1:]])).values == first
    ).all()


def test_a_digest_depends_on_the_names_and_types_of_columns_and_on_the_reader() -> None:
    table = documents(year=[1, 2, 3])
    first = digests_of(table)
    others = [
        table.rename_columns(["id", "text", "month"]),
        table.set_column(2, "year", pa.array([1, 2, 3], pa.int32())),
        table.replace_schema_metadata({"reader": "other"}),
        table.set_column(0, "id", pa.array(["a", "b", "x"])),
    ]
    assert [(digests_of(each).values != first.values).any(1).all() for each in others] == [True, True, True, False]
    assert (digests_of(others[3]).keys == first.keys).all(1).tolist() == [True, True, False]
