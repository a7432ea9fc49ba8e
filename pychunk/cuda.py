"""The GPU kernels for arrays of torch, CuPy or JAX that are on a GPU, without a copy through host memory.

Inputs are arrays with ``__cuda_array_interface__`` or DLPack. Results support both
(``torch.from_dlpack(result.scores)``). Calls add work to the caller's stream and do not wait for it.

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
    """Return the device of an array, with the stream to work in.

    ``stream`` is the stream's address, as torch's ``current_stream().cuda_stream`` returns it.
    """
    _device.open_device()  # This raises an error with the reason if there is no device.
    number = int(array.__dlpack_device__()[1]) if hasattr(array, "__dlpack_device__") else 0
    return Device(number, stream or 0)


def pool(states: Any, tokens: Any, *, pooling: str = "mean", unit: bool = True, stream: int | None = None) -> Array:
    """Return sentence vectors float32[rows, dim] from hidden states, with operations in the same order as on the CPU.

    Args:
        states: The hidden states, float16 or float32 [rows, width, dim].
        tokens: int32[rows]: how many states of each row, from the left, belong to tokens and not to padding.
        pooling: ``mean`` for the mean of these states, or ``cls`` for the first one.
        unit: Whether to scale vectors to unit length.
        stream: The address of a CUDA stream; default: the default stream.

    Raises:
        ValueError: An array has a wrong type or shape or is not contiguous, or there is no GPU.
    """
    if pooling not in ("mean", "cls"):
        raise ValueError(f"pooling must be 'mean' or 'cls'; got {pooling!r:.80}")
    device = _on(states, stream)
    given = _device.view(states, device)
    if len(given.shape) != 3:
        raise ValueError(f"states must be [rows, width, dim]; got {given.shape}")
    out = _device.empty((given.shape[0], given.shape[2]), np.float32, device)
    _device.pool(given, _device.view(tokens, device), out, device, pooling=pooling, unit=unit)
    return out


def adjacent_cosines(vectors: Any, *, stream: int | None = None) -> Array:
    """Return the cosine of each row and the next, float32[n - 1], for unit vectors float32[n, dim].

    The last row of a document is compared with the first row of the next document, too.
    """
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
    """Return the result of PIC for several documents in one launch, bit for bit as on the CPU.

    The scores and labels are those of section 3.2, equations 1 to 4, of the PIC paper.

    Args:
        vectors: Unit vectors float32[n, dim] of all sentences.
        offsets: int64[documents + 1] on the host: document d has the rows from ``offsets[d]`` to ``offsets[d + 1]``.
        summary: ``extractive``, ``mean``, ``lead`` or ``given``.
        summaries: With ``given``, unit vectors float32[documents, dim] on the device.
        lead: With ``lead``, the number of sentences in the first paragraph of each document.
        k: A sentence is relevant if its score is at least mean + k standard deviations of its document's scores.
        stream: The address of a CUDA stream; default: the default stream.

    Returns:
        Arrays on the device: ``scores`` float32[n], ``adjacent`` float32[n] (cosine to the next sentence, 0 for a
            document's last), ``labels`` int8[n] (1 relevant, 0 irrelevant), ``cuts`` int32[n] and ``cut_counts``
            int32[documents]. The chunks of document d begin at its sentences
            ``cuts[offsets[d] : offsets[d] + cut_counts[d]]``, counted from 0 in the document.

    Raises:
        ValueError: An array has a wrong type or shape, offsets decrease or are out of range, or there is no GPU.
    """
    device = _on(vectors, stream)
    if (summary == "given") != (summaries is not None) or (summary == "lead") != (lead is not None):
        passed = [name for name, value in (("summaries=", summaries), ("lead=", lead)) if value is not None]
        raise ValueError(
            "pass summaries= if and only if summary='given', and lead= if and only if summary='lead'; got "
            f"summary={summary!r} with {' and '.join(passed) or 'neither'}"
        )
    return _device.pic(
        _device.view(vectors, device),
        np.ascontiguousarray(offsets, np.int64),
        device,
        summary=summary,
        given=None if summaries is None else _device.view(summaries, device),
        lead=None if lead is None else np.asarray(lead, np.int32),
        k=k,
    )
