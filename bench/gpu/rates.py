"""Rates of GPU kernels and encoders, compared with the memory's and the matrix units' own rates in the same run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pychunk._engine import device as _device
from pychunk._engine.device import Device

GIGA = 1e9


class Rate(NamedTuple):
    """A line of the table: the name, the amount a second, and its share of the ceiling that it is compared with."""

    name: str
    value: float
    unit: str
    share: float | None = None


class Clock:
    """A clock that times work on a device by the device's events, as the median of several runs after a warm-up."""

    def __init__(self, torch: Any, device: Device, repeats: int = 15) -> None:
        self.torch, self.device, self.repeats = torch, device, repeats

    def seconds(self, work: Callable[[], Any]) -> float:
        for _ in range(3):
            work()
        times = []
        for _ in range(self.repeats):
            begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            work()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) / 1000)
        return float(np.median(times))


def ceilings(clock: Clock) -> tuple[float, float, list[Rate]]:
    """Return the bytes a second that a copy reads and writes, and the operations a second of a float16 product."""
    torch = clock.torch
    source = torch.randint(0, 255, (1 << 30,), dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    copy = 2 * source.numel() / clock.seconds(partial(target.copy_, source))
    del source, target
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.float16) for _ in range(2))
    product = 2 * 8192**3 / clock.seconds(lambda: a @ b)
    return (
        copy,
        product,
        [Rate("copy, device to device", copy / GIGA, "GB/s"), Rate("product, 8192, fp16", product / 1e12, "TFLOP/s")],
    )


def kernel_rates(clock: Clock, copy: float, rows: int = 1_000_000, dim: int = 384) -> Iterator[Rate]:
    """Yield the bytes of its floor that each kernel processes a second, as a share of the copy's rate."""
    torch, device = clock.torch, clock.device
    vectors = torch.nn.functional.normalize(torch.randn(rows, dim, device="cuda") + 0.3)
    given = _device.view(vectors, device)
    sizes = np.random.default_rng(0).integers(5, 96, rows)
    cumulated = np.cumsum(sizes)
    offsets = np.concatenate([[0], cumulated[cumulated < rows], [rows]]).astype(np.int64)
    documents = len(offsets) - 1
    summaries = _device.view(torch.nn.functional.normalize(torch.randn(documents, dim, device="cuda")), device)
    floor = 4 * rows * dim + 13 * rows

    def rate(name: str, size: int, work: Callable[[], Any]) -> Rate:
        seconds = clock.seconds(work)
        return Rate(name, size / seconds / GIGA, "GB/s", size / seconds / copy)

    yield rate("adjacent cosines", 4 * rows * dim + 4 * rows, partial(_device.adjacent_cosines, given, device))
    for summary in ("given", "mean", "extractive"):
        own = summaries if summary == "given" else None
        yield rate(
            f"pic, {summary} summary",
            floor,
            partial(_device.pic, given, offsets, device, summary=summary, given=own),
        )
    yield from loop_ratio(clock, vectors, offsets)
    del vectors, given, summaries

    tokens_each, sentences = 25, 65_536
    states = torch.randn(sentences, tokens_each, dim, device="cuda", dtype=torch.float16)
    tokens = torch.full((sentences,), tokens_each, dtype=torch.int32, device="cuda")
    out = _device.empty((sentences, dim), np.float32, device)
    state_view, token_view = _device.view(states, device), _device.view(tokens, device)
    size = states.numel() * 2 + sentences * dim * 4
    yield rate(
        "pooling, fp16",
        size,
        lambda: _device.pool(state_view, token_view, out, device, pooling="mean", unit=True),
    )
    address = torch.arange(sentences, device="cuda", dtype=torch.int64) * (tokens_each * dim * 2) + states.data_ptr()
    addresses = _device.foreign(address, address.data_ptr(), (sentences,), np.uint64, device)
    few = np.append(offsets[offsets < sentences], sentences).astype(np.int64)
    yield rate(
        "pic from hidden states, fp16, mean",
        size + 13 * sentences,
        lambda: _device.pic(out, few, device, summary="mean", states=(addresses, token_view)),
    )
    del states

    table = _device.to_device(np.random.default_rng(1).integers(-128, 128, (30_522, 256)).astype(np.int8), device)
    ids = torch.randint(0, 30_522, (sentences * 16 * tokens_each,), dtype=torch.int32, device="cuda")
    id_offsets = torch.arange(0, sentences * 16 + 1, device="cuda") * tokens_each
    bag_out = _device.empty((sentences * 16, 256), np.float32, device)
    size = ids.numel() * 4 + sentences * 16 * 256 * 4
    yield rate(
        "embedding bag, int8 table in cache",
        size,
        lambda: _device.embedding_bags(
            table, _device.view(ids, device), _device.view(id_offsets, device), bag_out, device
        ),
    )


def loop_ratio(clock: Clock, vectors: Any, offsets: Any, documents: int = 2000) -> Iterator[Rate]:
    """Yield how many times as long as one launch PIC with the mean as summary takes in eager torch, by document."""
    torch, device = clock.torch, clock.device
    borders = offsets[: documents + 1]
    part = vectors[: int(borders[-1])]

    def loop() -> list[Any]:
        found = []
        for begin, end in pairwise(borders):
            own = part[begin:end]
            scores = own @ torch.nn.functional.normalize(own.sum(dim=0), dim=0)
            labels = scores >= scores.mean()
            found.append(torch.nonzero(labels[1:] != labels[:-1]))
        return found

    slow = clock.seconds(loop)
    view = _device.view(part.contiguous(), device)
    fast = clock.seconds(lambda: _device.pic(view, borders, device, summary="mean"))
    yield Rate(f"pic, {documents:,} documents: torch's loop over one launch", slow / fast, "times")


def encoder_rates(clock: Clock, product: float, model: str, rows: int = 2621, width: int = 25) -> Iterator[Rate]:
    """Yield the sentences of 25 tokens a second in one exact-length batch."""
    from pychunk.encoders import registry
    from pychunk.encoders.runtime.bert_torch import BertTorch

    torch = clock.torch
    path = registry.vector_encoder(model).path / "model.onnx"
    ids = torch.randint(1000, 20_000, (rows, width), dtype=torch.int32, device="cuda")
    bert = BertTorch(path, "cuda", "fp16")
    seconds = clock.seconds(lambda: bert.forward(ids))
    layers, dim = len(bert._layers), bert.dim
    operations = rows * width * layers * (24 * dim * dim + 4 * width * dim)
    yield Rate("encoder in torch, fp16", rows / seconds, "sentences/s", operations / seconds / product)
