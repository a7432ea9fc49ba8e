"""The ONNX graph of a BERT, written from its weights without torch and with fused nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import onnx

F32 = npt.NDArray[np.float32]

#: The storage of weights. Arithmetic is float32 for "fp32", and for "int8", whose weights are restored when the model
#: is loaded. It is float16 for "fp16" if the device has it.
PRECISIONS = ("fp32", "fp16", "int8")
ACTIVATIONS = {"gelu": "BiasGelu", "gelu_new": "FastGelu", "gelu_pytorch_tanh": "FastGelu"}


class _Graph:
    """The nodes and weights of a graph, added one by one.

    Every weight is stored in the precision of the graph.
    """

    def __init__(self, precision: str) -> None:
        from onnx import TensorProto, helper, numpy_helper

        self.helper, self.numpy_helper = helper, numpy_helper
        self.precision = precision
        self.float_type = TensorProto.FLOAT16 if precision == "fp16" else TensorProto.FLOAT
        self.int_type = TensorProto.INT32
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def weight(self, name: str, values: npt.NDArray[Any], axis: int | None = None) -> str:
        """Store an array and return its name.

        With `axis` and int8 it is stored as 8-bit numbers with a scale for each entry of that axis.
        """
        if self.precision == "int8" and axis is not None:
            others = tuple(i for i in range(values.ndim) if i != axis)
            scale = np.maximum(np.abs(values).max(axis=others), 1e-12).astype(np.float32) / np.float32(127)
            shape = [-1 if i == axis else 1 for i in range(values.ndim)]
            rounded = np.clip(np.rint(values / scale.reshape(shape)), -127, 127).astype(np.int8)
            self._store(f"{name}.int8", rounded)
            self._store(f"{name}.scale", scale)
            return self.add("DequantizeLinear", [f"{name}.int8", f"{name}.scale"], name, domain="", axis=axis)
        floating = values.dtype.kind == "f"
        self._store(name, values.astype(np.float16) if floating and self.precision == "fp16" else values)
        return name

    def _store(self, name: str, values: npt.NDArray[Any]) -> None:
        self.weights.append(self.numpy_helper.from_array(np.ascontiguousarray(values), name))

    def add(
        self, kind: str, inputs: list[str], output: str, *more: str, domain: str = "com.microsoft", **options: Any
    ) -> str:
        self.nodes.append(self.helper.make_node(kind, inputs, [output, *more], name=output, domain=domain, **options))
        return output


def bert_graph(
    weights: Mapping[str, F32],
    config: Mapping[str, Any],
    *,
    first_token_only: bool = False,
    head: tuple[F32, F32] | None = None,
    precision: str = "fp32",
) -> onnx.ModelProto:
    """Return a BERT encoder as an ONNX model of fused nodes.

    Inputs are ``input_ids``, ``attention_mask`` and ``token_type_ids``, int32[batch, length], padded on the right. The
    output is ``last_hidden_state``, [batch, length, dim]. With ``first_token_only`` it is [batch, 1, dim]: the last
    layer then computes only that token, which saves 9/12 of the layer's arithmetic. With a ``head`` (weight [classes,
    dim], bias [classes]) on the tanh pooler it is ``logits``, [batch, classes].

    Args:
        weights: The weights by the names of Hugging Face's ``BertModel`` (``embeddings...``, ``encoder.layer.0...``,
            ``pooler...``).
        config: ``config.json`` of the model.
        first_token_only: Whether the output is the state of the first token alone.
        head: The weight and bias of a classifier.
        precision: ``fp32``, ``fp16`` or ``int8`` (8-bit storage, float32 arithmetic).

    Raises:
        ValueError: The configuration needs an operation that these nodes do not compute.
    """
    _check(config)
    graph = _Graph(precision)
    heads, eps = int(config["num_attention_heads"]), float(config["layer_norm_eps"])

    def norm(name: str) -> list[str]:
        return [graph.weight(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")]

    def matrix(name: str) -> str:  # Torch stores [out, in]. The graph holds [in, out], with one scale for each column.
        return graph.weight(f"{name}.weight", weights[f"{name}.weight"].T, axis=1)

    tables = [
        graph.weight(f"embeddings.{name}.weight", weights[f"embeddings.{name}.weight"], axis=0)
        for name in ("word_embeddings", "position_embeddings", "token_type_embeddings")
    ]
    state = graph.add(
        "EmbedLayerNormalization",
        ["input_ids", "token_type_ids", *tables, *norm("embeddings.LayerNorm"), "attention_mask"],
        "embedded",
        "real_tokens",
        epsilon=eps,
    )
    layers = int(config["num_hidden_layers"])
    for i in range(layers):
        layer = f"encoder.layer.{i}"
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        qkv = graph.weight(f"{layer}.qkv.weight", np.hstack([weights[f"{part}.weight"].T for part in parts]), axis=1)
        bias = graph.weight(f"{layer}.qkv.bias", np.hstack([weights[f"{part}.bias"] for part in parts]))
        mixed = graph.add("Attention", [state, qkv, bias, "real_tokens"], f"{layer}.mixed", num_heads=heads)
        if i + 1 == layers and (first_token_only or head is not None):
            first = graph.weight("first_token", np.zeros(1, np.int64))
            mixed = graph.add("Gather", [mixed, first], f"{layer}.mixed_first", domain="", axis=1)
            state = graph.add("Gather", [state, first], f"{layer}.state_first", domain="", axis=1)
        for block, activated in (("attention.output", False), ("output", True)):
            inner = mixed
            if activated:
                wide = graph.add("MatMul", [state, matrix(f"{layer}.intermediate.dense")], f"{layer}.wide", domain="")
                bias = graph.weight(f"{layer}.intermediate.dense.bias", weights[f"{layer}.intermediate.dense.bias"])
                inner = graph.add(ACTIVATIONS[config["hidden_act"]], [wide, bias], f"{layer}.active")
            name = f"{layer}.{block}"
            inner = graph.add("MatMul", [inner, matrix(f"{name}.dense")], f"{name}.projected", domain="")
            bias = graph.weight(f"{name}.dense.bias", weights[f"{name}.dense.bias"])
            # On a CPU, these three nodes take 1 ns for each value. ONNX Runtime's SkipLayerNormalization, which would
            # replace them, takes 5 ns, 9 % of a run.
            inner = graph.add("Add", [inner, bias], f"{name}.biased", domain="")
            inner = graph.add("Add", [inner, state], f"{name}.skipped", domain="")
            state = graph.add(
                "LayerNormalization",
                [inner, *norm(f"{name}.LayerNorm")],
                f"{name}.state",
                domain="",
                axis=-1,
                epsilon=eps,
            )
    if head is None:
        graph.add("Identity", [state], "last_hidden_state", domain="")
        shape: list[Any] = ["batch", 1 if first_token_only else "length", int(config["hidden_size"])]
        return _model(graph, "last_hidden_state", shape)
    flat = graph.weight("flat", np.array([-1, int(config["hidden_size"])], np.int64))
    state = graph.add("Reshape", [state, flat], "first_state", domain="")
    for name, (values, offset) in {
        "pooler": (weights["pooler.dense.weight"], weights["pooler.dense.bias"]),
        "classifier": head,
    }.items():
        product = graph.add(
            "MatMul", [state, graph.weight(f"{name}.weight", values.T, axis=1)], f"{name}.product", domain=""
        )
        out = "logits" if name == "classifier" else f"{name}.sum"
        state = graph.add("Add", [product, graph.weight(f"{name}.bias", offset)], out, domain="")
        if name == "pooler":
            state = graph.add("Tanh", [state], "pooled", domain="")
    return _model(graph, "logits", ["batch", len(head[1])])


def _check(config: Mapping[str, Any]) -> None:
    if config.get("model_type", "bert") != "bert":
        raise ValueError(
            f"only BERT's graph can be written here; this model is of type {config.get('model_type')!r}: export it "
            "with pychunk export"
        )
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise ValueError(
            f"position_embedding_type must be absolute; got {config['position_embedding_type']!r}: choose another model"
        )
    if config.get("hidden_act", "gelu") not in ACTIVATIONS:
        raise ValueError(
            f"hidden_act must be one of {', '.join(ACTIVATIONS)}; got {config['hidden_act']!r}: choose another model"
        )


def _model(graph: _Graph, output: str, shape: list[Any]) -> onnx.ModelProto:
    helper = graph.helper
    made = helper.make_graph(
        graph.nodes,
        "bert",
        [
            helper.make_tensor_value_info(name, graph.int_type, ["batch", "length"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [helper.make_tensor_value_info(output, graph.float_type, shape)],
        graph.weights,
    )
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model: onnx.ModelProto = helper.make_model(made, opset_imports=versions, ir_version=9, producer_name="pychunk")
    return model
