"""The base class of exported transformers, which loads a model directory and runs rows of tokens through the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from .._engine import native
from .._engine.data.models import Template
from .._engine.data.tokens import Tokens
from .._util.lazy_imports import LazyModule
from .files import model_dir
from .runtime.cpu_batches import Report, Sink, run_batches
from .runtime.device_batches import DeviceSink, Streams, run_device_batches
from .runtime.device_sessions import DeviceSession, open_device_session
from .runtime.placement import ModelPlacement
from .runtime.sessions import Session, open_session

if TYPE_CHECKING:
    from .output_cache import OutputCache

output_cache = LazyModule("pychunk.encoders.output_cache")

I64 = npt.NDArray[np.int64]


class ExportedModel:
    """A model that is loaded from a model directory: its facts, tokenizer and session.

    Args:
        path: The directory, as ``pychunk export`` or ``pychunk model get`` writes it.
        task: The task that the model must be for.
        runtime: ``onnxruntime``, ``openvino`` (faster if the CPU has bfloat16, vectors within 1e-4 in cosine) or
            ``torch``; or a :class:`placement.ModelPlacement`, which also says the device.
        output: Name of the output to read, if the graph has several.
        remedy: The end of errors about files of the directory that are missing or damaged.

    Raises:
        ValueError: A file is missing, damaged or unsuitable. The message names it and says what to do.
        ImportError: The runtime is not installed. The message has the command.
    """

    #: The engine cannot compute such a model itself; a runtime does.
    in_engine: ClassVar[Literal[False]] = False

    def __init__(
        self,
        path: str | Path,
        task: str,
        runtime: str | ModelPlacement,
        output: str | None = None,
        remedy: str = model_dir.REMEDY,
    ) -> None:
        self.path, self.placement = Path(path), ModelPlacement.of(runtime)
        self.facts = model_dir.read(self.path, task, remedy)
        from ..tokenizers.sources import of_model  # imported here because the static encoder does without it

        self.tokenizer = of_model(self.path / self.facts.tokenizer)
        self.template = self._prompted(self.facts.passage_prompt)
        model = self.path / self.facts.model
        self.session: Session | DeviceSession
        if self.placement.device is None:
            self.session = open_session(model, self.placement, output)
            self._lanes = None
        else:
            self.session = open_device_session(model, self.placement, output)
            self._lanes = Streams(self.placement.device)

    def kept(self, width: int) -> OutputCache | None:
        """Return the folder's file of the model's outputs with ``width`` numbers; None if no folder is named.

        Raises:
            ValueError: The width is 0, because the graph does not say it.
        """
        if not self.placement.cache:
            return None
        if not width:
            raise ValueError(
                f"{self.path / self.facts.model} does not say how many classes it has, which cache= needs: export the "
                "model again, or leave cache out"
            )
        # ONNX Runtime and torch choose products by the instruction set, which may differ in the last bits.
        machine = "" if self.placement.precision == "int8" else " ".join(native.available_isas())
        depends = f"{self.facts!r} {self.fingerprint} {self.running} {native.version} {machine}"
        found: OutputCache = output_cache.OutputCache(Path(self.placement.cache), depends, width)
        return found

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.facts.name

    @property
    def fingerprint(self) -> str:
        """The name of the model with hashes of its weights and prompts, and with what else its results depend on.

        Results of models with equal fingerprints can be compared. Those of OpenVINO, and of products in 8 bits, differ
        from all others.
        """
        own = self.facts.fingerprint
        if self.placement.precision == "int8":
            return f"{own}:int8"
        return f"{own}:openvino" if self.placement.runtime == "openvino" else own

    @property
    def tokenizer_name(self) -> str:
        """The name of the tokenizer with a hash of its vocabulary."""
        return f"{self.facts.tokenizer}:{self.facts.tokenizer_sha256[:16]}"

    @property
    def running(self) -> tuple[str, str]:
        """The runtime's version, and the precision that it computes in."""
        return self.session.version, self.session.arithmetic or self.facts.precision

    @property
    def in_doubt(self) -> ModelPlacement | None:
        """The fp32 placement for sentences whose half-precision result is in doubt; None unless precision is mixed."""
        return self.placement.in_doubt

    def run(
        self,
        found: Tokens,
        first: I64,
        second: I64 | None,
        sink: Sink,
        *,
        threads: int | None = None,
        report: Report | None = None,
        **options: Any,
    ) -> None:
        """Run the model on sentences ``first[i]``, or on pairs with ``second[i]``, and pass the outputs to ``sink``.

        See :func:`cpu_batches.run_batches`.
        """
        assert isinstance(self.session, Session)
        rows = native.pair_rows(found, first, second, self.template)
        threads = threads or native.default_threads()
        run_batches(self.session, rows, sink, threads=threads, report=report, **options)

    def run_on_device(
        self,
        found: Tokens,
        first: I64,
        second: I64 | None,
        sink: DeviceSink,
        *,
        threads: int | None = None,
        report: Report | None = None,
        **options: Any,
    ) -> I64:
        """Run the model as :meth:`run` does, but on a GPU and without waiting for it.

        See :func:`device_batches.run_device_batches`.
        """
        assert isinstance(self.session, DeviceSession)
        assert self._lanes is not None
        rows = native.pair_rows(found, first, second, self.template)
        threads, pairs = threads or native.default_threads(), second is not None
        return run_device_batches(
            self.session, rows, sink, self._lanes, pairs=pairs, threads=threads, report=report, **options
        )

    def _prompted(self, prompt: str) -> Template:
        """Return the template for texts that follow a prompt; the prompt's tokens become part of its prefix.

        Raises:
            ValueError: The prompt leaves no room for a text.
        """
        plain = self.facts.template
        if not prompt:
            return plain
        text = np.frombuffer(prompt.encode(), np.uint8)
        own = self.tokens_of(text, np.array([0, len(text)], np.int64)).ids.tolist()
        around = len(plain.prefix) + len(own) + len(plain.suffix)
        if around >= plain.max_length:
            raise ValueError(
                f"{self.path}: the prompt {prompt!r:.60} takes {around} tokens, which leaves no room for a text in the "
                f"{plain.max_length} that the model reads: export the model with a shorter prompt"
            )
        return replace(plain, prefix=(*plain.prefix, *own))

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int | None = None) -> Tokens:
        """Return the tokens of the consecutive spans ``text[bounds[i]:bounds[i + 1]]``."""
        return self.tokenizer.tokens_of(text, bounds, threads or native.default_threads())
