"""What runs transformers, and where: a runtime, a device and the precision of its arithmetic."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from .._device import Device, emulated, open_device

RUNTIMES = ("auto", "onnxruntime", "openvino", "torch")


@dataclass(frozen=True)
class Placement:
    """One runtime on one device; ``device`` None is the CPU, ``precision`` empty what the model is stored in."""

    runtime: str = "onnxruntime"
    device: Device | None = None
    precision: str = ""

    @staticmethod
    def of(runtime: str | Placement = "auto", device: str = "auto", precision: str = "auto") -> Placement:
        """Checked, with "auto" resolved: ONNX Runtime on the CPU; on a GPU torch in fp16, else ONNX Runtime.

        Raises:
            ValueError: an unknown name, or a device that is not there; the message names the choices.
        """
        if isinstance(runtime, Placement):
            return runtime
        if runtime not in RUNTIMES:
            raise ValueError(f"runtime must be one of {', '.join(RUNTIMES)}; got {runtime!r}")
        if precision not in ("auto", "fp32", "fp16", "bf16"):
            raise ValueError(f"precision must be one of auto, fp32, fp16, bf16; got {precision!r}")
        on_gpu = None if device in ("auto", "cpu") else open_device(device)
        if runtime == "auto":
            torch = on_gpu is not None and importlib.util.find_spec("torch") is not None
            runtime = "torch" if torch else "onnxruntime"
        if on_gpu is not None and runtime == "openvino":
            raise ValueError(f"runtime='openvino' runs on the CPU; device={device!r} takes torch or onnxruntime")
        if precision == "auto":
            half = runtime == "torch" and on_gpu is not None
            precision = "fp16" if half else "fp32" if runtime == "torch" else ""
        elif runtime != "torch":
            raise ValueError(
                f"precision={precision!r} is for runtime='torch'; {runtime} computes in what the model is stored in "
                "(pychunk export --precision)"
            )
        return Placement(runtime, on_gpu, precision)

    @property
    def torch_device(self) -> str:
        """What torch calls the device."""
        return self.device.name if self.device is not None and not emulated() else "cpu"


#: ONNX Runtime on the CPU.
CPU = Placement()
