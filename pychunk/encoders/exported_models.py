"""An exported transformer, loaded: facts, tokenizer and session of a model directory, and how rows run through it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from .._engine import native
from .._engine.data.models import Template
from .._engine.data.tokens import Tokens
from . import token_ids
from .files import model_dir
from .runtime.cpu_batches import Report, Sink, run_batches
from .runtime.device_batches import DeviceSink, Streams, run_device_batches
from .runtime.device_sessions import DeviceSession, open_device_session
from .runtime.placement import Placement
from .runtime.sessions import Session, open_session

I64 = npt.NDArray[np.int64]


class ExportedModel:
    """What all exported models share.

    Args:
        path: the directory, as ``pychunk export`` or ``pychunk model get`` write it.
        task: what the model must be for.
        runtime: ``onnxruntime``, ``openvino`` (faster where the CPU has bfloat16, vectors within 1e-4 in cosine) or
            ``torch``; or a :class:`placement.Placement`, which says the device, too.
        output: name of the output to read, where there is a choice.

    Raises:
        ValueError: a missing, damaged or unsuitable file; the message names it and says what to do.
        ImportError: the runtime is not installed; the message has the command.
    """

    #: The engine cannot compute it in its own call.
    in_engine: ClassVar[Literal[False]] = False

    def __init__(self, path: str | Path, task: str, runtime: str | Placement, output: str | None = None) -> None:
        self.path, self.placement = Path(path), Placement.of(runtime)
        self.facts = model_dir.read(self.path, task)
        self.tokenizer = token_ids.load(self.path / self.facts.tokenizer)
        self.template = self._prompted(self.facts.passage_prompt)
        model = self.path / self.facts.model
        self.session: Session | DeviceSession
        if self.placement.device is None:
            self.session = open_session(model, self.placement, output)
            self._lanes = None
        else:
            self.session = open_device_session(model, self.placement, output)
            self._lanes = Streams(self.placement.device)

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def fingerprint(self) -> str:
        """Names the model, its exact weights and what runs them; results of equal fingerprint can be compared."""
        own = self.facts.fingerprint
        return f"{own}:openvino" if self.placement.runtime == "openvino" else own

    @property
    def tokenizer_name(self) -> str:
        """Names what counts its tokens, and its exact vocabulary."""
        return f"{self.facts.tokenizer}:{self.facts.tokenizer_sha256[:16]}"

    @property
    def running(self) -> tuple[str, str]:
        """The runtime's version, and the precision that it computes in."""
        return self.session.version, self.session.arithmetic or self.facts.precision

    @property
    def in_doubt(self) -> Placement | None:
        """Where sentences run again that half precision leaves in doubt; None where nothing does."""
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
        """Runs sentences ``first[i]``, each with ``second[i]`` where given; see :func:`batches.run_batches`."""
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
        """The same on a GPU, without waiting for it; see :func:`device_batches.run_device_batches`."""
        assert isinstance(self.session, DeviceSession)
        assert self._lanes is not None
        rows = native.pair_rows(found, first, second, self.template)
        threads, pairs = threads or native.default_threads(), second is not None
        return run_device_batches(
            self.session, rows, sink, self._lanes, pairs=pairs, threads=threads, report=report, **options
        )

    def _prompted(self, prompt: str) -> Template:
        """What stands around a text that is read after a prompt, which goes before it by its tokens.

        Raises:
            ValueError: the prompt leaves no room for a text.
        """
        plain = self.facts.template
        if not prompt:
            return plain
        text = np.frombuffer(prompt.encode(), np.uint8)
        own = self.tokens_of(text, np.array([0, len(text)], np.int64)).ids.tolist()
        around = len(plain.prefix) + len(own) + len(plain.suffix)
        if around >= plain.max_length:
            raise ValueError(
                f"{self.path}: the prompt {prompt!r:.60} takes {around} of the {plain.max_length} tokens that the "
                "model reads: export it with a shorter one"
            )
        return replace(plain, prefix=(*plain.prefix, *own))

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int | None = None) -> Tokens:
        """Ids of the consecutive spans ``text[bounds[i]:bounds[i + 1]]``."""
        return self.tokenizer.tokens_of(text, bounds, threads or native.default_threads())
