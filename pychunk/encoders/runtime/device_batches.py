"""Running a transformer over rows of tokens on a GPU.

The inputs of all batches are copied to the GPU at once. Then the batches are launched one after the other, without
waiting for results.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._engine import device as _device
from ..._engine import native
from ..._engine.device import Device, OutOfDeviceMemory
from .device_sessions import DeviceSession
from .sessions import IDS, MASK, TYPES, Input

if TYPE_CHECKING:
    from ..._core import ModelRows
    from ..._cuda import Array

I64 = npt.NDArray[np.int64]

#: The most tokens in a batch. Their float16 states of 384 dimensions take 50 MB, the size of an H100's L2 cache.
BATCH_TOKENS = 65_536
#: A batch with fewer tokens than this also takes rows of other lengths, because so few tokens leave most of a GPU idle.
LEAST_TOKENS = 8_192
#: The number of streams that batches alternate between, so that the end of one batch's kernel overlaps the beginning of
#: the next batch's.
STREAMS = 2

#: A function that takes the output of a batch, the slice of the batch in the sorted order of rows, the numbers and the
#: lengths of the batch's rows (both on the device), and the device with the stream to work in.
DeviceSink = Callable[["Array", slice, "Array", "Array", Device], None]


class Streams:
    """Additional streams on a device.

    Their work starts after the earlier work in the device's own stream. Later work there waits until theirs has ended.
    """

    def __init__(self, device: Device, count: int = STREAMS) -> None:
        self.device = device
        self._streams = [_device.new_stream(device) for _ in range(count)]
        self.devices = [device.with_stream(each.pointer) for each in self._streams]

    def begin(self) -> None:
        """Make all additional streams wait for the work that is in the device's own stream."""
        for lane in self.devices:
            _device.order(self.device, lane)

    def end(self) -> None:
        """Make the device's own stream wait for the work that is in the additional streams."""
        for lane in self.devices:
            _device.order(lane, self.device)


def run_device_batches(
    session: DeviceSession,
    rows: ModelRows,
    sink: DeviceSink,
    lanes: Streams,
    *,
    pairs: bool,
    threads: int,
    destinations: I64 | None = None,
    batch_tokens: int = BATCH_TOKENS,
    report: Callable[[int, int], None] | None = None,
) -> I64:
    """Call ``sink`` with the output of every batch, and return the sorted order of the rows, int64[rows].

    Later work in ``lanes.device.stream`` runs after all batches. A batch that does not fit into the device's memory is
    halved repeatedly. The sink receives ``destinations[i]`` as the number of row i. By default that number is i.

    Raises:
        OutOfDeviceMemory: A single row does not fit.
    """
    lengths = rows.lengths()
    order, borders = native.plan_batches(lengths, budget=batch_tokens, least=min(LEAST_TOKENS, batch_tokens))
    if len(lengths) == 0:
        return order
    inputs = session.needed(pairs)
    tensors = DeviceTensors(inputs, rows, lengths, order, borders, lanes.device, threads, destinations)
    total, done = int(lengths.sum()), 0
    lanes.begin()
    try:
        for batch in range(len(borders) - 1):
            lane = lanes.devices[batch % len(lanes.devices)]
            _run_halving(session, tensors, slice(int(borders[batch]), int(borders[batch + 1])), batch, sink, lane)
            if report:
                done += int(lengths[order[borders[batch] : borders[batch + 1]]].sum())
                report(done, total)
    finally:
        # This is needed after an error, too. The additional streams may still read memory that is about to be freed,
        # and the device's own stream may use that memory next.
        lanes.end()
    return order


def _run_halving(
    session: DeviceSession, tensors: DeviceTensors, part: slice, batch: int, sink: DeviceSink, lane: Device
) -> None:
    try:
        inputs, lengths = tensors.views(part, batch)
        states = session.run(inputs, lengths if tensors.is_padded(batch) else None, lane)
        sink(states, part, tensors.order_view(part), lengths, lane)
        return
    except Exception as error:
        if not session.is_out_of_memory(error):
            raise
        failed = str(error)
    session.trim()
    if part.stop - part.start == 1:
        width = int(tensors.widths[batch])
        raise OutOfDeviceMemory(
            f"a row of {width} tokens does not fit into the memory of {lane.name} ({failed[:200]}); free some of it, "
            "or pass placement=pychunk.Placement(device='cpu')"
        )
    middle = (part.start + part.stop) // 2
    for half in (slice(part.start, middle), slice(middle, part.stop)):
        _run_halving(session, tensors, half, batch, sink, lane)


class DeviceTensors:
    """The model's inputs for all batches, in one flat array for each input.

    Many threads fill the arrays in pinned memory. Then each array is copied to the device at once. 65,000 sentences
    have 1.6 million tokens, which take 6.5 MB for each input.
    """

    def __init__(
        self,
        inputs: list[Input],
        rows: ModelRows,
        lengths: I64,
        order: I64,
        borders: I64,
        device: Device,
        threads: int,
        destinations: I64 | None,
    ) -> None:
        self.device, self.borders = device, borders
        self.widths = lengths[order[borders[:-1]]]
        counts = np.diff(borders)
        self._first = np.concatenate([[0], np.cumsum(counts * self.widths)]).astype(np.int64)
        sorted_lengths = lengths[order]
        self._padded = sorted_lengths[borders[1:] - 1] < self.widths
        wide = any(each.dtype is np.int64 for each in inputs)
        dtype: Any = np.int64 if wide else np.int32
        self._host = {each.role: _device.pinned((int(self._first[-1]),), dtype) for each in inputs}

        def fill(batch: int) -> None:
            shape = (int(counts[batch]), int(self.widths[batch]))
            span = slice(int(self._first[batch]), int(self._first[batch + 1]))
            own = {role: flat[span].reshape(shape) for role, flat in self._host.items()}
            chosen = order[borders[batch] : borders[batch + 1]]
            rows.fill(chosen, shape[1], own[IDS], own.get(MASK), own.get(TYPES))

        with ThreadPoolExecutor(min(threads, len(counts)), thread_name_prefix="pychunk-fill") as pool:
            for _ in pool.map(fill, range(len(counts))):
                pass
        kinds = {each.role: each.dtype for each in inputs}
        self._flat = {
            role: _device.to_device(flat.astype(kinds[role], copy=False), device) for role, flat in self._host.items()
        }
        self._order = _device.to_device(order if destinations is None else destinations[order], device)
        self._lengths = _device.to_device(sorted_lengths.astype(np.int32), device)

    def is_padded(self, batch: int) -> bool:
        """Return whether any row of the batch is shorter than the longest one."""
        return bool(self._padded[batch])

    def views(self, part: slice, batch: int) -> tuple[dict[str, Array], Array]:
        """Return the inputs by role, [rows, width], and the lengths, int32[rows], for the rows ``part`` of a batch."""
        width = int(self.widths[batch])
        begin = int(self._first[batch]) + (part.start - int(self.borders[batch])) * width
        shape = (part.stop - part.start, width)
        inputs = {role: _device.part(flat, begin, shape, self.device) for role, flat in self._flat.items()}
        return inputs, _device.part(self._lengths, part.start, shape[:1], self.device)

    def order_view(self, part: slice) -> Array:
        """Return the numbers that the sink receives for the sorted rows ``part``, in device memory."""
        return _device.part(self._order, part.start, (part.stop - part.start,), self.device)
