"""The steps around a transformer, stage by stage, compared with NumPy: batches, tensors, pooling.

Answers are asserted. Run it with ``pytest bench --benchmark-only``.
"""

from itertools import pairwise

import numpy as np
import pytest

from pychunk._engine import native
from pychunk._engine.data.models import Template
from pychunk._engine.data.tokens import Tokens

BERT = Template((101,), (102,), (102,), 0, 256)


@pytest.fixture(scope="module")
def sentences() -> Tokens:
    """Return the token ids of 50,000 sentences of 1 to 120 tokens, most of them short, end to end."""
    random = np.random.default_rng(0)
    lengths = np.clip(random.lognormal(3.1, 0.5, 50_000).astype(int), 1, 120)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Tokens(random.integers(1000, 30_000, offsets[-1]).astype(np.int32), offsets, np.diff(offsets))


def all_batches(sentences, pairs: bool):
    count = len(sentences.counts)
    first = np.arange(count - 1)
    rows = native.pair_rows(sentences, first, first + 1 if pairs else None, BERT)
    lengths = rows.lengths()
    order, borders = native.plan_batches(lengths, budget=2048, least=256)
    filled = 0
    for a, b in pairwise(borders):
        chosen = order[a:b]
        shape = (len(chosen), int(lengths[chosen[0]]))
        ids, mask, types = (np.empty(shape, np.int32) for _ in range(3))
        rows.fill(chosen, shape[1], ids, mask, types)
        filled += int(mask.sum())
    return filled


@pytest.mark.benchmark(group="batches of 50,000 sentences")
@pytest.mark.parametrize("pairs", [False, True])
def test_batches(benchmark, sentences, pairs: bool) -> None:
    tokens = sentences.counts
    expected = tokens[:-1].sum() + (tokens[1:].sum() + 3 * (len(tokens) - 1) if pairs else 2 * (len(tokens) - 1))
    assert benchmark.pedantic(lambda: all_batches(sentences, pairs), rounds=5, warmup_rounds=1) == expected


@pytest.mark.benchmark(group="batches of 50,000 sentences")
def test_batches_by_numpy(benchmark, sentences) -> None:
    """Time what scripts do: sort, then pad lists in batches of 64."""
    ids, offsets, _ = sentences
    tokens = np.diff(offsets)[:-1]

    def run() -> int:
        order = np.argsort(-tokens, kind="stable")
        filled = 0
        for begin in range(0, len(order), 64):
            chosen = order[begin : begin + 64]
            width = int(tokens[chosen[0]]) + 2
            batch, mask = np.zeros((len(chosen), width), np.int32), np.zeros((len(chosen), width), np.int32)
            for row, number in enumerate(chosen):
                own = ids[offsets[number] : offsets[number + 1]]
                batch[row, 0], batch[row, 1 : len(own) + 1], batch[row, len(own) + 1] = 101, own, 102
                mask[row, : len(own) + 2] = 1
            filled += int(mask.sum())
        return filled

    assert benchmark.pedantic(run, rounds=3) == tokens.sum() + 2 * len(tokens)


@pytest.fixture(scope="module")
def states() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    return random.normal(size=(64, 32, 384)).astype(np.float32), random.integers(1, 33, 64)


@pytest.mark.benchmark(group="pool 64 x 32 x 384")
def test_pool(benchmark, states) -> None:
    values, lengths = states
    out = np.zeros((64, 384), np.float32)
    benchmark(lambda: native.pool(values, np.arange(64), lengths, out, pooling="mean", unit=True))
    assert np.allclose(np.linalg.norm(out, axis=1), 1, atol=1e-6)


@pytest.mark.benchmark(group="pool 64 x 32 x 384")
def test_pool_by_numpy(benchmark, states) -> None:
    values, lengths = states
    mask = (np.arange(32) < lengths[:, None]).astype(np.float32)

    def run() -> np.ndarray:
        sums = (values * mask[:, :, None]).sum(axis=1)
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    out = np.zeros((64, 384), np.float32)
    native.pool(values, np.arange(64), lengths, out, pooling="mean", unit=True)
    assert np.allclose(benchmark(run), out, atol=1e-6)
