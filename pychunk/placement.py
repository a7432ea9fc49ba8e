"""Placement: the device, the threads and the runtime of a call."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .encoders.runtime.placement import ModelPlacement
from .methods.base import check_whole

Runtime = Literal["auto", "onnxruntime", "openvino", "torch"]
Precision = Literal["auto", "fp32", "fp16", "bf16", "mixed", "int8"]


@dataclass(frozen=True)
class Placement:
    """The device, threads and runtime of a call, on which its speed depends.

    Where a call takes a placement, the name of a device alone is enough: ``placement="cuda"``.

    Attributes:
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``. If there is no such GPU, the call raises an error. ``"auto"`` is
            the CPU. With the static encoder, or with vectors that the caller passes, CPU and GPU make the same cuts.
        threads: The number of threads of a call. Default: the variable ``PYCHUNK_THREADS``, else the number of CPUs
            that the process may use.
        runtime: The library that runs a transformer: ``"onnxruntime"``, ``"openvino"`` (faster on some CPUs, but its
            vectors differ in the last bits) or ``"torch"``. ``"auto"``: ONNX Runtime, or on a GPU torch, if it is
            installed.
        precision: The type in which ``"torch"`` computes: ``"fp32"``, ``"fp16"``, ``"bf16"``, or on a GPU ``"mixed"``.
            Mixed is fp16, but fp32 for sentences for which the errors of fp16 could change a cut. ``"int8"``: products
            of bytes, computed on the CPU by pychunk itself, if the model is a BERT. ``"auto"``: mixed on a GPU, else
            fp32.
        cache: A folder in which the vectors and scores of transformers stay, so that later runs and other processes
            need not compute them again. A file for each model, runtime and precision grows to some 4 GB; then the
            oldest are dropped. Vectors of late chunking are not kept.

    Raises:
        ValueError: A value is out of range. The names are checked later, when a call opens the device.

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
    cache: str | Path | None = None

    def __post_init__(self) -> None:
        if self.threads is not None:
            check_whole("threads", self.threads, least=1, most=1024)
        if self.cache is not None:
            if not isinstance(self.cache, (str, Path)) or not str(self.cache).strip():
                raise ValueError(f"cache must be the path of a folder; got {self.cache!r:.80}")
            object.__setattr__(self, "cache", Path(self.cache).expanduser().absolute())

    @staticmethod
    def of(value: Placement | str | None) -> Placement:
        """Return the placement for an argument: a Placement unchanged, a device by its name, or the default for None.

        Raises:
            TypeError: The value is neither a placement nor a string nor None.
            ValueError: The value is a string with an option, such as ``"threads=2"``.
        """
        if isinstance(value, str) and "=" in value:
            raise ValueError(
                f"placement must be the name of a device or a pychunk.Placement({value}); got {value!r:.80}"
            )
        if value is None or isinstance(value, str):
            return Placement(value or "auto")
        if not isinstance(value, Placement):
            made = f": write pychunk.Placement(**{value!r})" if isinstance(value, dict) else ""
            raise TypeError(f"placement must be a pychunk.Placement or the name of a device; got {value!r:.80}{made}")
        return value

    @property
    def for_models(self) -> ModelPlacement:
        """The placement of models, with ``"auto"`` resolved.

        Raises:
            ValueError: A name is unknown, or there is no such device; the message names the choices.
        """
        return ModelPlacement.of(self.runtime, self.device, self.precision, str(self.cache or ""))


#: The types of the argument ``placement`` of calls.
PlacementLike = Placement | str
