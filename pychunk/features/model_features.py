"""The results of models outside the engine, computed before it cuts: sentence vectors, probabilities of pairs, cuts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from .._engine.data.columns import CUT_REASONS
from .._engine.data.cuts import Cuts
from .._engine.data.features import Features, neighbours, quick
from .._engine.data.models import TokenCounter, TokenTable
from .._engine.data.plan import Plan
from .._engine.data.ragged import Ragged
from .._engine.data.request import Request
from .._engine.data.tokens import Tokens
from .._engine.engine import Engine
from .._util.lazy_imports import LazyModule
from ..encoders import static_encoder, topic_model
from ..encoders.registry import PairEncoder, VectorEncoder, pair_encoder, vector_encoder
from ..encoders.runtime.placement import ModelPlacement
from ..encoders.static_encoder import load as load_static
from ..inputs.inputs import Inputs
from ..methods.base import Method
from ..methods.nsp import Nsp
from ..methods.topic import Topic
from ..tokenizers.wordpiece import WordPieceTokenizer
from .sentence_features import with_sentences, with_token_counts, with_tokens

if TYPE_CHECKING:
    from ..encoders.cross_encoder import PairScorer
    from ..encoders.transformer import TransformerEncoder
    from .gpu_features import DeviceScorer, TokenizedRequest

#: A function that receives the share of the request's work that is done, from 0 to 1.
Report = Callable[[float], None]
#: The modules of late chunking and of GPUs, which few calls need.
late_chunking, _removed_text, _gpu_features = (
    LazyModule(f"pychunk.{name}")
    for name in ("encoders.late_chunking", "features.removed_text", "features.gpu_features")
)


class CountingTokenizer(TokenCounter, Protocol):
    """A tokenizer of :mod:`pychunk.tokenizers`, which counts tokens."""

    name: str
    special: int
    render: bool

    @property
    def fingerprint(self) -> str:
        """A hash of the vocabulary; empty for a function."""
        ...

    def count(self, text: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64], threads: int = 1) -> Any:
        """Return the number of tokens of each span, int64[n]."""
        ...


def _name(tokenizer: CountingTokenizer) -> str:
    """Return the name of a tokenizer for metadata, with the hash of its vocabulary if it has one."""
    name = f"{tokenizer.name}:{tokenizer.fingerprint}" if tokenizer.fingerprint else tokenizer.name
    name = f"{name} + {tokenizer.special} special" if tokenizer.special else name
    return f"{name}, of render()" if tokenizer.render else name


class Models:
    """The models of a Segmenter: one that cuts (by vectors or pairs), and one whose vectors the table holds.

    If a computation needs only a table of token vectors, the engine does it in its own call. With the static encoder,
    this class therefore has nothing to compute.
    """

    def __init__(
        self,
        method: Method,
        plan: Plan,
        encoder: Any,
        table_encoder: Any,
        placement: ModelPlacement,
        *,
        late: bool = False,
        counter: CountingTokenizer | None = None,
    ) -> None:
        self.method, self.placement = method, placement
        #: True if the plan has the model's own threshold, because the caller gave none.
        self.sets_threshold = False
        self.pairs: PairEncoder | None = pair_encoder(encoder, placement) if "pairs" in method.traits.needs else None
        # A cross-encoder reads no vectors, so those of the table are the static encoder's.
        pairs_read = self.pairs.encoder if self.pairs is not None and self.pairs.in_engine else load_static()
        self.cutter: VectorEncoder = vector_encoder(encoder, placement) if self.pairs is None else pairs_read
        self.topic = _topic_model(method, self.cutter)
        self.table: VectorEncoder = self.cutter if table_encoder is None else vector_encoder(table_encoder, placement)
        #: The encoder whose vectors of the table are made by late chunking; None if they are not.
        self.late = late_chunking.checked(self.table) if late else None
        #: True if one encoder cuts and fills the table, so that its vectors are computed once. False for late chunking,
        #: because the choice of the vectors to return must not change the cuts.
        self.one_encoder = self.table is self.cutter and not late
        network = self.pairs is not None and self.pairs.in_engine
        self._cuts_by_vectors = "vectors" in method.traits.needs or (network and not self.cutter.in_engine)
        self._fills_table = plan.chunk_vectors or plan.sentence_vectors
        self.words = self._words()
        #: The tokenizer that counts tokens for limits and sizes; None if ``words`` does.
        self.counter: TokenCounter | None = counter
        #: The tokenizer that the caller named; None if limits and the column ``tokens`` count by the encoder's.
        self.tokenizer: CountingTokenizer | None = counter
        #: The special tokens that a model adds to each chunk. The limits and the column ``tokens`` include them.
        self.special = 0 if counter is None else counter.special
        self._counter_name = "" if counter is None else _name(counter)
        if counter is None and not self.words.vocabulary:
            self.counter = cast("TokenCounter", self.words)
        #: The models of requests without and with vectors from the caller; see :meth:`request`.
        self._known: dict[bool, dict[str, Any]] = {}
        self._scorer: DeviceScorer | None = None
        if placement.device is not None and method.is_native and method.has_kernel:
            wanted = self._fills_table and self.one_encoder
            self._scorer = _gpu_features.DeviceScorer(plan, placement.device, self.cutter, wants_vectors=wanted)

    @property
    def in_use(self) -> list[VectorEncoder | PairEncoder]:
        """The models whose results decide the cuts, or whose vectors are returned."""
        vectors = [self.cutter] * self._cuts_by_vectors + [self.table] * self._fills_table
        return [*([self.pairs] if self.pairs else []), *vectors]

    @functools.cached_property
    def use_transformer(self) -> bool:
        """True if a transformer runs, which takes a thousand times as long as the static encoder."""
        return not all(model.in_engine for model in self.in_use)

    @property
    def cuts_by_static(self) -> bool:
        """True if vectors of the static encoder decide where documents are cut."""
        if self.pairs is None:
            return self._cuts_by_vectors and self.cutter.in_engine
        return self.pairs.in_engine and self.cutter.in_engine

    @property
    def returns_static(self) -> bool:
        """True if vectors of the static encoder are returned."""
        return self._fills_table and self.table.in_engine

    def _words(self) -> TokenTable:
        """Return the tokenizer of the encoder that cuts. A static encoder is its own tokenizer."""
        model = self.cutter if self.pairs is None or self.pairs.in_engine else self.pairs
        own = model.tokenizer
        if self._fills_table and isinstance(own, WordPieceTokenizer) and self.cutter.in_engine:
            # If both make the same tokens, those of the static encoder also serve the engine to fill the table.
            return self.cutter.tokenizer if own.equals(self.cutter.tokenizer) else own
        return own

    @property
    def threshold(self) -> float | None:
        """The default threshold, which is stored with the pair encoder, or with the topic model for each size."""
        if self.topic is not None and isinstance(self.method, Topic):
            return self.topic.threshold(self.method.size)
        return self.pairs.threshold if self.pairs else None

    def request(
        self, features: Features, plan: Plan, *, cuts: Cuts | None, ids: Ragged | None, first_row: int, threads: int
    ) -> Request:
        """Return a request with everything that the engine itself reads.

        In addition to the features and the plan, it reads the tokenizer that counts tokens, the table of the static
        encoder, the pair head and the topic head.
        """
        own = features.vectors is not None
        known = self._known.get(own)
        if known is None:
            known = self._known[own] = self._parts(own, plan)
        return quick(
            Request, known, features=features, plan=plan, cuts=cuts, ids=ids, first_row=first_row, threads=threads
        )

    def _parts(self, own: bool, plan: Plan) -> dict[str, Any]:
        """Return the models that the engine reads, as fields of a request. ``own``: the caller passes the vectors."""
        head = self.pairs if self.pairs is not None and self.pairs.in_engine else None
        told = f"method {plan.method!r}" + (f" with within={plan.within!r}" if plan.within != "size" else "")
        if own and head is not None:
            raise ValueError(
                f"{told} reads vectors of {self.cutter.fingerprint}; leave out columns={{'sentence_vectors': ...}}"
            )
        if own and self.topic is not None:
            raise ValueError(
                f"{told} reads vectors of {self.cutter.fingerprint}, on which it was trained; "
                "leave out columns={'sentence_vectors': ...}, or name a method that cuts by any vectors, such as "
                "method='pic'"
            )
        # A transformer's tokenizer has no table. If the caller passes vectors, the table is not used.
        table = self.words.table if self.words.table.size and not own else None
        return {
            "tokenizer": self.words if self.words.vocabulary else None,
            "counter": self.counter,
            "table": table,
            "pair_head": head,
            "topic_head": self.topic,
        }

    def with_encoders(self, inputs: Inputs, threads: int) -> Inputs:
        """Return the inputs with the choice of each document's encoder, if it depends on the document."""
        return inputs

    def metadata(self, own_vectors: bool) -> dict[str, Any]:
        """Return the fingerprints of the model that cuts and of the vectors in the table.

        If a transformer runs, the result also names its runtime and precision.
        """
        vectors = "given" if own_vectors else self.cutter.fingerprint
        counts = self.cutter if self.pairs is None or self.pairs.in_engine else self.pairs
        cuts_by = self.pairs.fingerprint if self.pairs else vectors
        found: dict[str, Any] = {"encoder": cuts_by, "tokenizer": self._counter_name or counts.tokenizer_name}
        if self.topic is not None:
            found["topic_model"] = self.topic.fingerprint
        if self._fills_table:
            found["vector_encoder"] = vectors if self.one_encoder else self.table.fingerprint
        if self.late is not None:
            found["late_chunking"] = True
        running = [model for model in self.in_use if not model.in_engine]
        if running:
            chosen = [model.running for model in running if model.running[0] != "native"] or [running[0].running]
            found["runtime"], found["precision"] = chosen[0]
        if self.placement.device is not None:
            found["device"] = self.placement.device.name
        return found

    def prepare(self, request: Request, engine: Engine) -> Request | TokenizedRequest:
        """Return the request after the first part of the work of :meth:`complete`.

        Threads of the CPU do this part while a GPU processes the previous request.
        """
        return request if self._scorer is None else self._scorer.prepare(request, engine)

    def complete(self, given: Request | TokenizedRequest, engine: Engine, report: Report | None = None) -> Request:
        """Return the request with all vectors, scores, probabilities and cuts that are computed outside the engine."""
        if not isinstance(given, Request):
            return self._scored(given, engine, report)
        request = given
        own = request.features.vectors is not None
        natively = self.method.is_native or request.cuts is not None
        pairs = self.pairs is not None and not self.pairs.in_engine
        cuts = self._cuts_by_vectors and not own and not (self.cutter.in_engine and natively)
        in_call = self.table.in_engine and self.table.tokenizer is self.words  # The engine has its table.
        fills = self._fills_table and request.features.table_vectors is None
        fills = fills and (not self.one_encoder or not (own or in_call))
        again = fills and not (cuts and self.one_encoder)
        if not (cuts or fills or pairs) and natively:
            return request
        work = _Work(
            with_sentences(request, engine), engine, self.words, PassProgress(sum([pairs, cuts, again]), report)
        )
        if cuts:
            work.add_vectors("vectors", self.cutter)
        if pairs or (not natively and self.pairs is not None):
            work.add_pair_scores(self.pairs)
        if again and self.late is None:
            own_table = self.one_encoder and not self.table.in_engine
            work.add_vectors("vectors" if own_table else "table_vectors", self.table)
        if not natively and "tokens" in self.method.traits.needs:
            work.count_tokens()
        if not natively:
            work.request = with_cuts(work.request, self.method)
        if again and self.late is not None:  # The method may have removed text, which late chunking does not read.
            work.add_late_vectors(self.late)
        return work.request

    def with_table_vectors(self, request: Request, engine: Engine) -> Request:
        """Return a request with each sentence's vector, as the table would hold it, and its number of tokens.

        The request already has sentences.
        """
        known = request.features.vectors if self.one_encoder else request.features.table_vectors
        if known is not None:
            return request
        work = _Work(request, engine, self.words, PassProgress(1, None))
        if self.late is not None:
            work.add_late_vectors(self.late)
        else:
            work.add_vectors("vectors" if self.one_encoder else "table_vectors", self.table)
        work.count_tokens()
        return work.request

    def with_token_counts(self, request: Request) -> Request:
        """Return a request with the number of tokens of each sentence, as budgets count them.

        The request already has sentences.
        """
        if request.features.token_counts is not None:
            return request
        return with_token_counts(request, self.words)

    def _scored(self, prepared: TokenizedRequest, engine: Engine, report: Report | None) -> Request:
        """Return the request with the scores of a GPU, and with another encoder's vectors for the table if needed."""
        assert self._scorer is not None
        again = self._fills_table and not self.one_encoder
        steps = PassProgress(2 if again else 1, report)
        request = self._scorer.score(prepared, engine, steps.next())
        if prepared.tokens is not None and hasattr(self.cutter, "windowed"):
            request = request.with_(windowed=self.cutter.windowed(prepared.tokens))
        if again and request.features.table_vectors is None:
            work = _Work(request, engine, self.words, steps)
            work.add_vectors("table_vectors", self.table)
            request = work.request
        return request


def _topic_model(method: Method, cutter: VectorEncoder) -> topic_model.TopicModel | None:
    """Return the model of a method that cuts by topics, or None.

    Raises:
        ValueError: The model was trained on vectors of another encoder.
    """
    if "topics" not in method.traits.needs:
        return None
    own = getattr(cutter, "path", None)
    shipped = own if isinstance(own, Path) and (own / topic_model.FACTS).is_file() else static_encoder.SHIPPED
    found = topic_model.load((isinstance(method, Topic) and method.model) or shipped)
    found.check_encoder(cutter.fingerprint)
    return found


class _Work:
    """A request with sentences, to which models add their results.

    Each tokenizer reads the text once.
    """

    def __init__(self, request: Request, engine: Engine, words: TokenTable, steps: PassProgress) -> None:
        self.request, self._engine, self._words, self._steps = request, engine, words, steps
        self._tokens: dict[int, Tokens] = {}

    @property
    def _features(self) -> Features:
        return self.request.features

    def _tokens_of(self, model: VectorEncoder | PairScorer) -> Tokens:
        found = self._tokens.get(id(model.tokenizer))
        if found is None:
            features, threads = self._features, self.request.threads
            found = model.tokens_of(features.text, features.bounds, threads)
            self._tokens[id(model.tokenizer)] = found
            if model.tokenizer is self._words:
                self.request = with_tokens(self.request, found, self._words)
        return found

    def count_tokens(self) -> None:
        if self._features.token_counts is None:
            self.request = with_token_counts(self.request, self._words)

    def add_pair_scores(self, scorer: PairEncoder | None) -> None:
        """Add the probability of each pair of neighbouring sentences."""
        assert scorer is not None
        if scorer.in_engine:
            self.count_tokens()
            decided = self._engine.cuts(self.request.with_(plan=Nsp(threshold=0.5).plan(Plan("nsp"))))
            self.request = self.request.with_(pair_scores=decided.score)
            return
        first, offsets = neighbours(self._features.doc_offsets)
        found = scorer.of_tokens(
            self._tokens_of(scorer), first, first + 1, threads=self.request.threads, report=self._steps.next()
        )
        self.request = self.request.with_(pair_scores=Ragged(found, offsets))

    def add_vectors(self, part: str, encoder: VectorEncoder) -> None:
        """Add an encoder's vectors of all sentences to the features, and its vectors of the caller's summaries."""
        features, threads, report = self._features, self.request.threads, self._steps.next()
        if encoder.in_engine:
            found = self._engine.embedding_bags(self._tokens_of(encoder), encoder, threads=threads)
        elif not hasattr(encoder, "encode_tokens"):  # a function of the caller's, which reads strings
            found = encoder.encode_spans(features.text, features.bounds, threads=threads, report=report)
        else:
            tokens = self._tokens_of(encoder)
            found = encoder.encode_tokens(tokens, threads=threads, report=report)
            if hasattr(encoder, "windowed"):
                self.request = self.request.with_(windowed=self.request.windowed + encoder.windowed(tokens))
        if part == "vectors" and isinstance(features.summaries, Ragged):
            text, offsets = features.summaries
            if encoder.in_engine:
                given = self._engine.encode_static(text, offsets, encoder, threads=threads)
            else:
                given = encoder.encode_spans(text, offsets, threads=threads)
            self.request = self.request.with_(summaries=given)
        self.request = self.request.with_(**{part: Ragged(found, features.doc_offsets)})

    def add_late_vectors(self, encoder: TransformerEncoder) -> None:
        """Add an encoder's vectors of all sentences by late chunking, for the table."""
        features = self._features
        found, documents, removed = (
            self._tokens_of(encoder),
            features.doc_offsets,
            _removed_text.removed_sentences(features),
        )
        options = {"threads": self.request.threads, "report": self._steps.next()}
        vectors = late_chunking.late_vectors(encoder, found, documents, removed, **options)
        windowed = max(self.request.windowed, encoder.windowed(found))  # The method may have read them, too.
        self.request = self.request.with_(table_vectors=Ragged(vectors, documents), windowed=windowed)


def with_cuts(request: Request, method: Method) -> Request:
    """Return the request with the cuts of a method that is written in Python, after checking them."""
    decided = method.decided(request.features)
    cuts = decided.cuts
    if not isinstance(cuts, Cuts):
        raise TypeError(f"{type(method).__name__}.cuts() must return Cuts; got {type(cuts).__name__}")
    cuts.check(request.features.doc_offsets, request.first_row)
    if cuts.reason is None:
        cuts = replace(cuts, reason=np.full(len(cuts.first), CUT_REASONS.index(method.reason), np.int8))
    removed, before = decided.removed, request.features.removed
    if removed is not None:
        request = request.with_(removed=removed if before is None else before.merged(removed))
    return request.with_(cuts=cuts, notes=decided.notes)


def models_of(
    method: Method, plan: Plan, encoder: Any, table_encoder: Any, placement: ModelPlacement, **options: Any
) -> Models:
    """Return the models of one encoder, or of two if the encoder is ``"auto"``: see :class:`Models`."""
    if encoder == "auto":
        from .language_models import LanguageModels  # imported here because it imports this module

        return LanguageModels(method, plan, table_encoder, placement, **options)
    return Models(method, plan, encoder, table_encoder, placement, **options)


class PassProgress:
    """The progress over several passes of a model, each counted as an equal share of the work."""

    def __init__(self, count: int, report: Report | None) -> None:
        self.count, self.report, self.begun = max(1, count), report, -1

    def next(self) -> Callable[[int, int], None] | None:
        """Return the report of the next pass, a function of (tokens done, total tokens)."""
        self.begun += 1
        report, before, count = self.report, self.begun, self.count
        if report is None:
            return None
        return lambda done, total: report((before + done / max(1, total)) / count)
