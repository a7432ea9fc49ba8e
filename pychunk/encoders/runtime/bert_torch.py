"""A BERT in torch, built from an ONNX graph that pychunk wrote, for half precision or float32 on CPUs and GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..files.bert_weights import LAYER, BertWeights, read_weights
from .torch_precision import exact_products

if TYPE_CHECKING:
    import torch

F32 = npt.NDArray[np.float32]

#: The types of weights, states and results. Norms, softmax and the sums in matrix products are always in float32.
PRECISIONS = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}


class _Linear(NamedTuple):
    """A matrix [out, in] and a bias [out].

    For the norm of a layer, it holds the norm's weight and bias, [dim] both.
    """

    weight: torch.Tensor
    bias: torch.Tensor


class _Layer(NamedTuple):
    qkv: _Linear
    mixed: _Linear
    mixed_norm: _Linear
    wide: _Linear
    narrow: _Linear
    norm: _Linear


class BertTorch:
    """A BERT on one device.

    Args:
        path: ``model.onnx`` of a model directory, as ``pychunk export`` writes it from a BERT's weights.
        device: ``cpu``, ``cuda`` or ``cuda:1``.
        precision: ``fp16``, ``bf16`` or ``fp32``, which never uses TF32.

    Torch runs the layers one operation at a time. ``torch.compile`` made an H200's batches 13 % faster, and CUDA graphs
    5 % more, but every process then began with 43 seconds of compiling, which 2 GB of text would have to win back.

    Raises:
        ValueError: The graph is not a BERT that pychunk wrote (``runtime="onnxruntime"`` runs other graphs), or there
            is no such device or precision.
        ImportError: Torch is not installed. The message has the command.

    Example:
        >>> bert = BertTorch("minilm/model.onnx", "cuda")  # doctest: +SKIP
        >>> ids = torch.tensor([[101, 2023, 102]], dtype=torch.int32, device="cuda")  # doctest: +SKIP
        >>> bert.forward(ids).shape  # doctest: +SKIP
        torch.Size([1, 3, 384])
    """

    def __init__(
        self,
        path: str | Path,
        device: str = "cuda",
        precision: str = "fp16",
    ) -> None:
        torch: Any = _torch()
        self.device = _device(device)
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}; got {precision!r:.80}")
        self.precision = precision
        self.dtype = getattr(torch, PRECISIONS[precision])
        stored = read_weights(Path(path))
        self._take(stored)

    def _take(self, stored: BertWeights) -> None:
        """Copy the weights to the device, in the shapes and the precision that the layers need."""
        import torch

        arrays = stored.arrays

        def put(values: F32) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(self.device, self.dtype)

        def linear(name: str) -> _Linear:
            return _Linear(put(arrays[f"{name}.weight"].T), put(arrays[f"{name}.bias"]))

        self.heads, self.epsilon, self.approximate = stored.heads, stored.epsilon, stored.approximate
        self.dim, self.classes = stored.dim, stored.classes
        self._first_only = stored.first_token_only
        self._words = put(arrays["embeddings.word_embeddings.weight"])
        positions = arrays["embeddings.position_embeddings.weight"]
        self.positions = len(positions)
        # The embeddings of position and type are added here once, in float32, to one array [types, positions, dim].
        self._places = put(positions + arrays["embeddings.token_type_embeddings.weight"][:, None])
        self._norm = linear("embeddings.LayerNorm")
        self._layers = [_Layer(*(linear(f"encoder.layer.{i}.{name}") for name in LAYER)) for i in range(stored.layers)]
        self._head = (linear("pooler"), linear("classifier")) if stored.classes else None

    def forward(
        self, ids: torch.Tensor, lengths: torch.Tensor | None = None, types: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the model's output for rows of tokens, on the device.

        Args:
            ids: int32[rows, width] on the device.
            lengths: int32[rows]: the number of real tokens of each row, from the left. None if all are real, which is
                faster, because attention then needs no mask.
            types: int32[rows, width], 0 or 1; None is 0 everywhere.

        Returns:
            The states of all tokens, [rows, width, dim]. A graph that computes only the first token gives [rows, 1,
            dim]. A graph with a head gives logits, [rows, classes]. All are in the model's precision. States of padding
            have no meaning.

        Raises:
            ValueError: The rows have more tokens than the model has positions.
        """
        import torch

        if ids.shape[1] > self.positions:
            raise ValueError(f"rows must have at most {self.positions} tokens; got {ids.shape[1]}")
        with torch.inference_mode(), exact_products():
            return self._output(ids, lengths, types)

    def _output(self, ids: torch.Tensor, lengths: torch.Tensor | None, types: torch.Tensor | None) -> torch.Tensor:
        import torch

        state = self._embedded(ids, types)
        mask = None
        if lengths is not None:
            real = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
            mask = real[:, None, None, :]
        for i, layer in enumerate(self._layers):
            state = self._layer(layer, state, mask, last=i + 1 == len(self._layers))
        if self._head is None:
            return state
        pooler, classifier = self._head
        linear = torch.nn.functional.linear
        return linear(torch.tanh(linear(state[:, 0], *pooler)), *classifier)

    def _embedded(self, ids: torch.Tensor, types: torch.Tensor | None) -> torch.Tensor:
        import torch

        embedding, width = torch.nn.functional.embedding, ids.shape[1]
        if types is None:
            places = self._places[0, :width]
        else:
            numbers = types * self.positions + torch.arange(width, device=ids.device, dtype=types.dtype)
            places = embedding(numbers, self._places.flatten(0, 1))
        return self._normed(embedding(ids, self._words) + places, self._norm)

    def _layer(self, layer: _Layer, state: torch.Tensor, mask: torch.Tensor | None, *, last: bool) -> torch.Tensor:
        from torch.nn import functional

        rows, width, dim = state.shape
        parts = functional.linear(state, *layer.qkv).view(rows, width, 3, self.heads, dim // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        if last and self._first_only:
            state, query = state[:, :1], query[:, :, :1]
        mixed = _attention(query, key, value, mask).transpose(1, 2).flatten(2)
        state = self._normed(state + functional.linear(mixed, *layer.mixed), layer.mixed_norm)
        wide = functional.gelu(functional.linear(state, *layer.wide), approximate=self.approximate)
        return self._normed(state + functional.linear(wide, *layer.narrow), layer.norm)

    def _normed(self, state: torch.Tensor, norm: _Linear) -> torch.Tensor:
        from torch.nn import functional

        return functional.layer_norm(state, (self.dim,), norm.weight, norm.bias, self.epsilon)


def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Return attention [rows, heads, queries, dim of a head].

    In float32 it does not use torch's kernel for GPUs, because that uses TF32.
    """
    import torch

    if query.dtype != torch.float32:
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    scores = query @ key.transpose(2, 3) * query.shape[3] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, 3) @ value


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether torch raised this error for lack of memory, so that a batch of half the size may succeed."""
    if isinstance(error, MemoryError):
        return True
    # These are parts of the messages of CUDA, cuBLAS and the CPU allocator.
    signs = ("out of memory", "ALLOC_FAILED", "can't allocate memory")
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in signs)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            'runtime="torch" needs torch, which cannot be imported: pip install torch, or '
            'pip install "pychunk-native[torch]"'
        ) from error
    return torch


def _device(name: str) -> torch.device:
    import torch

    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"device must be cpu, cuda or cuda:N; got {name!r:.80}") from error
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"device must be cpu, cuda or cuda:N; got {name!r:.80}")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        known = f"cuda:0 to cuda:{count - 1}" if count > 1 else "only cuda:0" if count else "no CUDA device"
        raise ValueError(f"there is no device {name!r}: torch sees {known}; name {'one of these or ' * bool(count)}cpu")
    # The current device is a setting of the thread, so its number is looked up now: other threads call this model, too.
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", torch.cuda.current_device())
    return device
