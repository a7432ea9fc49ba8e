"""Arrow arrays made of buffers equal those that Arrow makes of lists and of NumPy's arrays."""

import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk._engine import arrow


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-128, 127), st.booleans()), max_size=40), st.sampled_from(["i1", "i8", "f4", "f8"])
)
def test_nulls_are_where_the_mask_says(rows: list[tuple[int, bool]], dtype: str) -> None:
    values = np.array([value for value, _ in rows], dtype)
    missing = np.array([is_missing for _, is_missing in rows], np.bool_)
    found, expected = arrow.masked(values, missing), pa.array(values, mask=missing)
    found.validate(full=True)
    assert found.type == expected.type
    assert found.null_count == expected.null_count
    assert found.equals(expected)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=10))
def test_few_strings_are_an_array(values: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "pandas", raising=False)
        for kind in (pa.string(), pa.large_string()):
            found = arrow.few_strings(values, kind)
            assert found is not None
            found.validate(full=True)
            assert found.equals(pa.array(values, kind))
        assert arrow.few_strings(["a"] * 5000, pa.string()) is None
        with pytest.raises(UnicodeEncodeError):
            arrow.few_strings(["\ud800"], pa.string())
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pandas", pa)
        assert (arrow.few_strings(values, pa.string()) is None) == (len(values) > 8)


def test_missing_strings_are_null() -> None:
    text, offsets = arrow.flat_texts(["a", "", "bc", ""])
    found = arrow.strings(text, offsets, offsets[1:] == offsets[:-1])
    found.validate(full=True)
    assert found.equals(pa.array(["a", None, "bc", None], pa.large_string()))
    assert arrow.strings(text, offsets, np.zeros(4, bool)).null_count == 0
