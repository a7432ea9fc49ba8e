"""The kernels on arrays that live on a GPU: torch's, CuPy's, JAX's, without a copy through the host.

Arrays come in through ``__cuda_array_interface__`` or DLPack, and go out as arrays that speak both
(``torch.from_dlpack(result.scores)``). Work is put into the caller's stream and not waited for.

Example:
    >>> import torch, pychunk.cuda  # doctest: +SKIP
    >>> vectors = torch.nn.functional.normalize(torch.randn(1000, 384, device="cuda"))  # doctest: +SKIP
    >>> found = pychunk.cuda.pic(vectors, offsets=[0, 400, 1000])  # doctest: +SKIP
    >>> torch.from_dlpack(found.labels).sum()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._engine import device as _device
from ._engine.device import Device, PicResult

if TYPE_CHECKING:
    from ._cuda import Array

__all__ = ["PicResult", "adjacent_cosines", "pic", "pool"]


def _on(array: Any, stream: int | None) -> Device:
    """The device of an array, with the stream to work in: a number as torch's ``current_stream().cuda_stream``."""
    _device.open_device()  # raises, saying why, where there is none
    number = int(array.__dlpack_device__()[1]) if hasattr(array, "__dlpack_device__") else 0
    return Device(number, stream or 0)


def pool(states: Any, tokens: Any, *, pooling: str = "mean", unit: bool = True, stream: int | None = None) -> Array:
    """Sentence vectors float32[rows, dim] from hidden states, in the order of operations of the CPU.

    Args:
        states: float16 or float32 [rows, width, dim].
        tokens: int32[rows], how many states of each row count, from the left.
        pooling: ``mean`` of those, or ``cls``, the first one.
        unit: whether vectors are scaled to unit length.
        stream: address of a CUDA stream; default: the default stream.

    Raises:
        ValueError: another type or shape, not contiguous, or no GPU.
    """
    if pooling not in ("mean", "cls"):
        raise ValueError(f"pooling must be 'mean' or 'cls'; got {pooling!r}")
    device = _on(states, stream)
    given = _device.view(states, device)
    if len(given.shape) != 3:
        raise ValueError(f"states must be [rows, width, dim]; got {given.shape}")
    out = _device.empty((given.shape[0], given.shape[2]), np.float32, device)
    _device.pool(given, _device.view(tokens, device), out, device, pooling=pooling, unit=unit)
    return out


def adjacent_cosines(vectors: Any, *, stream: int | None = None) -> Array:
    """Cosines float32[n - 1] of each row of unit vectors float32[n, dim] and the next, over documents' borders, too."""
    device = _on(vectors, stream)
    return _device.adjacent_cosines(_device.view(vectors, device), device)


def pic(
    vectors: Any,
    offsets: Sequence[int] | npt.NDArray[np.int64],
    *,
    summary: str = "extractive",
    summaries: Any = None,
    lead: Sequence[int] | None = None,
    k: float = 0.0,
    stream: int | None = None,
) -> PicResult:
    """PIC (section 3.2, eq. 1-4) of a ragged batch of documents in one launch; the CPU's results bit for bit.

    Args:
        vectors: unit vectors float32[n, dim] of all sentences.
        offsets: int64[k + 1] on the host: document d has the rows from ``offsets[d]`` to ``offsets[d + 1]``.
        summary: ``extractive``, ``mean``, ``lead`` or ``given``.
        summaries: with ``given``: unit vectors float32[k, dim] on the device.
        lead: with ``lead``: how many sentences the first paragraph of each document has.
        k: a sentence is relevant from mean + k deviations of its document's scores on.

    Returns:
        On the device: ``scores`` float32[n], ``adjacent`` float32[n] (cosine to the next sentence, 0 for a document's
        last), ``labels`` int8[n], ``cuts`` int32[n] and ``cut_counts`` int32[k]: document d's runs begin at its
        sentences ``cuts[offsets[d] : offsets[d] + cut_counts[d]]``.

    Raises:
        ValueError: another type or shape, offsets that fall or leave the rows, or no GPU.
    """
    device = _on(vectors, stream)
    if (summary == "given") != (summaries is not None) or (summary == "lead") != (lead is not None):
        raise ValueError("summaries= goes with summary='given', lead= with summary='lead'")
    return _device.pic(
        _device.view(vectors, device),
        np.ascontiguousarray(offsets, np.int64),
        device,
        summary=summary,
        given=None if summaries is None else _device.view(summaries, device),
        lead=None if lead is None else np.asarray(lead, np.int32),
        k=k,
    )
