"""The runtimes that execute a graph on the CPU: ONNX Runtime, or OpenVINO or torch on request, behind one interface."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._engine import native
from .placement import CPU, ModelPlacement

IDS, MASK, TYPES = "ids", "mask", "types"


@dataclass(frozen=True)
class Input:
    """An input of a graph: its name in the graph, its role (IDS, MASK or TYPES), and its integer type."""

    name: str
    role: str
    dtype: type[np.int32] | type[np.int64]


class Session(ABC):
    """A loaded graph whose ``run`` several threads may call at once."""

    runtime: str
    version: str
    #: The precision of the arithmetic if it differs from the model's, such as "bf16"; else empty.
    arithmetic: str
    inputs: list[Input]
    #: The number of dimensions of the output: 3 for states of all tokens, 2 for one row for each text. ``dim`` is the
    #: size of the last one, 0 if it is unknown.
    rank: int
    dim: int

    @abstractmethod
    def run(self, tensors: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the model's output for tensors by input name."""


def open_session(path: Path, placement: ModelPlacement = CPU, output: str | None = None) -> Session:
    """Load a graph for the CPU.

    Each call runs on one thread, because callers run several batches in parallel.

    Raises:
        ValueError: The file is no graph, or its graph cannot be an encoder. The message gives the reason.
        ImportError: The runtime is not installed. The message has the command.
    """
    if placement.runtime == "torch":
        return TorchSession(path, placement)
    if placement.runtime == "pychunk":
        from .int8_bert import Int8Session

        return Int8Session(path)
    return OpenVino(path, output) if placement.runtime == "openvino" else OnnxRuntime(path, output)


def roles_of(path: Path, found: Sequence[tuple[str, str, int]]) -> list[Input]:
    """Return the inputs with their roles, which follow from their names.

    ``found`` lists the inputs as (name, type, number of dimensions).

    Raises:
        ValueError: An input has an unsuitable type or shape, two inputs have one role, or there are no token ids.
    """
    dtypes: dict[str, Any] = {"int32": np.int32, "int64": np.int64}
    inputs = []
    for name, kind, rank in found:
        if kind not in dtypes or rank != 2:
            raise ValueError(
                f"{path} cannot be an encoder here: its input {name!r} is {kind} with {rank} dimensions; "
                "inputs must be token ids, a mask or token types, int32 or int64 [batch, length]"
            )
        lower = name.lower()
        role = MASK if "mask" in lower else TYPES if "type" in lower or "segment" in lower else IDS
        inputs.append(Input(name, role, dtypes[kind]))
    roles = [each.role for each in inputs]
    if roles.count(IDS) != 1 or len(set(roles)) != len(roles):
        names = ", ".join(f"{each.name!r} ({each.role})" for each in inputs) or "none"
        raise ValueError(
            f"{path} cannot be an encoder here: exactly one input must be token ids, with at most one mask and one for "
            f"token types; by their names, it has {names}: export it with such inputs"
        )
    return inputs


def choose_output(path: Path, found: Sequence[tuple[str, str, int, int]], wanted: str | None) -> tuple[str, int, int]:
    """Return (name, number of dimensions, size of the last dimension) of the output to read.

    ``found`` lists all outputs as (name, type, number of dimensions, size of the last dimension).
    """
    usable = [(name, rank, size) for name, kind, rank, size in found if "float" in kind and rank in (2, 3)]
    names = [name for name, _, _ in usable]
    for name in (wanted, "logits", "last_hidden_state", "token_embeddings", *names):
        if name in names:
            return usable[names.index(name)]
    raise ValueError(
        f"{path} cannot be an encoder here: no output is floating-point with 2 or 3 dimensions; it has "
        + (", ".join(f"{name!r} ({kind}, {rank} dimensions)" for name, kind, rank, _ in found) or "none")
        + ": export it with such an output"
    )


def switch_telemetry_off() -> None:
    """Keep ONNX Runtime from reporting its use over the network, and from writing an id of the machine to the home.

    Version 1.32 does both when it is imported, unless this variable is set. A user's own value stays.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


class OnnxRuntime(Session):
    """ONNX Runtime on the CPU, in the precision of the graph.

    On one type of CPU, a row's result is the same bit for bit in any batch.
    """

    runtime = "onnxruntime"
    arithmetic = ""

    def __init__(self, path: Path, output: str | None = None) -> None:
        switch_telemetry_off()
        try:
            import onnxruntime as ort
        except ImportError as error:
            raise ImportError(
                'transformers run on ONNX Runtime, which cannot be imported: pip install "pychunk-native[onnx]"; '
                'encoder="static" runs without it'
            ) from error
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # 8-bit weights become float32 once, when the graph is loaded. Otherwise every call would restore them.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        try:
            self._session = ort.InferenceSession(
                str(path),
                options,
                providers=["CPUExecutionProvider"],
                disabled_optimizers=["SkipLayerNormFusion"],  # The fused node is slower: see files/bert_graph.py.
            )
        except Exception as error:  # The errors of ONNX Runtime share no better base class.
            reason = str(error).splitlines()[0][:300]
            raise ValueError(
                f"{path} cannot be loaded by ONNX Runtime {ort.__version__} ({reason}); export the model again, or "
                "choose another runtime in pychunk.Placement"
            ) from error
        self.version = f"onnxruntime {ort.__version__}"

        def kind(value: Any) -> str:
            return str(value.type).removeprefix("tensor(").removesuffix(")")

        def size(value: Any) -> int:
            return value.shape[-1] if value.shape and isinstance(value.shape[-1], int) else 0

        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        self.inputs = roles_of(path, [(each.name, kind(each), len(each.shape)) for each in inputs])
        shown = [(each.name, kind(each), len(each.shape), size(each)) for each in outputs]
        self._output, self.rank, self.dim = choose_output(
            path, [(n, k.replace("double", "float"), r, s) for n, k, r, s in shown], output
        )

    def run(self, tensors: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the model's output for tensors by input name."""
        out: npt.NDArray[Any] = self._session.run([self._output], tensors)[0]
        return out


_FIRST = threading.Lock()


class OpenVino(Session):
    """OpenVINO on the CPU, in bfloat16 if the CPU has it: faster than float32, and close but not equal to it."""

    runtime = "openvino"

    def __init__(self, path: Path, output: str | None = None) -> None:
        try:
            import openvino
        except ImportError as error:
            raise ImportError(
                'runtime="openvino" needs openvino, which cannot be imported: pip install "pychunk-native[openvino]"'
            ) from error
        with _FIRST:
            # The first access to a tensor's data creates a table under a C++ lock, and releases the GIL meanwhile. If
            # two threads do this at once, one holds the lock and waits for the GIL, while the other holds the GIL and
            # waits for the lock. So one thread does it here, before others can.
            _ = openvino.Tensor(openvino.Type.i64, openvino.Shape([1])).data
        core = openvino.Core()
        # Each thread that may call gets a stream, which runs on one thread.
        streams = native.default_threads()
        settings = {"INFERENCE_NUM_THREADS": streams, "NUM_STREAMS": streams, "PERFORMANCE_HINT": "THROUGHPUT"}
        try:
            model = core.read_model(path)
            self._compiled = core.compile_model(model, "CPU", settings)
        except Exception as error:  # OpenVINO raises RuntimeError and its own errors.
            reason = str(error).strip().splitlines()[-1][:300]
            raise ValueError(
                f"{path} cannot be loaded by OpenVINO {openvino.__version__} ({reason}); export the model again, or "
                "choose another runtime in pychunk.Placement"
            ) from error
        self.version = f"openvino {openvino.__version__.split('-')[0]}"
        self._own = threading.local()

        self.arithmetic = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}.get(
            str(self._compiled.get_property("INFERENCE_PRECISION_HINT").to_string()), ""
        )

        def facts(port: Any) -> tuple[str, str, int, int]:
            shape = port.get_partial_shape()
            last = shape[len(shape) - 1] if len(shape) else None
            names = sorted(port.get_names())
            kinds = {"i32": "int32", "i64": "int64", "f32": "float", "f16": "float16"}
            kind = port.get_element_type().get_type_name()
            return (
                names[0],
                kinds.get(kind, kind),
                len(shape),
                last.get_length() if last is not None and last.is_static else 0,
            )

        self.inputs = roles_of(path, [facts(port)[:3] for port in self._compiled.inputs])
        self._output, self.rank, self.dim = choose_output(
            path, [facts(port) for port in self._compiled.outputs], output
        )

    def run(self, tensors: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the model's output for tensors by input name. Each thread uses a request of its own."""
        request = getattr(self._own, "request", None)
        if request is None:  # Each thread keeps one request.
            request = self._own.request = self._compiled.create_infer_request()
        request.infer(tensors)
        return np.array(request.get_tensor(self._output).data)


class TorchSession(Session):
    """A BERT in torch on the CPU, in any precision.

    With fp16, a machine without a GPU computes what a GPU computes in fp16, but slowly.
    """

    runtime = "torch"

    def __init__(self, path: Path, placement: ModelPlacement) -> None:
        from .bert_torch import BertTorch

        self._bert = BertTorch(path, "cpu", placement.precision)
        import torch

        self._torch: Any = torch
        self.version = f"torch {torch.__version__.split('+')[0]}"
        self.arithmetic = placement.precision
        self.inputs = [Input("ids", IDS, np.int32), Input("mask", MASK, np.int32), Input("types", TYPES, np.int32)]
        self.rank = 2 if self._bert.classes else 3
        self.dim = self._bert.classes or self._bert.dim

    def run(self, tensors: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the output for the tensors "ids", "mask" and "types", as float32."""
        ids, mask, types = (self._torch.from_numpy(tensors[name]) for name in ("ids", "mask", "types"))
        lengths = mask.sum(dim=1, dtype=self._torch.int32)
        padded = bool((lengths < ids.shape[1]).any())
        out: npt.NDArray[Any] = self._bert.forward(ids, lengths if padded else None, types).float().numpy()
        return out
