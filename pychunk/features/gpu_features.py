"""The scores of sentences that a GPU computes before the engine cuts, and the vectors that the table needs.

Vectors stay in the device's memory unless the table holds them. Scores take 9 bytes for each sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from .._engine import device as _device
from .._engine import native
from .._engine.data.cuts import Cuts
from .._engine.data.features import PARAGRAPH_START, Features, neighbours
from .._engine.data.plan import Plan
from .._engine.data.ragged import Ragged, offsets_of
from .._engine.data.request import Request
from .._engine.data.tokens import Tokens
from .._engine.device import Device
from ..encoders.static_encoder import StaticEncoder
from ..encoders.transformer import TransformerEncoder
from . import fp16_recheck
from .sentence_features import with_sentences, with_tokens

if TYPE_CHECKING:
    from .._cuda import Array
    from .._engine.engine import Engine
    from ..encoders.piece_encoder import PieceEncoder
    from ..encoders.registry import VectorEncoder

    #: The input of a kernel for sentence vectors: (table of token vectors, token ids, offsets of the sentences in the
    #: ids).
    Bag = tuple[Array, Array, Array]

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TokenizedRequest:
    """A request with its sentences and their tokens, made by threads while the device processes another one."""

    request: Request
    tokens: Tokens | None

    @property
    def documents(self) -> I64:
        """The first sentence of each of the k documents, then the number of sentences, int64[k + 1]."""
        return self.request.features.doc_offsets


@dataclass(frozen=True)
class Scores:
    """The scores of sentences: cosines to the next sentence, and for pic further results.

    Attributes:
        adjacent: The cosine of each sentence to the next one.
        to_summary: For pic, the cosine of each sentence to the summary.
        cuts: For pic, the cuts.
        close: For pic, 1 for each sentence of an extractive summary and each that was nearly chosen for it, else 0.
    """

    adjacent: F32
    to_summary: F32 | None = None
    cuts: Cuts | None = None
    close: npt.NDArray[np.int8] | None = None


class DeviceScorer:
    """The scorer of one plan's requests on one device."""

    def __init__(self, plan: Plan, device: Device, cutter: VectorEncoder, *, wants_vectors: bool) -> None:
        self.plan, self.device, self.cutter, self.wants_vectors = plan, device, cutter, wants_vectors
        self._table: Array | None = None

    def prepare(self, request: Request, engine: Engine) -> TokenizedRequest:
        """Return the request with its sentences and their tokens."""
        request = with_sentences(request, engine)
        features = request.features
        if features.vectors is not None:
            return TokenizedRequest(request, None)
        tokens = self.cutter.tokens_of(features.text, features.bounds, request.threads)
        if self.cutter.tokenizer in (request.tokenizer, request.counter):
            request = with_tokens(request, tokens, self.cutter.tokenizer)
        return TokenizedRequest(request, tokens)

    def score(self, prepared: TokenizedRequest, engine: Engine, report: Any = None) -> Request:
        """Return the request with the scores that the plan cuts by, and with the vectors if the table needs them."""
        request, documents = prepared.request, prepared.documents
        vectors, bag = self._vectors(prepared, report)
        scores = self._scores(prepared, vectors, bag, engine)
        if self.cutter.in_doubt is not None and prepared.tokens is not None:
            scores = self._without_doubt(prepared, vectors, scores, engine)
        first, pair_offsets = neighbours(documents)
        request = request.with_(pair_scores=Ragged(scores.adjacent[first], pair_offsets), summaries=None)
        request = request.with_(cuts=scores.cuts)
        if self.wants_vectors and request.features.vectors is None:
            request = request.with_(vectors=Ragged(_device.to_host(vectors, self.device), documents))
        return request

    def _scores(self, prepared: TokenizedRequest, vectors: Array, bag: Bag | None, engine: Engine) -> Scores:
        """Return the scores of the sentences, computed by the device, in host memory."""
        device, documents, request = self.device, prepared.documents, prepared.request
        if self.plan.traits.scores == "pairs":
            if bag is not None:
                table, ids, id_offsets = bag
                _device.embedding_bags(table, ids, id_offsets, vectors, device)
            adjacent = _device.to_host(_device.adjacent_cosines(vectors, device), device)
            _check_finite(adjacent, documents, request)
            return Scores(adjacent)
        found = _device.pic(
            vectors,
            documents,
            device,
            summary=self.plan.summary,
            given=self._given(request, engine),
            lead=_lead(request.features) if self.plan.summary == "lead" else None,
            k=self.plan.k,
            margin=fp16_recheck.SCORE_ERROR,
            bag=bag,
        )
        to_summary = _device.to_host(found.scores, device)
        _check_finite(to_summary, documents, request)
        adjacent, close = (_device.to_host(part, device) for part in (found.adjacent, found.close))
        return Scores(adjacent, to_summary, _cuts(found, to_summary, documents, device), close)

    def _without_doubt(self, prepared: TokenizedRequest, vectors: Array, scores: Scores, engine: Engine) -> Scores:
        """Return the scores after sentences that half precision left in doubt were encoded in fp32.

        See :mod:`fp16_recheck`.
        """
        documents, request = prepared.documents, prepared.request
        assert prepared.tokens is not None
        assert isinstance(self.cutter, TransformerEncoder)
        known = np.zeros(int(documents[-1]), np.bool_)
        for margin in (fp16_recheck.SCORE_ERROR, fp16_recheck.THRESHOLD_ERROR):
            doubtful = self._doubtful(scores, documents, margin, request.threads)
            if margin == fp16_recheck.THRESHOLD_ERROR:
                doubtful = fp16_recheck.whole_documents(doubtful, documents)
            rows = np.flatnonzero(doubtful & ~known)
            if len(rows) == 0:
                continue
            self.cutter.encode_again(prepared.tokens, rows, vectors, threads=request.threads)
            scores = self._scores(prepared, vectors, None, engine)
            known[rows] = True
        return scores

    def _doubtful(self, scores: Scores, documents: I64, margin: float, threads: int) -> npt.NDArray[np.bool_]:
        """Return bool[n]: the sentences that may decide a cut, or the choice of an extractive summary."""
        if scores.to_summary is None:
            first, offsets = neighbours(documents)
            own = scores.adjacent[first]
            thresholds = native.thresholds(self.plan, Ragged(own, offsets), threads=threads)
            return fp16_recheck.sentences_near(own, thresholds, documents, margin, pairs=True)
        thresholds = native.thresholds(self.plan, Ragged(scores.to_summary, documents), threads=threads)
        found = fp16_recheck.sentences_near(scores.to_summary, thresholds, documents, margin, pairs=False)
        if self.plan.summary == "extractive" and margin == fp16_recheck.SCORE_ERROR:
            found |= scores.close == 1
        return found

    def _vectors(self, prepared: TokenizedRequest, report: Any) -> tuple[Array, Bag | None]:
        """Return the vectors on the device.

        For the static encoder, return empty memory for the vectors, and the input of the kernels that fill it.
        """
        given, device = prepared.request.features.vectors, self.device
        if given is not None:
            return _device.to_device(given.flat(), device), None
        assert prepared.tokens is not None
        if isinstance(self.cutter, TransformerEncoder):
            threads = prepared.request.threads
            return self.cutter.encode_tokens_on_device(prepared.tokens, threads=threads, report=report), None
        if not isinstance(self.cutter, StaticEncoder):  # a table of pieces, which the CPU reads
            pieces = cast("PieceEncoder", self.cutter)
            found = pieces.encode_tokens(prepared.tokens, threads=prepared.request.threads)
            return _device.to_device(found, device), None
        if self._table is None:
            self._table = _device.to_device(self.cutter.table, device)
        ids, id_offsets = (_device.to_device(part, device) for part in prepared.tokens[:2])
        vectors = _device.empty((len(prepared.tokens.counts), self.cutter.dim), np.float32, device)
        return vectors, (self._table, ids, id_offsets)

    def _given(self, request: Request, engine: Engine) -> Array | None:
        """Return the vectors of summaries that the caller passed, float32[k, dim]."""
        given = request.features.summaries
        if self.plan.summary != "given" or given is None:
            return None
        if isinstance(given, Ragged):
            if self.cutter.in_engine:
                given = engine.encode_static(given.values, given.offsets, self.cutter, threads=request.threads)
            else:
                given = self.cutter.encode_spans(given.values, given.offsets, threads=request.threads)
        return _device.to_device(np.asarray(given, np.float32), self.device)


def _cuts(found: _device.PicResult, scores: F32, documents: I64, device: Device) -> Cuts:
    """Return the device's cuts in host memory, without gaps.

    On the device, the cuts of document d are the first ``cut_counts[d]`` entries from ``documents[d]`` on.
    """
    padded, counts, labels = (_device.to_host(part, device) for part in (found.cuts, found.cut_counts, found.labels))
    offsets = offsets_of(counts)
    rows = np.arange(offsets[-1]) + np.repeat(documents[:-1] - offsets[:-1], counts)
    first = np.ascontiguousarray(padded[rows], np.int32)
    kind = np.ascontiguousarray(labels[first + np.repeat(documents[:-1], counts)], np.int8)
    return Cuts(first, offsets, kind, Ragged(scores, documents))


def _lead(features: Features) -> npt.NDArray[np.int32]:
    """Return the number of sentences in the first paragraph of each document, int32[k]."""
    starts, documents = np.flatnonzero(features.given("flags").flat() & PARAGRAPH_START), features.doc_offsets
    begin, end = documents[:-1], documents[1:]
    # For each document, this is the first paragraph start after its first sentence.
    following = np.append(starts, documents[-1])[np.searchsorted(starts, begin, side="right")]
    lead: npt.NDArray[np.int32] = (np.minimum(following, end) - begin).astype(np.int32)
    return lead


def _check_finite(scores: F32, documents: I64, request: Request) -> None:
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        row = int(np.searchsorted(documents, bad[0], side="right")) - 1 + request.first_row
        raise ValueError(
            f"document {row}: a sentence has a vector that is not finite; in fp16 a model may overflow: pass "
            "placement=pychunk.Placement(precision='bf16'), or 'fp32'"
        )
