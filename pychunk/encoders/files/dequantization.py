"""The conversion of 8-bit weights back to float32, for BERTs that ONNX Runtime quantized dynamically.

Such a graph scales the activations of a whole batch at once, so the result of a row depends on the other rows. Its
weights are usable nevertheless. As float32, ``(stored - zero point) x scale``, they run in pychunk's own graph, which
gives each row the same result in any batch.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import checkpoint

F32 = npt.NDArray[np.float32]


def arrays(file: Path) -> dict[str, F32]:
    """Return the weights of a quantized graph as float32, by their names in Hugging Face's checkpoints.

    Matrices are [out, in], as in torch.

    Raises:
        ValueError: The file is damaged, or a quantized matrix has no scale.
        ImportError: The package onnx is not installed. The message has the command.
    """
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError as error:
        raise ImportError(
            'reading a graph needs onnx, which cannot be imported: pip install "pychunk-native[onnx]"'
        ) from error
    try:
        model = onnx.load(file)
    except Exception as error:  # It may be protobuf's DecodeError, an error of onnx's own checks, or OSError.
        raise ValueError(f"{file} is not an ONNX model that can be read: {error}; download the model again") from error
    stored = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}

    def restored(name: str) -> F32:
        parts = [f"{name}_{part}" for part in ("quantized", "zero_point", "scale")]
        missing = [part for part in parts if part not in stored]
        if missing:
            raise ValueError(f"{file} lacks {', '.join(missing)}; download the model again")
        values, zero, scale = (stored[part] for part in parts)
        return np.asarray((values.astype(np.float32) - zero.astype(np.float32)) * scale, np.float32)

    found = {name: np.asarray(each, np.float32) for name, each in stored.items() if name.endswith((".weight", ".bias"))}
    for name in stored:
        if name.endswith("embeddings.weight_quantized"):
            found[name.removesuffix("_quantized")] = restored(name.removesuffix("_quantized"))
    for node in model.graph.node:
        # The node's name is its path: /bert/encoder/layer.0/output/dense/MatMul_quant.
        if node.op_type == "MatMulInteger":
            place = ".".join(node.name.strip("/").split("/")[:-1])
            found[f"{place}.weight"] = np.ascontiguousarray(restored(node.input[1].removesuffix("_quantized")).T)
    return found


def as_checkpoint(folder: Path, config: Mapping[str, Any], out: Path, beside: Mapping[str, Any] | None = None) -> Path:
    """Convert a folder with a quantized ``model.onnx`` to a Hugging Face directory with float32 weights.

    Args:
        folder: The folder with the quantized model and ``tokenizer.json``.
        config: The contents of ``config.json``.
        out: The new directory.
        beside: See :func:`written`.

    Raises:
        ImportError: The extra ``onnx`` is not installed.
    """
    return written(out, arrays(folder / "model.onnx"), config, folder / "tokenizer.json", beside)


def written(
    out: Path,
    weights: dict[str, F32],
    config: Mapping[str, Any],
    tokenizer: Path,
    beside: Mapping[str, Any] | None = None,
) -> Path:
    """Write a Hugging Face directory with ``config.json``, ``model.safetensors`` and ``tokenizer.json``, and return it.

    Args:
        out: The new directory, which :func:`convert.convert` takes.
        weights: The weights by their names in checkpoints.
        config: The contents of ``config.json``.
        tokenizer: The ``tokenizer.json`` to copy.
        beside: The contents of other JSON files by their names in ``out``, such as ``modules.json`` and the files that
            hold the pooling and the prompts.

    Raises:
        ImportError: The extra ``onnx`` is not installed.
    """
    try:
        from safetensors.numpy import save_file
    except ImportError as error:
        raise ImportError(
            'converting a model needs safetensors, which cannot be imported: pip install "pychunk-native[onnx]"'
        ) from error
    out.mkdir(parents=True, exist_ok=True)
    save_file(weights, out / checkpoint.FILE)
    for name, content in {"config.json": config, **(beside or {})}.items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(json.dumps(content), encoding="utf-8")
    shutil.copyfile(tokenizer, out / "tokenizer.json")
    return out
