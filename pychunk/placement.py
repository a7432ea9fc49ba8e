"""Placement: the device, the threads and the runtime of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .encoders.runtime.placement import ModelPlacement
from .methods.base import check_whole

Runtime = Literal["auto", "onnxruntime", "openvino", "torch"]
Precision = Literal["auto", "fp32", "fp16", "bf16", "mixed"]


@dataclass(frozen=True)
class Placement:
    """The device, threads and runtime of a call. They change its speed; :class:`pychunk.Segmenter` says what else.

    Wherever a call takes a placement, the name of a device alone is one, too: ``placement="cuda"``.

    Attributes:
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``, which raises an error if there is none; ``"auto"``: the CPU. The
            cuts of the static encoder and of vectors that the caller passes are the same on both.
        threads: The threads of a call. Default: the variable ``PYCHUNK_THREADS``, else the CPUs that the process may
            use.
        runtime: The library that runs a transformer: ``"onnxruntime"``, ``"openvino"`` (faster on some CPUs, not bit
            for bit) or ``"torch"``. ``"auto"``: ONNX Runtime; on a GPU torch, if it is installed.
        precision: The type in which ``"torch"`` computes: ``"fp32"``, ``"fp16"``, ``"bf16"``, or on a GPU ``"mixed"``:
            fp16, and fp32 for sentences that decide a cut by less than the errors of fp16. ``"auto"``: mixed on a GPU,
            else fp32.

    Raises:
        ValueError: A value is out of range. Names are checked by the call that uses them, as it opens the device.

    Example:
        >>> import pychunk
        >>> seg = pychunk.Segmenter("sentence", placement=pychunk.Placement(threads=2))
        >>> seg("One. Two.").texts
        ['One.', 'Two.']
    """

    device: str = "auto"
    threads: int | None = None
    runtime: Runtime = "auto"
    precision: Precision = "auto"

    def __post_init__(self) -> None:
        if self.threads is not None:
            check_whole("threads", self.threads, least=1, most=1024)

    @staticmethod
    def of(value: Placement | str | None) -> Placement:
        """Return a placement, from one, from the name of a device, or the default for None.

        Raises:
            TypeError: The value is something else.
            ValueError: The value is a text with an option, such as ``"threads=2"``.
        """
        if isinstance(value, str) and "=" in value:
            raise ValueError(f"placement must be the name of a device or a pychunk.Placement({value}); got {value!r}")
        if value is None or isinstance(value, str):
            return Placement(value or "auto")
        if not isinstance(value, Placement):
            made = f": write pychunk.Placement(**{value!r})" if isinstance(value, dict) else ""
            raise TypeError(f"placement must be a pychunk.Placement or the name of a device; got {value!r}{made}")
        return value

    @property
    def for_models(self) -> ModelPlacement:
        """The placement of models, with ``"auto"`` resolved.

        Raises:
            ValueError: A name is unknown, or the device is not there; the message names the choices.
        """
        return ModelPlacement.of(self.runtime, self.device, self.precision)


#: A placement as calls take it.
PlacementLike = Placement | str
