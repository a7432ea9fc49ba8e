"""An exported transformer, loaded: facts, tokenizer and session of a model directory, and how rows run through it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from . import model_dir, tokens
from .batches import Report, Sink, run_batches
from .runtime import open_session

I64 = npt.NDArray[np.int64]
#: Ids int32[t] of sentences laid end to end, and their offsets int64[n + 1].
Tokens = tuple[npt.NDArray[np.int32], I64]


class Exported:
    """What all exported models share.

    Args:
        path: the directory, as ``pychunk export`` or ``pychunk model get`` write it.
        task: what the model must be for.
        runtime: ``onnxruntime``, or ``openvino`` (faster where the CPU has bfloat16, vectors within 1e-4 in cosine).
        output: name of the output to read, where there is a choice.

    Raises:
        ValueError: a missing, damaged or unsuitable file; the message names it and says what to do.
        ImportError: the runtime is not installed; the message has the command.
    """

    def __init__(self, path: str | Path, task: str, runtime: str, output: str | None = None) -> None:
        self.path, self.runtime = Path(path), runtime
        self.facts = model_dir.read(self.path, task)
        self.tokenizer = tokens.load(self.path / self.facts.tokenizer)
        self.session = open_session(self.path / self.facts.model, runtime, output)

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def fingerprint(self) -> str:
        """Names the model, its exact weights and what runs them; results of equal fingerprint can be compared."""
        own = self.facts.fingerprint
        return own if self.runtime == "onnxruntime" else f"{own}:{self.runtime}"

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
        rows = _native.pair_rows(found, first, second, self.facts.template)
        threads = threads or _native.default_threads()
        run_batches(self.session, rows, sink, threads=threads, report=report, **options)
