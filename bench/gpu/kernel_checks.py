"""A bit-for-bit comparison of GPU kernels and NumPy twins with the same order of operations, on fresh random inputs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk._engine import device as _device
from pychunk._engine import native
from pychunk._engine.device import Device
from pychunk._engine.reference.search import thresholds
from pychunk._engine.reference.vectors import total

F32 = npt.NDArray[np.float32]

#: Sizes around a warp, a block, a tile of 256 sentences, and 2048, from which on the whole device shares a document.
SIZES = (0, 1, 2, 7, 8, 9, 31, 32, 33, 255, 256, 257, 511, 513, 2047, 2048, 2049, 5000)
DIMS = (1, 31, 32, 33, 100, 128, 129, 256, 384, 768, 1024)


def dots(rows: F32, other: F32) -> F32:
    """Return the inner product of each row with a vector, or its own row of a matrix, by the engine's tree of sums."""
    products = rows * other
    columns = -(-products.shape[1] // 32) * 32
    padded = np.zeros((len(rows), columns), np.float32)
    padded[:, : products.shape[1]] = products
    lanes = np.zeros((len(rows), 32), np.float32)
    for first in range(0, columns, 32):
        lanes = lanes + padded[:, first : first + 32]
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    return lanes[:, 0]


def unit(vector: F32) -> F32:
    return native.normalized_rows(vector[None])[0][0]


def extractive(rows: F32) -> F32:
    """Return the engine's extractive summary of a document with sentences."""
    to_mean = dots(rows, unit(total(rows)))
    highest = np.full(len(rows), -2.0, np.float32)
    chosen: list[int] = []
    for pick in range(min(5, 1 + len(rows) // 20)):
        score = to_mean if pick == 0 else to_mean - np.float32(0.5) * highest
        score = np.where(np.isin(np.arange(len(rows)), chosen), -np.inf, score)
        chosen.append(int(np.argmax(score)))
        highest = np.maximum(highest, dots(rows, rows[chosen[-1]]))
    summary = np.zeros(rows.shape[1], np.float32)
    for row in chosen:
        summary = summary + rows[row]
    return unit(summary)


def check_pic(device: Device, rng: np.random.Generator, sizes: tuple[int, ...], dim: int, summary: str) -> None:
    rows = rng.normal(size=(sum(sizes), dim)).astype(np.float32) + np.float32(0.4)
    rows[rng.random(len(rows)) < 0.05] = 0
    vectors = native.normalized_rows(rows)[0]
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    found = _device.pic(_device.to_device(vectors, device), offsets, device, summary=summary)
    scores, labels, cuts, counts = (
        _device.to_host(part, device) for part in (found.scores, found.labels, found.cuts, found.cut_counts)
    )
    for d, size in enumerate(sizes):
        own = slice(int(offsets[d]), int(offsets[d + 1]))
        if size == 0:
            assert counts[d] == 0
            continue
        of = extractive(vectors[own]) if summary == "extractive" else unit(total(vectors[own]))
        wanted = dots(vectors[own], of)
        assert np.array_equal(scores[own], wanted), f"scores of {size} sentences, dim {dim}, {summary}"
        relevant = np.array(thresholds.labels(wanted, 0.0), np.int8)
        assert np.array_equal(labels[own], relevant), f"labels of {size} sentences, dim {dim}"
        first = [0, *(np.flatnonzero(np.diff(relevant)) + 1)]
        assert cuts[own.start : own.start + counts[d]].tolist() == first, f"cuts of {size} sentences"


def check_pool(device: Device, rng: np.random.Generator, dim: int, kind: Any) -> None:
    rows, width = int(rng.integers(1, 300)), int(rng.integers(1, 40))
    states = rng.normal(size=(rows, width, dim)).astype(kind)
    lengths = rng.integers(1, width + 1, rows)
    for pooling in ("mean", "cls"):
        wanted = np.zeros((rows, dim), np.float32)
        native.pool(states, np.arange(rows), lengths, wanted, pooling=pooling, unit=True)
        out = _device.to_device(np.full((rows, dim), np.nan, np.float32), device)
        tokens = _device.to_device(lengths.astype(np.int32), device)
        _device.pool(_device.to_device(states, device), tokens, out, device, pooling=pooling, unit=True)
        assert np.array_equal(_device.to_host(out, device), wanted), f"pool {pooling}, {rows} x {width} x {dim} {kind}"


def check_bags(device: Device, rng: np.random.Generator, dim: int) -> None:
    table = rng.integers(-128, 128, (1000, dim)).astype(np.int8)
    offsets = np.cumsum([0, *rng.integers(0, 60, 500), 3000]).astype(np.int64)
    ids = rng.integers(0, 1000, offsets[-1]).astype(np.int32)
    sums = np.stack([table[ids[a:b]].astype(np.int64).sum(axis=0) for a, b in pairwise(offsets)])
    squares = (sums * sums).sum(axis=1).astype(np.float64)
    scale = np.where(squares > 0, 1.0 / np.sqrt(np.maximum(squares, 1.0)), 0.0).astype(np.float32)
    out = _device.to_device(np.full(sums.shape, np.nan, np.float32), device)
    _device.embedding_bags(*(_device.to_device(each, device) for each in (table, ids, offsets)), out, device)
    assert np.array_equal(_device.to_host(out, device), sums.astype(np.float32) * scale[:, None]), f"bags of dim {dim}"


def check_adjacent(device: Device, rng: np.random.Generator, dim: int) -> None:
    vectors = native.normalized_rows(rng.normal(size=(int(rng.integers(2, 3000)), dim)).astype(np.float32))[0]
    found = _device.to_host(_device.adjacent_cosines(_device.to_device(vectors, device), device), device)
    assert np.array_equal(found, dots(vectors[:-1], vectors[1:])), f"adjacent cosines of dim {dim}"


def checks(device: Device, seed: int, *, small: bool = False) -> Iterator[str]:
    """Run all checks and print each; ``small`` is for the sanitizers and the emulator, which are slow."""
    rng = np.random.default_rng(seed)
    dims = DIMS[1:7] if small else DIMS
    sizes = tuple(size for size in SIZES if not small or size < 600)
    for summary in ("extractive", "mean"):
        for dim in dims if not small else (33, 64):
            check_pic(device, rng, tuple(rng.permutation(sizes).tolist()), dim, summary)
        yield f"pic, {summary}: documents of {min(sizes)} to {max(sizes)} sentences"
    if not small:
        check_pic(device, rng, (100_000, 3, 20_000), 384, "extractive")
        check_pic(device, rng, tuple(rng.integers(1, 80, 20_000).tolist()), 64, "mean")
        yield "pic: documents of 100,000 and 20,000 sentences; 20,000 documents"
    for dim in dims:
        for kind in (np.float16, np.float32):
            check_pool(device, rng, dim, kind)
        check_bags(device, rng, dim)
        check_adjacent(device, rng, dim)
    yield f"pool, bags, adjacent: dimensions {', '.join(map(str, dims))}"
