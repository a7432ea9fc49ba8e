"""The weights and settings of a BERT, read from the graph that ``bert_graph`` wrote."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .bert_graph import ACTIVATIONS, bert_graph

if TYPE_CHECKING:
    import onnx

F32 = npt.NDArray[np.float32]

#: The parts of a layer, in the order in which they run.
LAYER = (
    "qkv",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)


@dataclass(frozen=True)
class BertWeights:
    """The settings and weights of a graph.

    ``arrays`` holds float32 by the names of ``bert_graph``. Matrices are [in, out]. Query, key and value of a layer are
    one matrix ``encoder.layer.0.qkv.weight`` [dim, 3 dim]. With a head there are also ``pooler`` and ``classifier``.
    """

    layers: int
    heads: int
    dim: int
    epsilon: float
    #: The variant of torch's gelu: ``none`` is exact, by erf; ``tanh`` is approximate.
    approximate: str
    first_token_only: bool
    #: The number of columns of the logits, 0 without a head.
    classes: int
    arrays: dict[str, F32]


def read_weights(path: Path) -> BertWeights:
    """Read ``model.onnx``, converting fp16 and 8-bit storage to float32.

    Raises:
        ValueError: The file is damaged, or its graph is not one that this version of ``bert_graph`` writes.
        ImportError: The package onnx is not installed. The message has the command.
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            'reading a graph needs onnx, which cannot be imported: pip install "pychunk-native[onnx]"'
        ) from error
    try:
        model = onnx.load(path)
    except Exception as error:  # It may be protobuf's DecodeError, an error of onnx's own checks, or OSError.
        raise ValueError(f"{path} is not an ONNX model that can be read: {error}; export the model again") from error
    try:
        found = _settings(model)
        _compare(model, found)
        _check_shapes(found)
    except (KeyError, StopIteration, ValueError) as error:
        reason = f"it lacks {error.args[0]!r}" if isinstance(error, KeyError) else str(error) or "a node is missing"
        raise ValueError(
            f"{path} is not a BERT as `pychunk export` writes it ({reason}); torch cannot run it here: "
            "pass placement=pychunk.Placement(runtime='onnxruntime'), or export the model again"
        ) from error
    return found


def _settings(model: onnx.ModelProto) -> BertWeights:
    nodes = list(model.graph.node)
    attention = _first(nodes, "Attention")
    activation = next(node.op_type for node in nodes if node.op_type in ACTIVATIONS.values())
    arrays = _arrays(model)
    outputs = [output.name for output in model.graph.output]
    return BertWeights(
        layers=sum(node.op_type == "Attention" for node in nodes),
        heads=int(_attribute(attention, "num_heads")),
        dim=arrays["embeddings.word_embeddings.weight"].shape[-1],
        epsilon=float(_attribute(_first(nodes, "EmbedLayerNormalization"), "epsilon")),
        approximate="none" if activation == "BiasGelu" else "tanh",
        first_token_only=any(node.name.endswith(".state_first") for node in nodes),
        classes=len(arrays["classifier.bias"]) if outputs == ["logits"] else 0,
        arrays=arrays,
    )


def _first(nodes: list[Any], kind: str) -> Any:
    found = next((node for node in nodes if node.op_type == kind), None)
    if found is None:
        raise ValueError(f"it has no node {kind}")
    return found


def _attribute(node: Any, name: str) -> Any:
    from onnx import helper

    return next(helper.get_attribute_value(each) for each in node.attribute if each.name == name)


def _arrays(model: onnx.ModelProto) -> dict[str, F32]:
    from onnx import numpy_helper

    stored = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    arrays = {
        name: values.astype(np.float32)
        for name, values in stored.items()
        if not name.endswith((".int8", ".scale")) and values.dtype.kind == "f"
    }
    for node in model.graph.node:
        if node.op_type == "DequantizeLinear":
            values, scale = (stored[name] for name in node.input)
            axis = int(_attribute(node, "axis"))
            shape = [-1 if i == axis else 1 for i in range(values.ndim)]
            arrays[node.output[0]] = values.astype(np.float32) * scale.reshape(shape)
    return arrays


def _compare(model: onnx.ModelProto, found: BertWeights) -> None:
    """Raise an error if anything but the weights' values differs from what ``bert_graph`` writes for ``found``."""
    from onnx import TensorProto

    one = np.ones((1, 1), np.float32)
    types = {each.name: each.data_type for each in model.graph.initializer}
    half = types.get("embeddings.LayerNorm.weight") == TensorProto.FLOAT16
    expected = bert_graph(
        defaultdict(lambda: one),
        {
            "num_attention_heads": found.heads,
            "num_hidden_layers": found.layers,
            "hidden_size": found.dim,
            "layer_norm_eps": found.epsilon,
            "hidden_act": "gelu" if found.approximate == "none" else "gelu_new",
        },
        first_token_only=found.first_token_only,
        head=(one, np.ones(found.classes, np.float32)) if found.classes else None,
        precision="fp16" if half else "int8" if any(name.endswith(".int8") for name in types) else "fp32",
    )
    for ours, theirs in zip(expected.graph.node, model.graph.node, strict=False):
        if ours != theirs:
            raise ValueError(f"its node {(theirs.name or theirs.op_type)!r} is not as export writes it")
    if len(expected.graph.node) != len(model.graph.node):
        raise ValueError(f"it has {len(model.graph.node)} nodes, not {len(expected.graph.node)}")
    for part in ("input", "output"):
        if getattr(expected.graph, part) != getattr(model.graph, part):
            raise ValueError(f"its {part}s differ")
    if {each.name: each.data_type for each in expected.graph.initializer} != types:
        raise ValueError("the names or types of its weights differ")
    for ours in expected.graph.initializer:
        if ours.data_type == TensorProto.INT64:  # Constants of this type are positions and shapes.
            theirs = next(each for each in model.graph.initializer if each.name == ours.name)
            if ours != theirs:
                raise ValueError(f"its constant {ours.name!r} differs")


def _check_shapes(found: BertWeights) -> None:
    dim, arrays = found.dim, found.arrays
    if dim % found.heads:
        raise ValueError(f"{dim} dimensions cannot be divided evenly among {found.heads} heads")
    shapes: dict[str, tuple[int, ...]] = {}

    def linear(name: str, rows: int, columns: int) -> None:
        shapes.update({f"{name}.weight": (rows, columns), f"{name}.bias": (columns,)})

    def norm(name: str) -> None:
        shapes.update({f"{name}.{part}": (dim,) for part in ("weight", "bias")})

    for name in ("word", "position", "token_type"):
        table = f"embeddings.{name}_embeddings.weight"
        shapes[table] = (len(arrays[table]), dim)
    norm("embeddings.LayerNorm")
    for i in range(found.layers):
        layer = f"encoder.layer.{i}"
        wide = len(arrays[f"{layer}.intermediate.dense.bias"])
        linear(f"{layer}.qkv", dim, 3 * dim)
        linear(f"{layer}.attention.output.dense", dim, dim)
        linear(f"{layer}.intermediate.dense", dim, wide)
        linear(f"{layer}.output.dense", wide, dim)
        norm(f"{layer}.attention.output.LayerNorm")
        norm(f"{layer}.output.LayerNorm")
    if found.classes:
        linear("pooler", dim, dim)
        linear("classifier", dim, found.classes)
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} is {list(arrays[name].shape)}, not {list(shape)}")
