"""The interface to the GPU module: the choice of a device, arrays on the device, and kernels with checked shapes.

No other module imports ``pychunk._cuda``. :mod:`pychunk._engine.native` computes the same on the CPU.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .._cuda import Array

I64 = npt.NDArray[np.int64]

try:
    from .. import _cuda

    _missing = ""
except ImportError as error:
    _cuda = None  # type: ignore[assignment]  # nothing uses it then, because open_device() raises an error
    _missing = (
        "this build has no GPU module: with nvcc on PATH, in a checkout: pip install . -C cmake.define.PYCHUNK_CUDA=ON"
        if "_cuda" in str(error)
        else f"the GPU module cannot be loaded ({error})"
    )

#: The exception for a device that is out of memory.
OutOfDeviceMemory: type[MemoryError] = getattr(_cuda, "OutOfDeviceMemory", MemoryError)


@dataclass(frozen=True)
class Device:
    """A CUDA device and the stream for the work on it. Stream 0 is the default one."""

    number: int = 0
    stream: int = 0

    @property
    def name(self) -> str:
        return f"cuda:{self.number}"

    def with_stream(self, stream: int) -> Device:
        return Device(self.number, stream)


@functools.cache
def facts() -> dict[str, Any]:
    """Return the devices, driver and runtime that :func:`pychunk.backend` reports. ``why`` is empty if CUDA works."""
    if _cuda is None:
        return {"devices": [], "driver": None, "runtime": None, "why": _missing}
    found = _cuda.devices()
    why = f"no GPU can be used: {found['error']}" if found["error"] else ""
    if found["error"] and not found["driver"]:
        why = "no GPU can be used: there is no NVIDIA driver"  # the CUDA runtime would say that the driver is too old
    version = {key: _version(found[key]) for key in ("driver", "runtime")}
    return {"devices": [each["name"] for each in found["devices"]], **version, "why": why}


def _version(number: int) -> str | None:
    """Return a version as text: 13000 becomes "13.0", and 0, for a missing driver, becomes None."""
    return f"{number // 1000}.{number % 1000 // 10}" if number else None


def emulated() -> bool:
    """Return whether the GPU is emulated: in a build for tests, memory is host memory and kernels run on the CPU."""
    return _cuda is not None and _cuda.emulated


def open_device(name: str = "cuda") -> Device:
    """Return the device that ``"cuda"`` or ``"cuda:1"`` names.

    Raises:
        ValueError: There is no usable GPU, or no device with that number. The message has the reason.
    """
    kind, _, number = name.partition(":")
    if kind != "cuda" or (number and not number.isdigit()):
        raise ValueError(f"device must be 'auto', 'cpu', 'cuda' or 'cuda:<number>'; got {name!r:.80}")
    found = facts()
    if found["why"]:
        raise ValueError(f"device={name!r} asks for CUDA, and {found['why']}; use 'auto' or 'cpu'")
    if int(number or 0) >= len(found["devices"]):
        raise ValueError(
            f"device={name!r} does not exist: there are {len(found['devices'])} CUDA devices, numbered from 0; name "
            "one of these, or 'cpu'"
        )
    return Device(int(number or 0))


def view(values: Any, device: Device) -> Array:
    """Return another library's array without a copy.

    Later work in ``device.stream`` waits until the other library has filled the array.

    Raises:
        ValueError: The array is not contiguous, is on another device, or has a type that kernels do not accept.
        TypeError: The value is not an array on a GPU.
    """
    if isinstance(values, _cuda.Array):
        return values
    interface = getattr(values, "__cuda_array_interface__", None)
    if interface is None:
        if not hasattr(values, "__dlpack__"):
            raise TypeError(
                f"expected an array on the GPU, such as a torch or CuPy tensor; got {type(values).__name__}"
            )
        kind = int(values.__dlpack_device__()[0])
        if kind == 2:
            return _cuda.from_dlpack(values.__dlpack__(stream=device.stream or 1))
        return _cuda.from_dlpack(values.__dlpack__())
    strides = interface.get("strides")
    shape, kind = tuple(interface["shape"]), np.dtype(interface["typestr"])
    if strides is not None and tuple(strides) != np.empty(shape, kind).strides and 0 not in shape:
        raise ValueError(
            f"an array on the GPU must be contiguous; got strides {tuple(strides)} for shape {shape}: pass "
            ".contiguous(), or a copy"
        )
    producer = interface.get("stream")
    if producer is not None and producer != (device.stream or 1):
        _cuda.order(0 if producer == 1 else int(producer), device.stream, device.number)
    return _cuda.foreign(values, int(interface["data"][0]), list(shape), interface["typestr"], device.number)


def empty(shape: tuple[int, ...], dtype: Any, device: Device) -> Array:
    return _cuda.empty(list(shape), np.dtype(dtype).str, device.number, device.stream)


def foreign(owner: Any, pointer: int, shape: tuple[int, ...], dtype: Any, device: Device) -> Array:
    """Return an array over memory at an address of the device, which ``owner`` keeps alive."""
    return _cuda.foreign(owner, pointer, list(shape), np.dtype(dtype).str, device.number)


def part(array: Array, begin: int, shape: tuple[int, ...], device: Device) -> Array:
    """Return a view, of the given shape, of an array's entries from position ``begin`` of the flattened array on."""
    return foreign(array, array.pointer + begin * array.dtype.itemsize, shape, array.dtype, device)


def order(earlier: Device, later: Device) -> None:
    """Make all later work in the stream of ``later`` wait for the work that is now in the stream of ``earlier``."""
    _cuda.order(earlier.stream, later.stream, earlier.number)


def synchronize(device: Device) -> None:
    """Wait for all work in the device's stream."""
    _cuda.synchronize(device.stream, device.number)


def to_device(values: npt.NDArray[Any], device: Device) -> Array:
    """Return a copy on the device.

    If ``values`` is in pinned memory, the function returns before the copy is complete. Until then, the memory must not
    change.
    """
    return _cuda.to_device(np.ascontiguousarray(values), device.number, device.stream)


def to_host(array: Array, device: Device, out: npt.NDArray[Any] | None = None, *, wait: bool = True) -> Any:
    """Return a copy in host memory. With ``wait=False`` it is complete only when the stream's work up to it is done."""
    if out is None:
        out = np.empty(array.shape, array.dtype)
    _cuda.copy_to_host(array, out, device.stream, wait)
    return out


def pinned(shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """Return pinned host memory, which a device can read and write by itself, without a CPU thread that copies."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64))
    flat: npt.NDArray[Any] = _cuda.pinned(size * kind.itemsize).view(kind)
    return flat.reshape(shape)


def new_stream(device: Device) -> Any:
    """Return a new stream. Pass its ``pointer`` to :meth:`Device.with_stream`."""
    return _cuda.Stream(device.number)


def trim(device: Device) -> int:
    """Release the device memory that is kept for later calls, and return the number of bytes released."""
    return _cuda.trim(device.number)


def pool(
    states: Array, tokens: Array, out: Array, device: Device, *, chosen: Array | None = None, pooling: str, unit: bool
) -> None:
    """Pool row i of ``states``, float16 or float32 [rows, width, dim], into the vector ``out[chosen[i]]``.

    ``pooling`` is ``mean``, over the first ``tokens[i]`` states (int32[rows]), or ``cls``, which takes the first state.
    """
    _cuda.pool(states, tokens, chosen, out, mean=pooling == "mean", unit=unit, stream=device.stream)


def embedding_bags(table: Array, ids: Array, offsets: Array, out: Array, device: Device) -> None:
    """Write the unit vectors of n sentences, from their token ids, to ``out``, float32[n, dim].

    The rows of the int8 table are added as integers, without rounding, and then scaled.
    """
    _cuda.embedding_bags(table, ids, offsets, out, stream=device.stream)


def adjacent_cosines(vectors: Array, device: Device) -> Array:
    """Return the cosine of each row and the next, float32[n - 1], even if these rows are in different documents."""
    out = empty((max(0, len(vectors) - 1),), np.float32, device)
    _cuda.adjacent_cosines(vectors, out, stream=device.stream)
    return out


@dataclass(frozen=True)
class PicResult:
    """The result of PIC on the device: one entry per sentence, but ``cut_counts`` has one per document."""

    scores: Array
    adjacent: Array
    labels: Array
    #: The cuts of document d are the first ``cut_counts[d]`` entries from ``offsets[d]`` on.
    cuts: Array
    cut_counts: Array
    #: 1 for sentences of an extractive summary, and for sentences that missed it by a score of at most ``margin``; else
    #: 0.
    close: Array


def pic(
    vectors: Array,
    offsets: I64,
    device: Device,
    *,
    summary: str = "extractive",
    given: Array | None = None,
    lead: npt.NDArray[np.int32] | None = None,
    k: float = 0.0,
    margin: float = 0.0,
    states: tuple[Array, Array] | None = None,
    half: bool = True,
    pooling: str = "mean",
    unit: bool = True,
    bag: tuple[Array, Array, Array] | None = None,
) -> PicResult:
    """Run PIC on several documents in one launch.

    Args:
        vectors: Unit vectors float32[n, dim]. With ``states`` or ``bag``, memory that the kernel fills with them.
        offsets: int64[documents + 1] in host memory; document d has the rows ``offsets[d]`` up to ``offsets[d + 1]``.
        device: The device and stream.
        summary: ``extractive``, ``mean``, ``lead`` or ``given``.
        given: float32[documents, dim]: the summaries, for ``summary="given"``.
        lead: The number of sentences in each document's first paragraph, for ``summary="lead"``.
        k: The threshold, in standard deviations above the mean score of the document.
        margin: The score by which a sentence may miss the summary and still count as ``close``.
        states: (the address of each sentence's first hidden state, uint64[n]; its number of tokens, int32[n]).
        half: Whether the hidden states are float16 and not float32.
        pooling: ``mean`` or ``cls``, for hidden states.
        unit: Whether vectors made of hidden states are scaled to unit length.
        bag: (int8[vocabulary, dim], the table of the static encoder; int32[t], all token ids; int64[n + 1], the offsets
            of each sentence's ids).
    """
    rows, documents = vectors.shape[0], len(offsets) - 1
    kinds = (np.float32, np.float32, np.int8, np.int32)
    out = [
        *(empty((rows,), kind, device) for kind in kinds),
        empty((documents,), np.int32, device),
        empty((rows,), np.int8, device),
    ]
    _cuda.pic(
        list(states or bag or ()),
        half=half,
        mean=pooling == "mean",
        unit=unit,
        vectors=vectors,
        offsets=to_device(offsets, device),
        host_offsets=offsets,
        summary=summary,
        given=given,
        lead=None if lead is None else to_device(np.asarray(lead, np.int32), device),
        k=k,
        margin=margin,
        out=out,
        stream=device.stream,
    )
    return PicResult(*out)
