"""What a GPU computes for the engine before it cuts: scores of the sentences, and of their vectors what is wanted.

Vectors stay in the device's memory unless the table holds them; scores are 9 bytes a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import _device, _native, doubt
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

    #: Table, ids and their offsets, of which a kernel makes vectors.
    Bag = tuple[Array, Array, Array]

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


@dataclass(frozen=True)
class Scores:
    """Cosines to the next sentence; and of pic those to the summary, labels, and which were nearly chosen for it."""

    adjacent: F32
    to_summary: F32 | None = None
    labels: npt.NDArray[np.int8] | None = None
    close: npt.NDArray[np.int8] | None = None


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
        request, documents = prepared.request, prepared.sentences.documents
        vectors, bag = self._vectors(prepared, report)
        scores = self._scores(prepared, vectors, bag, engine)
        if isinstance(self.cutter, OnnxEncoder) and self.cutter.placement.in_doubt and prepared.tokens is not None:
            scores = self._without_doubt(prepared, vectors, scores, engine)
        first, pair_offsets = neighbours(documents)
        if scores.to_summary is not None and scores.labels is not None:
            request = replace(request, summary_scores=(scores.to_summary, scores.labels, documents))
        request = replace(request, pair_scores=(scores.adjacent[first], pair_offsets), summaries=None)
        if self.wants_vectors and request.vectors is None:
            own = (_device.to_host(vectors, self.device), documents)
            request = replace(request, vectors=own, vectors_of_table=isinstance(self.cutter, StaticEncoder))
        return request

    def _scores(self, prepared: Prepared, vectors: Array, bag: Bag | None, engine: Any) -> Scores:
        """Scores of the sentences by the device, in host memory."""
        device, documents, request = self.device, prepared.sentences.documents, prepared.request
        if self.plan.method != "pic":
            if bag is not None:
                table, ids, id_offsets = bag
                _device.bags(table, ids, id_offsets, vectors, device)
            adjacent = _device.to_host(_device.adjacent(vectors, device), device)
            _check_finite(adjacent, documents, request)
            return Scores(adjacent)
        found = _device.pic(
            vectors,
            documents,
            device,
            summary=self.plan.summary,
            given=self._given(request, engine),
            lead=_lead(prepared.sentences) if self.plan.summary == "lead" else None,
            k=self.plan.k,
            margin=doubt.SCORE_ERROR,
            bag=bag,
        )
        to_summary = _device.to_host(found.scores, device)
        _check_finite(to_summary, documents, request)
        labels, close = (_device.to_host(part, device) for part in (found.labels, found.close))
        return Scores(_device.to_host(found.adjacent, device), to_summary, labels, close)

    def _without_doubt(self, prepared: Prepared, vectors: Array, scores: Scores, engine: Any) -> Scores:
        """The scores after what half precision left in doubt was encoded again in fp32; see :mod:`doubt`."""
        documents, request = prepared.sentences.documents, prepared.request
        assert isinstance(self.cutter, OnnxEncoder)
        assert prepared.tokens is not None
        known = np.zeros(int(documents[-1]), np.bool_)
        for margin in (doubt.SCORE_ERROR, doubt.THRESHOLD_ERROR):
            doubtful = self._doubtful(scores, documents, margin, request.threads)
            if margin == doubt.THRESHOLD_ERROR:
                doubtful = doubt.whole_documents(doubtful, documents)
            rows = np.flatnonzero(doubtful & ~known)
            if len(rows) == 0:
                continue
            self.cutter.encode_again(prepared.tokens, rows, vectors, threads=request.threads)
            scores = self._scores(prepared, vectors, None, engine)
            known[rows] = True
        return scores

    def _doubtful(self, scores: Scores, documents: I64, margin: float, threads: int) -> npt.NDArray[np.bool_]:
        """bool[n] of the sentences that may decide a cut, or the choice of an extractive summary."""
        if scores.to_summary is None:
            first, offsets = neighbours(documents)
            own = scores.adjacent[first]
            thresholds = _native.thresholds(self.plan, own, offsets, threads=threads)
            return doubt.sentences_near(own, thresholds, documents, margin, pairs=True)
        thresholds = _native.thresholds(self.plan, scores.to_summary, documents, threads=threads)
        found = doubt.sentences_near(scores.to_summary, thresholds, documents, margin, pairs=False)
        if self.plan.summary == "extractive" and margin == doubt.SCORE_ERROR:
            found |= scores.close == 1
        return found

    def _vectors(self, prepared: Prepared, report: Any) -> tuple[Array, Bag | None]:
        """Vectors on the device; of the static encoder memory for them, and what kernels make them from."""
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
        return vectors, (self._table, ids, id_offsets)

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
