"""The runtimes that execute a graph on a GPU: torch, or ONNX Runtime with its CUDA provider, behind one interface.

Inputs and outputs stay in device memory. A call adds work to a stream and does not wait for it.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._engine import device as _device
from ..._engine.device import Device
from .placement import ModelPlacement
from .sessions import IDS, TYPES, Input, choose_output, roles_of, switch_telemetry_off

if TYPE_CHECKING:
    from ..._cuda import Array


class DeviceSession(ABC):
    """A loaded graph on one device.

    Several threads may call it at once if each uses another stream.
    """

    runtime: str
    version: str
    arithmetic: str
    device: Device
    inputs: list[Input]
    #: The number of dimensions of the output: 3 for states of all tokens, 2 for one row for each text. ``dim`` is the
    #: size of the last one, 0 if it is unknown.
    rank: int
    dim: int

    def needed(self, pairs: bool) -> list[Input]:
        """Return the inputs that :meth:`run` requires for single sentences or, with ``pairs``, for sentence pairs."""
        return self.inputs

    @abstractmethod
    def run(self, tensors: dict[str, Array], lengths: Array | None, device: Device) -> Array:
        """Return the output for inputs by role, [rows, width] each, computed in ``device.stream``.

        ``lengths`` int32[rows] is the number of tokens in each row without padding, or None if no row is padded.
        """

    @abstractmethod
    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether a call failed for lack of device memory, so that a call of half the size may succeed."""

    def trim(self) -> None:
        """Release device memory that is kept for later calls."""
        _device.trim(self.device)


def open_device_session(path: Path, placement: ModelPlacement, output: str | None = None) -> DeviceSession:
    """Load a graph onto ``placement.device``.

    Raises:
        ValueError: The runtime cannot run this graph, or cannot use a GPU. The message says what to do.
        ImportError: The runtime is not installed.
    """
    if placement.runtime == "torch":
        return TorchDeviceSession(path, placement)
    return OnnxDeviceSession(path, placement, output)


class TorchDeviceSession(DeviceSession):
    """A BERT in torch (see :mod:`bert_torch`).

    A batch whose rows all have the same length runs without a mask.
    """

    runtime = "torch"

    def __init__(self, path: Path, placement: ModelPlacement) -> None:
        from .bert_torch import BertTorch

        assert placement.device is not None
        self.device = placement.device
        self._bert = BertTorch(path, placement.torch_device, placement.precision.replace("mixed", "fp16"))
        import torch

        self._torch: Any = torch
        self.version = f"torch {torch.__version__.split('+')[0]}"
        self.arithmetic = placement.precision
        self.inputs = [Input("ids", IDS, np.int32), Input("types", TYPES, np.int32)]
        self.rank = 2 if self._bert.classes else 3
        self.dim = self._bert.classes or self._bert.dim

    def needed(self, pairs: bool) -> list[Input]:
        """Return the token ids, and for pairs also the segment ids."""
        return self.inputs if pairs else self.inputs[:1]

    def run(self, tensors: dict[str, Array], lengths: Array | None, device: Device) -> Array:
        """Return the states or scores that BERT computes in ``device.stream``, without waiting."""

        def tensor(array: Array | None) -> Any:
            return None if array is None else self._torch.from_dlpack(array)

        with self._on(device):
            states = self._bert.forward(tensor(tensors[IDS]), tensor(lengths), tensor(tensors.get(TYPES)))
            return _device.view(states.contiguous().detach(), device)

    def _on(self, device: Device) -> Any:
        """Return the context in which torch adds its work to ``device.stream``."""
        if self._bert.device.type == "cpu":
            import contextlib

            return contextlib.nullcontext()
        return self._torch.cuda.stream(self._torch.cuda.ExternalStream(device.stream, self._bert.device))

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether torch failed for lack of device memory."""
        from .bert_torch import is_out_of_memory

        return is_out_of_memory(error)

    def trim(self) -> None:
        """Release the device memory that pychunk and torch keep for later calls."""
        super().trim()
        if self._bert.device.type == "cuda":
            self._torch.cuda.empty_cache()


class OnnxDeviceSession(DeviceSession):
    """ONNX Runtime's CUDA provider through IOBinding, with one session for each stream.

    A session can use only one stream.
    """

    runtime = "onnxruntime"
    arithmetic = ""

    def __init__(self, path: Path, placement: ModelPlacement, output: str | None = None) -> None:
        switch_telemetry_off()
        try:
            import onnxruntime as ort
        except ImportError as error:
            raise ImportError(
                'transformers on a GPU need ONNX Runtime for GPUs: pip install "pychunk-native[gpu]", or pip install '
                "torch"
            ) from error
        assert placement.device is not None
        self._ort: Any = ort
        self.device, self._path = placement.device, path
        self.version = f"onnxruntime {ort.__version__}"
        # This loads CUDA's libraries from the wheels that pip installed, if the system has none.
        if hasattr(ort, "preload_dlls"):
            ort.preload_dlls()
        if not _device.emulated() and "CUDAExecutionProvider" not in ort.get_available_providers():
            raise ValueError(
                f"onnxruntime {ort.__version__}, as installed here, runs only on the CPU: pip uninstall onnxruntime "
                "and pip install onnxruntime-gpu, or pass placement=pychunk.Placement(runtime='torch')"
            )
        self._sessions: dict[int, Any] = {}
        self._lock = threading.Lock()
        session = self._session(self.device)

        def kind(value: Any) -> str:
            return str(value.type).removeprefix("tensor(").removesuffix(")")

        self.inputs = roles_of(path, [(each.name, kind(each), len(each.shape)) for each in session.get_inputs()])
        found = [(each.name, kind(each), each.shape) for each in session.get_outputs()]
        shown = [(n, k, len(s), s[-1] if s and isinstance(s[-1], int) else 0) for n, k, s in found]
        self._output, self.rank, self.dim = choose_output(path, shown, output)
        kinds = {name: kind for name, kind, _, _ in shown}
        self._dtype = np.dtype(np.float16 if kinds[self._output] == "float16" else np.float32)

    def _session(self, device: Device) -> Any:
        with self._lock:
            found = self._sessions.get(device.stream)
            if found is None:
                found = self._sessions[device.stream] = self._load(device)
            return found

    def _load(self, device: Device) -> Any:
        options = self._ort.SessionOptions()
        options.log_severity_level = 3
        provider: Any = "CPUExecutionProvider"
        if not _device.emulated():
            settings = {"device_id": str(device.number), "user_compute_stream": str(device.stream), "use_tf32": "0"}
            provider = ("CUDAExecutionProvider", settings)
        try:
            return self._ort.InferenceSession(str(self._path), options, providers=[provider])
        except Exception as error:  # The errors of ONNX Runtime share no better base class.
            reason = str(error).splitlines()[0][:300]
            raise ValueError(
                f"{self._path} cannot be loaded by {self.version} on {device.name} ({reason}); export the model again, "
                "or choose another runtime in pychunk.Placement"
            ) from error

    def run(self, tensors: dict[str, Array], lengths: Array | None, device: Device) -> Array:
        """Return the output that ONNX Runtime computes in ``device.stream``, without waiting."""
        session = self._session(device)
        binding = session.io_binding()
        where = "cpu" if _device.emulated() else "cuda"
        for each in self.inputs:
            array = tensors[each.role]
            binding.bind_input(each.name, where, device.number, each.dtype, array.shape, array.pointer)
        binding.bind_output(self._output, where, device.number)
        options = self._ort.RunOptions()
        options.add_run_config_entry("disable_synchronize_execution_providers", "1")
        session.run_with_iobinding(binding, options)
        out = binding.get_outputs()[0]
        return _device.foreign(out, out.data_ptr(), tuple(out.shape()), self._dtype, device)

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether ONNX Runtime failed for lack of device memory, by the text of its error."""
        if isinstance(error, MemoryError):
            return True
        signs = ("Failed to allocate memory", "out of memory", "CUBLAS_STATUS_ALLOC_FAILED")
        return any(sign in str(error) for sign in signs)
