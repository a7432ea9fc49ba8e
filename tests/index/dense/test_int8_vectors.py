"""Vectors in the forms in which an index stores them."""

from __future__ import annotations

import numpy as np
import pytest

from pychunk._engine import native
from pychunk.index.dense import int8_vectors


def rows(seed: int) -> np.ndarray:
    return native.normalized_rows(np.random.default_rng(seed).normal(size=(40, 24)).astype(np.float32))[0]


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32"])
def test_added_rows_are_added_before_vectors_are_stored(dtype: str) -> None:
    vectors, added = rows(0), (np.arange(40) % 3, rows(1)[:3] * np.float32(0.3))
    added[1][1] = 0
    vectors[5] = 0
    found = int8_vectors.stored(vectors, dtype, added)
    np.testing.assert_array_equal(found, int8_vectors.stored(native.unit_sums(vectors, added), dtype))
    same = (np.arange(40) % 3 == 1) | (np.arange(40) == 5)
    np.testing.assert_array_equal(found[same], int8_vectors.stored(vectors, dtype)[same])
    assert (found[~same] != int8_vectors.stored(vectors, dtype)[~same]).any(axis=1).all()


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32"])
def test_stored_vectors_are_stored_as_they_are(dtype: str) -> None:
    found = int8_vectors.stored(rows(2), dtype)
    np.testing.assert_array_equal(int8_vectors.stored(found, dtype), found)
    assert found.shape[1] == int8_vectors.width(24, dtype)
    assert np.abs(int8_vectors.unpacked(found) - rows(2)).max() < 1 / 254
