"""The encoder for any exported transformer."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import device as _device
from .._engine import native
from .._engine.arrow import flat_text
from .._engine.data.tokens import Tokens
from .._engine.device import Device
from .exported_models import I64, ExportedModel
from .files.model_dir import FACTS
from .model_cache import loaded
from .runtime.placement import ModelPlacement
from .token_windows import many, windows

if TYPE_CHECKING:
    from .._cuda import Array

F32 = npt.NDArray[np.float32]


class TransformerEncoder(ExportedModel):
    """A model directory (``model.onnx``, a tokenizer, ``pychunk.json``) as an encoder of sentences.

    For the arguments and errors see :class:`exported_models.ExportedModel`.

    Example:
        >>> encoder = TransformerEncoder("minilm/")  # doctest: +SKIP
        >>> encoder.encode(["A sentence."]).shape  # doctest: +SKIP
        (1, 384)
    """

    def __init__(self, path: str | Path, *, runtime: str | ModelPlacement = "onnxruntime") -> None:
        super().__init__(path, "vectors", runtime)
        wanted = 2 if self.facts.pooling == "none" else 3
        if self.session.rank != wanted:
            raise ValueError(
                f"{self.path / self.facts.model}: pooling {self.facts.pooling!r} needs an output of {wanted} "
                f"dimensions; got {self.session.rank}: export the model again"
            )
        self._kept = self.kept(self.facts.dim)

    @property
    def dim(self) -> int:
        """The number of dimensions of a vector."""
        return self.facts.dim

    def encode(self, texts: Sequence[str] | pa.Array, **options: Any) -> F32:
        """Return vectors float32[n, dim] of n texts, reading long ones in windows.

        See :meth:`encode_spans`.
        """
        array = texts if isinstance(texts, pa.Array) else pa.array(list(texts), pa.large_string())
        return self.encode_spans(*flat_text(array.cast(pa.large_string())), **options)

    def encode_queries(self, texts: Sequence[str] | pa.Array, **options: Any) -> F32:
        """Return the vectors of questions. The model reads its prompt for questions, if it has one, before each."""
        if self.facts.query_prompt == self.facts.passage_prompt:
            return self.encode(texts, **options)
        asking = copy.copy(self)  # It shares the session.
        asking.template = self._prompted(self.facts.query_prompt)
        return asking.encode(texts, **options)

    def encode_spans(self, text: npt.NDArray[np.uint8], bounds: I64, **options: Any) -> F32:
        """Return vectors float32[n, dim] of the consecutive spans ``text[bounds[i]:bounds[i + 1]]`` of UTF-8.

        Options are ``threads``, ``report`` (a function of the tokens done and the total) and ``batch_tokens``.
        """
        return self.encode_tokens(self.tokens_of(text, bounds, options.get("threads")), **options)

    def encode_beginnings(self, text: npt.NDArray[np.uint8], bounds: I64) -> F32:
        """Return vectors float32[n, dim] of the first :attr:`room` tokens of each span; other packages read no more."""
        found = self.tokens_of(text, bounds)
        return self.encode_tokens(_beginnings(found, np.arange(len(found.counts)), self.room))

    @property
    def room(self) -> int:
        """The most tokens of a text that the model reads at once, without the special tokens around the text."""
        return self.template.max_length - len(self.template.prefix) - len(self.template.suffix)

    def windowed(self, found: Tokens) -> int:
        """Return the number of sentences that are read in windows."""
        return many(found, self.room)

    def encode_tokens(self, found: Tokens, **options: Any) -> F32:
        """Return vectors float32[n, dim] of sentences that are already tokenized.

        A sentence of more than :attr:`room` tokens is read in windows. Its vector is the mean of the windows' vectors,
        weighted by their numbers of tokens.
        """
        if (parts := windows(found, self.room)) is not None:
            return parts.pooled(self.encode_tokens(parts.tokens, **options), self.facts.normalize)
        if self.placement.device is not None:
            vectors = self.encode_tokens_on_device(found, **options)
            return np.asarray(_device.to_host(vectors, self.placement.device), np.float32)
        if self._kept is not None:
            rows, all_ids = np.arange(len(found.counts)), len(found.ids)
            return self._kept.outputs(
                self._kept.keys(found, self.template.prefix, rows),
                lambda missing, report: self._encode_tokens(
                    _beginnings(found, missing, all_ids), **{**options, "report": report}
                ),
                options.get("report"),
            )
        return self._encode_tokens(found, **options)

    def _encode_tokens(self, found: Tokens, **options: Any) -> F32:
        """Return the vectors of sentences without windows, computed on the CPU."""
        out = np.zeros((len(found.counts), self.dim), np.float32)
        pooled, unit = self.facts.pooling == "none", self.facts.normalize

        def pool(states: npt.NDArray[Any], chosen: I64, lengths: I64) -> None:
            if pooled:
                out[chosen] = states
            else:
                native.pool(states, chosen, lengths, out, pooling=self.facts.pooling, unit=unit)

        self.run(found, np.arange(len(out)), None, pool, **options)
        return native.normalized_rows(out)[0] if pooled and unit else out

    def encode_tokens_on_device(self, found: Tokens, **options: Any) -> Array:
        """Compute vectors float32[n, dim] of tokenized sentences in the device's stream, and return without waiting."""
        device = self.placement.device
        assert device is not None
        out = _device.empty((len(found.counts), self.dim), np.float32, device)
        self._encode_rows(found, np.arange(len(out)), out, **options)
        return out

    def encode_again(self, found: Tokens, rows: I64, vectors: Array, **options: Any) -> None:
        """Replace the half-precision vectors of the sentences ``rows`` by vectors computed in float32."""
        exact = self.placement.in_doubt
        assert exact is not None
        same = load(self.path, exact)
        if same.facts != self.facts:
            raise ValueError(
                f"{self.path} holds another model than when it was loaded: load it again, with a new Segmenter or Index"
            )
        same._encode_rows(found, rows, vectors, **options)

    def _encode_rows(self, found: Tokens, rows: I64, out: Array, **options: Any) -> None:
        """Compute the vectors of the sentences ``rows`` and write them to the same rows of ``out``.

        The windows of sentences with over :attr:`room` tokens are pooled on the host, which waits for them.
        """
        sizes = np.diff(found.offsets)[rows]
        long, rows = rows[sizes > self.room], rows[sizes <= self.room]
        if len(long):
            device = self.placement.device
            assert device is not None
            own = self.encode_tokens(_beginnings(found, long, len(found.ids)), **options)
            states = _device.to_device(own[:, None], device)
            ones = _device.to_device(np.ones(len(long), np.int32), device)
            chosen = _device.to_device(long, device)
            _device.pool(states, ones, out, device, chosen=chosen, pooling="mean", unit=False)
        pooled, unit = self.facts.pooling == "none", self.facts.normalize
        pooling = "mean" if pooled else self.facts.pooling

        def pool(states: Array, part: slice, chosen: Array, lengths: Array, lane: Device) -> None:
            rows = part.stop - part.start
            if pooled:  # Each text has one row with a single state.
                states = _device.part(states, 0, (rows, 1, self.dim), lane)
                lengths = _device.to_device(np.ones(rows, np.int32), lane)
            _device.pool(states, lengths, out, lane, chosen=chosen, pooling=pooling, unit=unit)

        self.run_on_device(found, rows, None, pool, destinations=rows, **options)


def _beginnings(found: Tokens, rows: I64, most: int) -> Tokens:
    """Return the first tokens of the sentences ``rows``, at most ``most`` of each."""
    sizes = np.minimum(np.diff(found.offsets)[rows], most)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    ids = found.ids[np.arange(offsets[-1]) + np.repeat(found.offsets[rows] - offsets[:-1], sizes)]
    return Tokens(ids, offsets, sizes)


def load(path: str | Path, runtime: str | ModelPlacement = "onnxruntime") -> TransformerEncoder:
    """Return the encoder in a directory, loaded once for each placement."""
    placement = ModelPlacement.of(runtime)
    return loaded(path, FACTS, lambda: TransformerEncoder(path, runtime=placement), TransformerEncoder, placement)
