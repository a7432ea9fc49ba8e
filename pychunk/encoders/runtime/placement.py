"""The placement of transformers: a runtime, a device and the precision of its arithmetic."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace

from ..._engine.device import Device, emulated, open_device

RUNTIMES = ("auto", "onnxruntime", "openvino", "torch")
#: "mixed" is fp16, and fp32 for the sentences that fp16 leaves in doubt (see pychunk/features/fp16_recheck.py). "int8"
#: is computed by pychunk itself.
PRECISIONS = ("auto", "fp32", "fp16", "bf16", "mixed", "int8")


@dataclass(frozen=True)
class ModelPlacement:
    """A runtime on a device.

    ``device`` None is the CPU. An empty ``precision`` means the precision of the stored model. ``cache`` is the folder
    that keeps outputs; none if it is empty.
    """

    runtime: str = "onnxruntime"
    device: Device | None = None
    precision: str = ""
    cache: str = ""

    @staticmethod
    def of(
        runtime: str | ModelPlacement = "auto", device: str = "auto", precision: str = "auto", cache: str = ""
    ) -> ModelPlacement:
        """Check a placement and replace "auto" by a choice.

        The default device is the CPU. "auto" is ONNX Runtime on the CPU. On a GPU it is torch with precision "mixed",
        or ONNX Runtime if torch is not installed.

        Raises:
            ValueError: A name is unknown, or the device does not exist. The message lists the choices.
        """
        if isinstance(runtime, ModelPlacement):
            return runtime
        if runtime not in RUNTIMES:
            raise ValueError(f"runtime must be one of {', '.join(RUNTIMES)}; got {runtime!r:.80}")
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}; got {precision!r:.80}")
        on_gpu = None if device in ("auto", "cpu") else open_device(device)
        if cache and on_gpu is not None:
            raise ValueError(f"cache={cache!r:.80} keeps what the CPU computes; got device={device!r}: leave one out")
        if precision == "int8":
            if on_gpu is not None or runtime != "auto":
                given = f"device={device!r}" if on_gpu is not None else f"runtime={runtime!r}"
                raise ValueError(
                    f"precision='int8' is computed on the CPU by pychunk itself; got {given}: leave it out, or choose "
                    "another precision"
                )
            return ModelPlacement("pychunk", None, precision, cache)
        if runtime == "auto":
            torch = on_gpu is not None and importlib.util.find_spec("torch") is not None
            runtime = "torch" if torch else "onnxruntime"
        if on_gpu is not None and runtime == "openvino":
            raise ValueError(
                f"runtime='openvino' runs only on the CPU; for device={device!r} pass torch or onnxruntime"
            )
        if precision == "auto":
            on_torch = "mixed" if on_gpu is not None else "fp32"
            precision = on_torch if runtime == "torch" else ""
        elif runtime != "torch":
            raise ValueError(
                f"precision={precision!r} is for runtime='torch'; {runtime} computes in the precision of the stored "
                "model (pychunk export --fp16, or --bits 8)"
            )
        if precision == "mixed" and on_gpu is None:
            raise ValueError("precision='mixed' is for a GPU; on the CPU pass fp32")
        return ModelPlacement(runtime, on_gpu, precision, cache)

    @property
    def in_doubt(self) -> ModelPlacement | None:
        """The fp32 placement for sentences whose half-precision result is in doubt; None unless precision is mixed."""
        return replace(self, precision="fp32") if self.precision == "mixed" else None

    @property
    def torch_device(self) -> str:
        """The name of the device in torch."""
        return self.device.name if self.device is not None and not emulated() else "cpu"


#: The placement of ONNX Runtime on the CPU.
CPU = ModelPlacement()
