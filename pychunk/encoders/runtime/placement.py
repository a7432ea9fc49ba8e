"""What runs transformers, and where: a runtime, a device and the precision of its arithmetic."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace

from ..._engine.device import Device, emulated, open_device

RUNTIMES = ("auto", "onnxruntime", "openvino", "torch")
#: "mixed": fp16, and fp32 for the sentences that it leaves in doubt (see pychunk.doubt).
PRECISIONS = ("auto", "fp32", "fp16", "bf16", "mixed")


@dataclass(frozen=True)
class Placement:
    """One runtime on one device; ``device`` None is the CPU, ``precision`` empty what the model is stored in."""

    runtime: str = "onnxruntime"
    device: Device | None = None
    precision: str = ""

    @staticmethod
    def of(runtime: str | Placement = "auto", device: str = "auto", precision: str = "auto") -> Placement:
        """Checked, with "auto" resolved: ONNX Runtime on the CPU; on a GPU torch, mixed, else ONNX Runtime.

        Raises:
            ValueError: an unknown name, or a device that is not there; the message names the choices.
        """
        if isinstance(runtime, Placement):
            return runtime
        if runtime not in RUNTIMES:
            raise ValueError(f"runtime must be one of {', '.join(RUNTIMES)}; got {runtime!r}")
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}; got {precision!r}")
        on_gpu = None if device in ("auto", "cpu") else open_device(device)
        if runtime == "auto":
            torch = on_gpu is not None and importlib.util.find_spec("torch") is not None
            runtime = "torch" if torch else "onnxruntime"
        if on_gpu is not None and runtime == "openvino":
            raise ValueError(f"runtime='openvino' runs on the CPU; device={device!r} takes torch or onnxruntime")
        if precision == "auto":
            on_torch = "mixed" if on_gpu is not None else "fp32"
            precision = on_torch if runtime == "torch" else ""
        elif runtime != "torch":
            raise ValueError(
                f"precision={precision!r} is for runtime='torch'; {runtime} computes in what the model is stored in "
                "(pychunk export --fp16, or --bits 8)"
            )
        if precision == "mixed" and on_gpu is None:
            raise ValueError("precision='mixed' is for a GPU; on the CPU pass fp32")
        return Placement(runtime, on_gpu, precision)

    @property
    def in_doubt(self) -> Placement | None:
        """Where sentences run again that half precision leaves in doubt; None where nothing does."""
        return replace(self, precision="fp32") if self.precision == "mixed" else None

    @property
    def torch_device(self) -> str:
        """What torch calls the device."""
        return self.device.name if self.device is not None and not emulated() else "cpu"


#: ONNX Runtime on the CPU.
CPU = Placement()
