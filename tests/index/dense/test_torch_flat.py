"""Exact search by torch, compared with a sort of all inner products."""

import numpy as np
import pytest

pytest.importorskip("torch")

from pychunk.index.dense import torch_flat


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("rows", [1, 7])
def test_the_best_rows_over_all_blocks(monkeypatch: pytest.MonkeyPatch, dtype: type, rows: int) -> None:
    monkeypatch.setattr(torch_flat, "_ROWS", rows)
    monkeypatch.setattr(torch_flat, "_PRODUCTS", 3 * rows)
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(n, 16)).astype(dtype) for n in (5, 0, 11, 1)]
    queries = rng.normal(size=(8, 16)).astype(np.float32)
    scores, found = torch_flat.TorchFlat(blocks, "cpu").search(queries, 6)
    products = queries @ np.concatenate(blocks).astype(np.float32).T
    np.testing.assert_array_equal(found, np.argsort(-products, axis=1)[:, :6])
    np.testing.assert_allclose(scores, -np.sort(-products, axis=1)[:, :6], atol=1e-5)
