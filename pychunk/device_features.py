"""What a GPU computes for the engine before it cuts: scores of the sentences, and of their vectors what is wanted.

Vectors stay in the device's memory unless the table holds them; scores are 9 bytes a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import _device
from ._arrow import flat_text
from ._device import Device
from .encoders.onnx import OnnxEncoder
from .encoders.static import StaticEncoder
from .encoders.tokens import Tokens
from .plan import Plan, Request
from .sentences import Sentences, neighbours

if TYPE_CHECKING:
    from ._cuda import Array
    from .encoders.registry import VectorEncoder

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
#: Flag of a sentence that begins a paragraph (SentenceFlag in csrc/text.h).
_PARAGRAPH_START = 1


def scores_on_device(plan: Plan) -> bool:
    """Whether a GPU computes all that this plan cuts by; else vectors come back and the CPU computes the rest."""
    if plan.method == "pic":
        return plan.summary in ("extractive", "mean", "lead", "given")
    return plan.method == "semantic" and plan.window == 1


@dataclass(frozen=True)
class Prepared:
    """A request with its sentences and their tokens: what threads make while the device is at another one."""

    request: Request
    sentences: Sentences
    tokens: Tokens | None


class DeviceScorer:
    """Scores requests of one plan on one device."""

    def __init__(self, plan: Plan, device: Device, cutter: VectorEncoder, *, wants_vectors: bool) -> None:
        self.plan, self.device, self.cutter, self.wants_vectors = plan, device, cutter, wants_vectors
        self._table: Array | None = None

    def prepare(self, request: Request, engine: Any) -> Prepared:
        """Sentences of the request and their tokens."""
        sentences = Sentences.of(request, engine)
        if request.vectors is not None:
            return Prepared(request, sentences, None)
        return Prepared(request, sentences, self.cutter.tokens_of(request.text, sentences.bounds, request.threads))

    def score(self, prepared: Prepared, engine: Any, report: Any = None) -> Request:
        """The request with what the plan cuts by, and with the vectors if they are wanted."""
        request, sentences = prepared.request, prepared.sentences
        documents = sentences.documents
        device = self.device
        if self.plan.method == "pic":
            vectors, bag = self._vectors(prepared, report, fuse=True)
            found = _device.pic(
                vectors,
                documents,
                device,
                summary=self.plan.summary,
                given=self._given(request, engine),
                lead=_lead(sentences) if self.plan.summary == "lead" else None,
                k=self.plan.k,
                bag=bag,
            )
            scores = _device.to_host(found.scores, device)
            _check_finite(scores, documents, request)
            labels = _device.to_host(found.labels, device)
            adjacent = _device.to_host(found.adjacent, device)
            request = replace(request, summary_scores=(scores, labels, documents))
        else:
            vectors, _ = self._vectors(prepared, report, fuse=False)
            adjacent = _device.to_host(_device.adjacent(vectors, device), device)
            _check_finite(adjacent, documents, request)
        first, pair_offsets = neighbours(documents)
        request = replace(request, pair_scores=(adjacent[first], pair_offsets), summaries=None)
        if self.wants_vectors and request.vectors is None:
            of_table = isinstance(self.cutter, StaticEncoder)
            own = (_device.to_host(vectors, device), documents)
            request = replace(request, vectors=own, vectors_of_table=of_table)
        return request

    def _vectors(
        self, prepared: Prepared, report: Any, *, fuse: bool
    ) -> tuple[Array, tuple[Array, Array, Array] | None]:
        """Vectors on the device; with ``fuse`` memory for them, and what :func:`_device.pic` makes them from."""
        request, device = prepared.request, self.device
        if request.vectors is not None:
            matrix, offsets = request.vectors
            return _device.to_device(matrix[offsets[0] : offsets[-1]], device), None
        assert prepared.tokens is not None
        if isinstance(self.cutter, OnnxEncoder):
            vectors = self.cutter.encode_tokens_on_device(prepared.tokens, threads=request.threads, report=report)
            return vectors, None
        if self._table is None:
            self._table = _device.to_device(self.cutter.table, device)
        ids, id_offsets = (_device.to_device(part, device) for part in prepared.tokens)
        vectors = _device.empty((len(prepared.tokens[1]) - 1, self.cutter.dim), np.float32, device)
        if fuse:
            return vectors, (self._table, ids, id_offsets)
        _device.bags(self._table, ids, id_offsets, vectors, device)
        return vectors, None

    def _given(self, request: Request, engine: Any) -> Array | None:
        """Vectors of given summaries, float32[k, dim]."""
        given = request.summaries
        if self.plan.summary != "given" or given is None:
            return None
        if isinstance(given, pa.Array):
            if isinstance(self.cutter, OnnxEncoder):
                given = self.cutter.encode(given, threads=request.threads)
            else:
                given = engine.encode_static(*flat_text(given), self.cutter, threads=request.threads)
        return _device.to_device(np.asarray(given, np.float32), self.device)


def _lead(sentences: Sentences) -> npt.NDArray[np.int32]:
    """Sentences of the first paragraph of each document, int32[k]."""
    starts = np.flatnonzero(sentences.flags & _PARAGRAPH_START)
    begin, end = sentences.documents[:-1], sentences.documents[1:]
    # The first paragraph start after a document's first sentence.
    following = np.append(starts, sentences.documents[-1])[np.searchsorted(starts, begin, side="right")]
    lead: npt.NDArray[np.int32] = (np.minimum(following, end) - begin).astype(np.int32)
    return lead


def _check_finite(scores: F32, documents: I64, request: Request) -> None:
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        row = int(np.searchsorted(documents, bad[0], side="right")) - 1 + request.first_row
        raise ValueError(
            f"document {row}: a sentence has a vector that is not finite; in fp16 a model may overflow: pass "
            "precision='bf16' or 'fp32'"
        )
