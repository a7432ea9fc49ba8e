"""What models compute for the engine before it cuts: sentence vectors and next-sentence probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .device_features import DeviceScorer, Prepared, scores_on_device
from .encoders.onnx import OnnxEncoder
from .encoders.pairs import PairScorer
from .encoders.placement import Placement
from .encoders.registry import PairEncoder, VectorEncoder, pair_encoder, vector_encoder
from .encoders.static import StaticEncoder
from .encoders.static import load as load_static
from .encoders.static_pairs import StaticPairs
from .encoders.tokens import WordPieceTokenizer
from .plan import Plan, Request, TokenTable
from .sentences import Sentences, neighbours

I64 = npt.NDArray[np.int64]
#: Share of the request's work that is done, from 0 to 1.
Report = Callable[[float], None]


class Models:
    """The models of a Segmenter: one that cuts (vectors, or pairs for nsp), one whose vectors the table holds.

    With the static encoder the engine computes both in its own call and there is nothing to do here.
    """

    def __init__(self, plan: Plan, encoder: Any, table_encoder: Any, placement: Placement) -> None:
        self.placement = placement
        self.pairs: PairEncoder | None = pair_encoder(encoder, placement) if plan.method == "nsp" else None
        self.cutter: VectorEncoder = load_static() if self.pairs else vector_encoder(encoder, placement)
        self.table: VectorEncoder = self.cutter if table_encoder is None else vector_encoder(table_encoder, placement)
        #: The vectors of an encoder that cuts and fills the table are computed once.
        self.one_encoder = self.table is self.cutter
        self._cuts_by_vectors = plan.method in ("semantic", "cluster", "pic")
        self._fills_table = plan.chunk_vectors or plan.sentence_vectors
        self.words = self._words()
        self._scorer: DeviceScorer | None = None
        if placement.device is not None and scores_on_device(plan):
            wanted = self._fills_table and self.one_encoder
            self._scorer = DeviceScorer(plan, placement.device, self.cutter, wants_vectors=wanted)

    @property
    def use_transformer(self) -> bool:
        """Whether a transformer runs, which takes a thousand times as long as the static encoder."""
        cuts = self._cuts_by_vectors and isinstance(self.cutter, OnnxEncoder)
        fills = self._fills_table and isinstance(self.table, OnnxEncoder)
        return cuts or fills or isinstance(self.pairs, PairScorer)

    @property
    def use_static(self) -> bool:
        """Whether vectors of the static encoder decide anything, or are returned."""
        cuts = self._cuts_by_vectors and isinstance(self.cutter, StaticEncoder)
        fills = self._fills_table and isinstance(self.table, StaticEncoder)
        return cuts or fills or isinstance(self.pairs, StaticPairs)

    def _words(self) -> TokenTable:
        """What counts tokens: the tokenizer of the encoder that cuts; a static one is its own."""
        model = self.pairs if isinstance(self.pairs, PairScorer) else self.cutter
        if isinstance(model, StaticEncoder):
            return model
        own = model.tokenizer
        if self._fills_table and isinstance(own, WordPieceTokenizer) and isinstance(self.cutter, StaticEncoder):
            return self.cutter if own.equals(self.cutter) else own  # it fills the table natively, too
        return own

    @property
    def threshold(self) -> float | None:
        """What was fitted on training articles and is stored with the pair encoder."""
        if isinstance(self.pairs, PairScorer):
            return self.pairs.facts.threshold
        return self.pairs.threshold if self.pairs else None

    def metadata(self, own_vectors: bool) -> dict[str, str]:
        """Fingerprints of what cuts and of the vectors in the table; runtime and precision where a transformer runs."""
        vectors = "given" if own_vectors else self.cutter.fingerprint
        found = {"encoder": self.pairs.fingerprint if self.pairs else vectors, "tokenizer": self._tokenizer}
        if self._fills_table:
            found["vector_encoder"] = vectors if self.one_encoder else self.table.fingerprint
        if self.use_transformer:
            running = [
                each for each in (self.pairs, self.cutter, self.table) if isinstance(each, (PairScorer, OnnxEncoder))
            ]
            found["runtime"] = running[0].session.version
            found["precision"] = running[0].session.arithmetic or running[0].facts.precision
        if self.placement.device is not None:
            found["device"] = self.placement.device.name
        return found

    @property
    def _tokenizer(self) -> str:
        """Names what counts tokens, and its exact vocabulary."""
        model = self.pairs if isinstance(self.pairs, PairScorer) else self.cutter
        if isinstance(model, StaticEncoder):
            return f"{model.facts['vocab']}:{model.facts['vocab_sha256'][:16]}"
        return f"{model.facts.tokenizer}:{model.facts.tokenizer_sha256[:16]}"

    def prepare(self, request: Request, engine: Any) -> Request | Prepared:
        """What threads of the CPU do for :meth:`complete` while a GPU is busy with the request before."""
        if self._scorer is None:
            return request
        return self._scorer.prepare(self._with_static(request, request.vectors is not None), engine)

    def complete(self, given: Request | Prepared, engine: Any, report: Report | None = None) -> Request:
        """The request with all vectors, scores and probabilities that a transformer or a GPU computes for it."""
        if isinstance(given, Prepared):
            return self._scored(given, engine, report)
        request = given
        own = request.vectors is not None
        request = self._with_static(request, own)
        pairs = self.pairs if isinstance(self.pairs, PairScorer) else None
        cuts = self._cuts_by_vectors and not own and isinstance(self.cutter, OnnxEncoder)
        fills = self._fills_table and (not self.one_encoder or (not own and self.table is not self.words))
        again = fills and not (cuts and self.one_encoder)
        if not (cuts or fills or pairs):
            return request
        sentences, steps = Sentences.of(request, engine), Steps(sum([bool(pairs), cuts, again]), report)
        if pairs:
            request = replace(request, pair_scores=_probabilities(pairs, sentences, request, steps))
        if cuts:
            request = self._with_summaries(request)
            request = replace(request, vectors=_vectors(self.cutter, sentences, request, engine, steps))
        if again:
            vectors = _vectors(self.table, sentences, request, engine, steps)
            if self.one_encoder and isinstance(self.table, OnnxEncoder):
                return replace(request, vectors=vectors)
            return replace(request, table_vectors=vectors)
        return request

    def _scored(self, prepared: Prepared, engine: Any, report: Report | None) -> Request:
        """As a GPU scores it; with the vectors of another encoder for the table, if they are wanted."""
        assert self._scorer is not None
        again = self._fills_table and not self.one_encoder
        steps = Steps(2 if again else 1, report)
        request = self._scorer.score(prepared, engine, steps.next())
        if again:
            table = _vectors(self.table, prepared.sentences, request, engine, steps)
            request = replace(request, table_vectors=table)
        return request

    def _with_static(self, request: Request, own_vectors: bool) -> Request:
        """With what the engine itself reads: the counter of tokens, and the pair head on static vectors."""
        request = replace(request, encoder=self.words)
        if not isinstance(self.pairs, StaticPairs):
            return request
        if own_vectors:
            raise ValueError("method 'nsp' with encoder='static' reads its own vectors; leave out sentence_vectors=")
        return replace(request, pair_head=self.pairs)

    def _with_summaries(self, request: Request) -> Request:
        """With vectors in the place of given texts."""
        if request.summaries is None or isinstance(request.summaries, np.ndarray):
            return request
        assert isinstance(self.cutter, OnnxEncoder)
        return replace(request, summaries=self.cutter.encode(request.summaries, threads=request.threads))


def _probabilities(scorer: PairScorer, sentences: Sentences, request: Request, steps: Steps) -> tuple[Any, I64]:
    """float32 of all neighbours, and where each document's begin."""
    first, offsets = neighbours(sentences.documents)
    found = scorer.probabilities(
        request.text, sentences.bounds, first, first + 1, threads=request.threads, report=steps.next()
    )
    return found, offsets


def _vectors(
    encoder: VectorEncoder, sentences: Sentences, request: Request, engine: Any, steps: Steps
) -> tuple[Any, I64]:
    """float32[n, dim] of all sentences, and where each document's begin."""
    report = steps.next()
    if isinstance(encoder, OnnxEncoder):
        found = encoder.encode_spans(request.text, sentences.bounds, threads=request.threads, report=report)
    else:
        found = engine.encode_static(request.text, sentences.bounds, encoder, threads=request.threads)
    return found, sentences.documents


class Steps:
    """Progress over several passes of a model, each an equal share."""

    def __init__(self, count: int, report: Report | None) -> None:
        self.count, self.report, self.begun = max(1, count), report, -1

    def next(self) -> Callable[[int, int], None] | None:
        """The report of the next pass, of (tokens done, tokens in all)."""
        self.begun += 1
        report, before, count = self.report, self.begun, self.count
        if report is None:
            return None
        return lambda done, total: report((before + done / max(1, total)) / count)
