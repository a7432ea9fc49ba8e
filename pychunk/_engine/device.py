"""The border to the GPU module: which device runs, arrays on it, and the kernels with their shapes checked.

No other module imports ``pychunk._cuda``. What its functions compute, :mod:`pychunk._engine.native` computes on the
CPU.
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
    _cuda = None  # type: ignore[assignment]  # a build without it; every use comes after open_device()
    _missing = (
        "this build has no GPU module: with nvcc on PATH, in a checkout: pip install . -C cmake.define.PYCHUNK_CUDA=ON"
        if "_cuda" in str(error)
        else f"the GPU module cannot be loaded ({error})"
    )

#: What Python calls memory that a device has not got.
OutOfDeviceMemory: type[MemoryError] = getattr(_cuda, "OutOfDeviceMemory", MemoryError)


@dataclass(frozen=True)
class Device:
    """A CUDA device and the stream that work on it goes to; stream 0 is the default one."""

    number: int = 0
    stream: int = 0

    @property
    def name(self) -> str:
        return f"cuda:{self.number}"

    def with_stream(self, stream: int) -> Device:
        return Device(self.number, stream)


@functools.cache
def facts() -> dict[str, Any]:
    """Devices, driver and runtime as :func:`pychunk.backend` reports them; ``why`` is empty where CUDA runs."""
    if _cuda is None:
        return {"devices": [], "driver": None, "runtime": None, "why": _missing}
    found = _cuda.devices()
    why = f"no GPU can be used: {found['error']}" if found["error"] else ""
    if found["error"] and not found["driver"]:
        why = "no GPU can be used: there is no NVIDIA driver"  # which the runtime calls one that is too old
    version = {key: _version(found[key]) for key in ("driver", "runtime")}
    return {"devices": [each["name"] for each in found["devices"]], **version, "why": why}


def _version(number: int) -> str | None:
    """13000 is CUDA 13.0; 0 is no driver."""
    return f"{number // 1000}.{number % 1000 // 10}" if number else None


def emulated() -> bool:
    """Whether "device" memory is host memory and kernels run on the CPU, as the tests build it."""
    return _cuda is not None and _cuda.emulated


def open_device(name: str = "cuda") -> Device:
    """The device that ``"cuda"`` or ``"cuda:1"`` names.

    Raises:
        ValueError: there is none, and why; or no device of that number.
    """
    kind, _, number = name.partition(":")
    if kind != "cuda" or (number and not number.isdigit()):
        raise ValueError(f"device must be 'auto', 'cpu', 'cuda' or 'cuda:<number>'; got {name!r}")
    found = facts()
    if found["why"]:
        raise ValueError(f"device={name!r} asks for CUDA, and {found['why']}; use 'auto' or 'cpu'")
    if int(number or 0) >= len(found["devices"]):
        raise ValueError(f"device={name!r}: there are {len(found['devices'])} CUDA devices, counted from 0")
    return Device(int(number or 0))


def view(values: Any, device: Device) -> Array:
    """Another library's array, without a copy; work in ``device.stream`` waits for what made it.

    Raises:
        ValueError: not contiguous, on another device, or of a type that kernels do not take.
        TypeError: not an array on a GPU.
    """
    if isinstance(values, _cuda.Array):
        return values
    interface = getattr(values, "__cuda_array_interface__", None)
    if interface is None:
        if not hasattr(values, "__dlpack__"):
            raise TypeError(f"an array on the GPU must speak DLPack; got {type(values).__name__}")
        kind = int(values.__dlpack_device__()[0])
        if kind == 2:
            return _cuda.from_dlpack(values.__dlpack__(stream=device.stream or 1))
        return _cuda.from_dlpack(values.__dlpack__())
    strides = interface.get("strides")
    shape, kind = tuple(interface["shape"]), np.dtype(interface["typestr"])
    if strides is not None and tuple(strides) != np.empty(shape, kind).strides and 0 not in shape:
        raise ValueError("an array on the GPU must be contiguous: pass .contiguous(), or a copy")
    producer = interface.get("stream")
    if producer is not None and producer != (device.stream or 1):
        _cuda.order(0 if producer == 1 else int(producer), device.stream, device.number)
    return _cuda.foreign(values, int(interface["data"][0]), list(shape), interface["typestr"], device.number)


def empty(shape: tuple[int, ...], dtype: Any, device: Device) -> Array:
    return _cuda.empty(list(shape), np.dtype(dtype).str, device.number, device.stream)


def foreign(owner: Any, pointer: int, shape: tuple[int, ...], dtype: Any, device: Device) -> Array:
    """Memory at an address of the device, which ``owner`` keeps alive."""
    return _cuda.foreign(owner, pointer, list(shape), np.dtype(dtype).str, device.number)


def part(array: Array, begin: int, shape: tuple[int, ...], device: Device) -> Array:
    """Entries of an array from ``begin`` on, counted flat, in a shape of their own; a view."""
    return foreign(array, array.pointer + begin * array.dtype.itemsize, shape, array.dtype, device)


def order(earlier: Device, later: Device) -> None:
    """What is put into ``later``'s stream from now on waits for what is in ``earlier``'s now."""
    _cuda.order(earlier.stream, later.stream, earlier.number)


def synchronize(device: Device) -> None:
    """Waits for all that is in the device's stream."""
    _cuda.synchronize(device.stream, device.number)


def to_device(values: npt.NDArray[Any], device: Device) -> Array:
    """A copy on the device; of pinned memory it is made while the caller goes on, and the memory must stay as it is."""
    return _cuda.to_device(np.ascontiguousarray(values), device.number, device.stream)


def to_host(array: Array, device: Device, out: npt.NDArray[Any] | None = None, *, wait: bool = True) -> Any:
    """A copy in host memory; with ``wait=False`` it is there once the stream has come so far."""
    if out is None:
        out = np.empty(array.shape, array.dtype)
    _cuda.copy_to_host(array, out, device.stream, wait)
    return out


def pinned(shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """Host memory that a device reads and writes by itself: copies from it need no thread."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64))
    flat: npt.NDArray[Any] = _cuda.pinned(size * kind.itemsize).view(kind)
    return flat.reshape(shape)


def new_stream(device: Device) -> Any:
    """A stream of its own; its ``pointer`` is what :meth:`Device.with_stream` takes."""
    return _cuda.Stream(device.number)


def trim(device: Device) -> int:
    """Gives back the device memory kept for later calls; returns its bytes."""
    return _cuda.trim(device.number)


def pool(
    states: Array, tokens: Array, out: Array, device: Device, *, chosen: Array | None = None, pooling: str, unit: bool
) -> None:
    """One vector for each row of ``states``, float16 or float32 [rows, width, dim], to ``out[chosen]``, [n, dim].

    ``tokens`` int32[rows] count with ``pooling="mean"``; ``cls`` takes the first state. As ``_native.pool``.
    """
    _cuda.pool(states, tokens, chosen, out, mean=pooling == "mean", unit=unit, stream=device.stream)


def embedding_bags(table: Array, ids: Array, offsets: Array, out: Array, device: Device) -> None:
    """Unit vectors [n, dim] of n runs of token ids: sums of rows of the int8 table, exact, then scaled."""
    _cuda.embedding_bags(table, ids, offsets, out, stream=device.stream)


def adjacent_cosines(vectors: Array, device: Device) -> Array:
    """Cosines float32[n - 1] of each row and the next, whatever documents they are of."""
    out = empty((max(0, len(vectors) - 1),), np.float32, device)
    _cuda.adjacent_cosines(vectors, out, stream=device.stream)
    return out


@dataclass(frozen=True)
class PicResult:
    """What PIC finds, on the device: one entry a sentence, but ``cut_counts`` one a document."""

    scores: Array
    adjacent: Array
    labels: Array
    #: Document d's are the first ``cut_counts[d]`` from ``offsets[d]`` on.
    cuts: Array
    cut_counts: Array
    #: 1 for the sentences of an extractive summary, and for those that lacked at most ``margin`` to be; else 0.
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
    """PIC of a ragged batch in one launch.

    Args:
        vectors: unit vectors float32[n, dim]; with ``states`` or ``bag`` memory for them, which is filled.
        offsets: int64[k + 1] in host memory: document d has the rows from ``offsets[d]`` to ``offsets[d + 1]``.
        summary: ``extractive``, ``mean``, ``lead`` (``lead``: sentences of each first paragraph) or ``given``
            (``given``: float32[k, dim]).
        margin: how close a sentence must come to being chosen for ``close``.
        states: (address uint64[n] of each sentence's first hidden state, its tokens int32[n]).
        bag: (table int8[v, dim], ids int32[t], their offsets int64[n + 1]).
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
