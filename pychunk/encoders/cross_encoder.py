"""Exported cross-encoders, which score whether a sentence follows another, or how well a passage answers a question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._engine import device as _device
from .._engine import native
from .._engine.data.tokens import Tokens
from .._engine.device import Device
from .exported_models import I64, ExportedModel
from .files.model_dir import FACTS, REMEDY
from .model_cache import loaded
from .runtime.cpu_batches import Sink
from .runtime.placement import ModelPlacement

if TYPE_CHECKING:
    from .._cuda import Array

F32 = npt.NDArray[np.float32]


class PairScorer(ExportedModel):
    """A model directory with a head that reads two texts together.

    With ``task="pairs"`` it computes how likely one sentence follows another (Devlin et al., 2019). The head is the
    next-sentence head in a checkpoint's weights (``pychunk export --task pairs``). With ``"relevance"`` it computes how
    well a passage answers a question; any ``...ForSequenceClassification`` has such a head. For the other arguments and
    the errors see :class:`exported_models.ExportedModel`.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        runtime: str | ModelPlacement = "onnxruntime",
        task: str = "pairs",
        remedy: str = REMEDY,
    ) -> None:
        super().__init__(path, task, runtime, "logits", remedy)
        if self.session.rank != 2:
            raise ValueError(
                f"{self.path / self.facts.model} has no logits [pairs, classes], but an output of "
                f"{self.session.rank} dimensions; export the model again, with a head for {task}"
            )
        self._kept = self.kept(self.session.dim or 0)

    @property
    def threshold(self) -> float | None:
        """The threshold stored with the model.

        For the shipped model it was fitted on training articles; for an exported head it is 0.5.
        """
        return self.facts.threshold

    def logits(self, text: npt.NDArray[np.uint8], bounds: I64, first: I64, second: I64, **options: Any) -> F32:
        """Return logits float32[p, classes] for the p pairs of spans ``first[i]`` and ``second[i]``.

        Span j is ``text[bounds[j]:bounds[j + 1]]``, and is tokenized once, however many pairs contain it. Options are
        ``threads``, ``report`` (a function of the tokens done and the total) and ``batch_tokens``.
        """
        return self._logits(self.tokens_of(text, bounds, options.get("threads")), first, second, **options)

    def _logits(self, found: Tokens, first: I64, second: I64, **options: Any) -> F32:
        """Return the logits of pairs of tokenized sentences, those that are kept or else computed."""
        if self._kept is None:
            return self._computed(found, first, second, **options)
        return self._kept.outputs(
            self._kept.keys(found, self.template.prefix, first, second),
            lambda rows, report: self._computed(found, first[rows], second[rows], **{**options, "report": report}),
            options.get("report"),
        )

    def _computed(self, found: Tokens, first: I64, second: I64, **options: Any) -> F32:
        out = np.zeros((len(first), self.session.dim or 2), np.float32)

        def take(logits: npt.NDArray[Any], chosen: I64, _: I64) -> None:
            out[chosen] = logits

        self._each(found, first, second, take, **options)
        return out

    def _each(self, found: Tokens, first: I64, second: I64, sink: Sink, **options: Any) -> None:
        """Call ``sink`` with logits and the numbers of their pairs, batch by batch.

        On a GPU the calls come after all batches have run.
        """
        device = self.placement.device
        if device is None:
            self.run(found, first, second, sink, **options)
            return
        kept: list[tuple[slice, npt.NDArray[Any]]] = []

        def take(logits: Array, part: slice, chosen: Array, lengths: Array, lane: Device) -> None:
            kept.append((part, _device.to_host(logits, lane, _device.pinned(logits.shape, logits.dtype), wait=False)))

        order = self.run_on_device(found, first, second, take, **options)
        _device.synchronize(device)
        for part, logits in kept:
            sink(logits, order[part], order)

    def probabilities(self, text: npt.NDArray[np.uint8], bounds: I64, first: I64, second: I64, **options: Any) -> F32:
        """Return probabilities float32[p] that span ``second[i]`` follows span ``first[i]``.

        See :meth:`logits`.
        """
        return self.of_tokens(self.tokens_of(text, bounds, options.get("threads")), first, second, **options)

    def of_tokens(self, found: Tokens, first: I64, second: I64, **options: Any) -> F32:
        """Return the probabilities of :meth:`probabilities` for sentences that are already tokenized."""
        out = np.zeros(len(first), np.float32)
        if self._kept is not None:
            logits = self._logits(found, first, second, **options)
            native.class_probability(logits, np.arange(len(out)), self.facts.positive, out)
            return out

        def take(logits: npt.NDArray[Any], chosen: I64, _: I64) -> None:
            native.class_probability(logits, chosen, self.facts.positive, out)

        self._each(found, first, second, take, **options)
        return out


def load(
    path: str | Path, runtime: str | ModelPlacement = "onnxruntime", task: str = "pairs", remedy: str = REMEDY
) -> PairScorer:
    """Return the scorer in a directory, loaded once for each placement."""
    placement = ModelPlacement.of(runtime)

    def make() -> PairScorer:
        return PairScorer(path, runtime=placement, task=task, remedy=remedy)

    return loaded(path, FACTS, make, PairScorer, placement, task)
