"""Segmenter: split, tokenise, encode, cut, fit to budget, build the table."""

from __future__ import annotations

import functools
import inspect
import json
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ._engine import native
from ._engine.data.columns import ID_TYPE, UUIDS
from ._engine.data.cuts import Cuts
from ._engine.data.features import Features
from ._engine.data.plan import Plan
from ._engine.data.ragged import Ragged
from ._engine.data.request import Request
from ._engine.engine import backend_name, engine
from ._util.lazy_imports import by_name
from ._util.pipeline import Pipeline
from ._util.progress import Progress, reporter, share_of
from .chunks.batch import ChunkBatch
from .chunks.collector import ChunkCollector
from .chunks.provenance import BatchProvenance
from .defaults import CHUNKS
from .encoders.runtime.placement import Placement
from .features.model_features import Models
from .features.sentence_features import with_sentences
from .inputs.arguments import split_all
from .inputs.inputs import CALL_BYTES, Inputs
from .methods import Method, default_method, make_method, option_names
from .methods.base import check_flag, check_whole
from .methods.llm_base import LLMMethod
from .methods.proposition import Proposition
from .option_checks import check_backend, check_budget, check_max_tokens, check_min_tokens, check_wrap

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .augmentation.augment import ContextSource, How
    from .inputs.document_columns import DocumentColumns
    from .llm import LLM

logger = logging.getLogger("pychunk")

#: Share of tokens that are [UNK] or single letters above which the static encoder is the wrong one for a text.
FALLBACK_SHARE = 0.2
#: Text of a call if a transformer runs: some 65,000 English sentences, of which nearly every batch finds equals in
#: length; their vectors take 100 MB.
POOL_BYTES = 8 << 20
#: Of a plan, what says nothing of how chunks were made, or is told elsewhere.
_UNTOLD = ("method", "traits", "summaries_out")


class Segmenter:
    """Segments batches of documents by one method with fixed options; loads its encoder once.

    Picklable (workers of Ray, Spark or multiprocessing load their own encoder) and safe to share between threads.

    Args:
        method: ``topic``, ``pic``, ``semantic``, ``cluster``, ``nsp``, ``fixed``, ``recursive``, ``structure``,
            ``sentence``, ``paragraph``, ``page`` or ``given``; the method's own options are keywords, too
            (``pychunk methods`` lists them). Or a :class:`Method` of your own. ``None``: ``topic`` with ``size=150``,
            in chunks of 64 to 200 tokens; or the only method that has the options given, such as ``pic`` for
            ``summary="lead"``; or ``pic`` for an ``encoder`` other than the static one, on whose vectors ``topic`` was
            learned. Documents that come with blocks (``blocks=``, or read from HTML, Markdown, PDF or the dump of a
            wiki) are then cut by ``structure``.
        encoder: what the method sees sentences through. ``None``: the method's own, the static table that pychunk ships
            or for ``nsp`` the shipped cross-encoder; ``"static"``; a name from ``pychunk model list``, such as
            ``"minilm"``; or a directory that ``pychunk export`` wrote.
        vector_encoder: the encoder of the vectors that are returned; ``None``: the same, for ``nsp`` the static one.
        runtime: what runs a transformer: ``"onnxruntime"``, ``"openvino"`` (faster on some CPUs, not bit for bit),
            ``"torch"``; ``"auto"``: ONNX Runtime, on a GPU torch where it is installed.
        precision: what ``"torch"`` computes in: ``"fp32"``, ``"fp16"``, ``"bf16"``, or on a GPU ``"mixed"``: fp16, and
            fp32 for sentences that decide a cut by less than fp16's errors. ``"auto"``: mixed on a GPU, else fp32.
        max_tokens: longest chunk, in the encoder's tokens; ``None`` is no limit, ``"auto"`` 512 for methods that cut
            by meaning (``topic``: 1,024) and none for the others. In a document in whose script the tokenizer knows no
            words (Cyrillic, for the static encoder) automatic limits count characters, four for a token.
        min_tokens: a shorter chunk joins its more similar neighbour in its section, as far as ``max_tokens`` allows;
            ``"auto"``: 64 for methods that cut by meaning (half of a ``max_tokens`` below 128), 0 for the others.
        overlap: tokens (for ``fixed`` and ``recursive``: in their unit) repeated from the chunk before, in whole
            sentences; if none fits, the last clause or words of one.
        atoms: whether a heading begins a chunk (with ``size=``: one that is half full ends before it) and stays with
            what follows it, a list keeps the line that introduces it, and a line without a letter, a bare number or
            mark-up never stands alone; a chunk of under 50 characters joins another one. ``atoms=False, min_tokens=0``
            keeps every cut of the method. ``"auto"``: for all but ``given``, and ``recursive`` with ``separators``.
        vectors: ``None``, ``"chunk"`` (column ``vector``) or ``"sentence"`` (column ``sentences``).
        wrap: ``"auto"``: in documents whose lines are filled to a common width a single line break is a space;
            ``True``: it is one in all documents, except before list items, headings and rows; ``False``: every line
            break ends a sentence and a paragraph.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``, which raises where there is none; ``"auto"``: the CPU. The cuts
            of the static encoder and of given vectors are the same on both.
        threads: threads of a call; default ``PYCHUNK_THREADS``, else the CPUs this process may use.
        on_error: ``"raise"``, or ``"skip"`` to leave out rows that are not text and list them in ``errors``.
        augment: adds the column ``context``, by which an index finds chunks beside their text: see
            :func:`pychunk.augment`.

    Raises:
        ValueError: an unknown method, option or encoder, or a value out of range; the message names the choices.
        ImportError: a transformer is asked for without the extra ``onnx``.

    Example:
        >>> seg = Segmenter(method="fixed", size=6, unit="words")
        >>> [chunk.text for chunk in seg("One two three. Four five six. Seven.")]
        ['One two three. Four five six.', 'Seven.']
    """

    def __init__(
        self,
        method: str | Method | None = None,
        *,
        encoder: str | Path | None = None,
        vector_encoder: str | Path | None = None,
        runtime: str = "auto",
        precision: str = "auto",
        max_tokens: int | str | None = "auto",
        min_tokens: int | str = "auto",
        overlap: int = 0,
        atoms: bool | str = "auto",
        vectors: str | None = None,
        wrap: str | bool = "auto",
        device: str = "auto",
        threads: int | None = None,
        on_error: str = "raise",
        augment: How | None = None,
        **options: Any,
    ) -> None:
        self._options = {
            "method": method,
            "encoder": encoder,
            "vector_encoder": vector_encoder,
            "runtime": runtime,
            "precision": precision,
            "max_tokens": max_tokens,
            "min_tokens": min_tokens,
            "overlap": overlap,
            "atoms": atoms,
            "vectors": vectors,
            "wrap": wrap,
            "device": device,
            "threads": threads,
            "on_error": on_error,
            **({} if augment is None else {"augment": augment}),
            **options,
        }
        usual = method is None and default_method.method_for(options, encoder) == default_method.METHOD
        if method is None:
            method = default_method.method_for(options, encoder)
        if usual:
            options = {**default_method.OPTIONS, **options}
        self.method = make_method(method, options, common=tuple(COMMON))
        self.plan = self._plan(options["size"] if usual else None)
        placement = Placement.of(runtime, device, precision)
        self.backend = backend_name()
        self.engine = engine(self.backend)
        check_backend(placement, self.backend)
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip'; got {on_error!r}")
        self.on_error = on_error
        #: The client that its method asks, or what makes contexts; None where neither asks a model.
        self.llm: LLM | None = None
        self.ways: tuple[ContextSource, ...] = ()
        self._add_models(augment)
        self.threads = None if threads is None else check_whole("threads", threads, least=1, most=1024)
        self.placement = placement
        self._facts: dict[bool, dict[bytes, bytes]] = {}
        self.models = Models(self.method, self.plan, encoder, vector_encoder, placement)
        if np.isnan(self.plan.threshold_value) and self.models.threshold is not None:
            self.plan = self.plan.with_(threshold_value=self.models.threshold)

    def _plan(self, usual_size: int | None) -> Plan:
        """The method with its budget; ``usual_size``: of the default method if nobody named one."""
        said, method = self._options, self.method
        vectors, atoms, overlap = said["vectors"], said["atoms"], said["overlap"]
        auto_most = method.auto_max_tokens if usual_size is None else max(CHUNKS.max_tokens, usual_size)
        auto_least = method.auto_min_tokens if usual_size is None else CHUNKS.min_tokens
        longest = check_max_tokens(said["max_tokens"], auto_most)
        whole = method.auto_atoms if atoms == "auto" else check_flag("atoms", atoms)
        plan = method.plan(
            Plan(
                method.name,
                wrap=check_wrap(said["wrap"]),
                max_tokens=longest,
                min_tokens=check_min_tokens(said["min_tokens"], auto_least, longest),
                overlap=check_whole("overlap", overlap, least=0),
                auto_limits=said["max_tokens"] == "auto" and said["min_tokens"] == "auto",
                atoms=whole,
                min_characters=CHUNKS.scrap if whole and not method.keeps_short else 0,
                chunk_vectors=vectors == "chunk",
                sentence_vectors=vectors == "sentence",
            )
        )
        if vectors not in (None, "chunk", "sentence"):
            raise ValueError(f"vectors must be None, 'chunk' or 'sentence'; got {vectors!r}")
        check_budget(plan)
        return plan

    def _add_models(self, augment: How | None) -> None:
        """Find the language models that the method and its contexts ask; few ask one, so imports are here."""
        if isinstance(self.method, LLMMethod) or getattr(self.method, "summary", "") == "llm":
            from .llm_methods import hand_model

            self.llm = hand_model(self.method)
        if augment is not None or isinstance(self.method, Proposition):
            from .augmentation.augment import client_of, ways_of

            self.ways = () if augment is None else ways_of(augment)
            if isinstance(self.method, Proposition):
                from .llm_methods import propositions_of

                self.ways = (*ways_of(propositions_of(self.method)), *self.ways)
            self.llm = self.llm or client_of(self.ways)

    def __repr__(self) -> str:
        known = {**inspect.signature(Segmenter).parameters, **inspect.signature(type(self.method)).parameters}
        options = {name: value for name, value in self._options.items() if name != "method"}
        said = [f"{name}={value!r}" for name, value in options.items() if value != known[name].default]
        named = [] if self._options["method"] is None else [repr(self._options["method"])]
        return f"Segmenter({', '.join([*named, *said])})"

    def _repr_html_(self) -> str:
        facts = json.loads(self._metadata(False)[b"pychunk"])
        return str(
            by_name("pychunk.chunks.notebook_tables", "segmenter_html")(repr(self), self.method.__doc__ or "", facts)
        )

    @property
    def options(self) -> dict[str, Any]:
        """What it was made with: keywords that make another one like it."""
        return dict(self._options)

    def __getstate__(self) -> dict[str, Any]:
        return self._options

    def __setstate__(self, options: dict[str, Any]) -> None:
        Segmenter.__init__(self, **options)

    def __call__(
        self,
        batch: Any,
        *,
        column: str | None = None,
        ids: Any = None,
        keep: Sequence[str] = (),
        progress: bool | Progress = False,
        first_document: int = 0,
        **said: Unpack[DocumentColumns],
    ) -> ChunkBatch:
        """The chunks of a batch of documents; see :func:`segment` for the arguments.

        Besides those that are named here they are what is said of each document: ``titles``, ``summaries``,
        ``page_starts``, ``blocks``, ``removed``, ``sentence_spans``, ``sentence_vectors`` and ``cuts``.
        """
        cutter, inputs = self.read(batch, said, column=column, ids=ids, keep=keep, first_document=first_document)
        return cutter._chunks(inputs, reporter(progress) if progress else None)

    def read(self, batch: Any, said: Mapping[str, Any], **arguments: Any) -> tuple[Segmenter, Inputs]:
        """Return documents as the method takes them, and the Segmenter that cuts them.

        That is another one, of ``structure``, if they come with blocks and nobody named a method.

        Args:
            said: what is said of each document, by keyword.
            **arguments: those of :meth:`Inputs.of`.
        """
        inputs = Inputs.of(batch, said, on_error=self.on_error, **arguments).with_parsed(self._reads_blocks)
        cutter = (self._structured if inputs.has_blocks else None) or self
        return cutter, cutter._checked(inputs)

    def _reads_blocks(self) -> bool:
        return self.plan.method == CHUNKS.method_for_blocks or self._structured is not None

    def _checked(self, inputs: Inputs) -> Inputs:
        if np.isnan(self.plan.threshold_value):
            raise ValueError(
                f"the model of {self!r} stores no threshold: pass threshold=, a number or ('percentile', q), or call "
                "fit(sample) first"
            )
        return inputs.checked(
            self.method, lambda texts: split_all(texts, self.engine, self.plan.wrap, self._threads(), CALL_BYTES)
        )

    def _chunks(self, inputs: Inputs, report: Progress | None) -> ChunkBatch:
        given = inputs.given
        source = self._source if self.plan.summaries_out else None
        facts = {**self._metadata(given.has_vectors), **({ID_TYPE: UUIDS} if inputs.texts.uuids else {})}
        gathered = ChunkCollector(facts, summaries=source, removes=self.method.removes)
        busy: list[float] = []
        done, total = 0, inputs.texts.nbytes if report else 0
        for request, ids, columns in self._columns(inputs, report, total, busy):
            gathered.add(columns, request, ids)
            if report:
                done += _size(request)
                report(done, total)
        if gathered.unknown > FALLBACK_SHARE * gathered.tokens:
            self._warn(inputs, gathered.unknown / gathered.tokens)
        if not gathered:
            request = self.no_request(inputs)
            columns = self.engine.segment(self.models.complete(request, self.engine))
            if "page_starts" in given.parts:  # the engine takes an empty array for none
                columns["page"] = columns["page_end"] = np.empty(0, np.int64)
            gathered.add(columns, request, inputs.texts.ids)
        chunks = gathered.batch(inputs, busy, BatchProvenance.kept(self, inputs))
        if not self.ways:
            return chunks
        from .augmentation.augment import with_contexts_of

        return with_contexts_of(chunks, self.ways, inputs)

    def _warn(self, inputs: Inputs, share: float) -> None:
        """Warn of tokens that the static encoder does not know, once a run for each thing that they decide."""
        from .inputs import script_warning  # here, as few texts are such

        own = inputs.given.has_vectors
        decided = {
            "cuts": not own and self.models.cuts_by_static,
            "vectors": not own and self.models.returns_static,
            "budgets": self.plan.budgets_tokens,
        }
        first = inputs.first_document
        script_warning.warn(
            share, lambda: script_warning.first_of(inputs.texts, self.models.words, FALLBACK_SHARE, first), decided
        )

    @functools.cached_property
    def _structured(self) -> Segmenter | None:
        """What cuts documents that come with blocks, where no method and no option of another one was named."""
        own = {name for name in self._options if name not in COMMON and name != "method"}
        if self._options["method"] is not None or not own <= set(option_names(CHUNKS.method_for_blocks)):
            return None
        return Segmenter(**{**self._options, "method": CHUNKS.method_for_blocks})

    def _columns(
        self, inputs: Inputs, report: Progress | None, total: int, busy: list[float]
    ) -> Iterator[tuple[Request, pa.Array | None, dict[str, Any]]]:
        """Each request with its ids and the columns of its chunks.

        On a GPU the requests before and after it are worked on, too; ``busy`` then gets the seconds that the stages
        worked (requests, sentences and tokens, the device, cutting), and those of the whole.
        """
        requests = self.requests(inputs)
        if self.placement.device is None:
            done = 0
            for request, ids in requests:
                partly = share_of(report, done, _size(request), total) if report else None
                whole = self.models.complete(request, self.engine, partly)
                known = whole if self.method.removes else request.with_(windowed=whole.windowed)
                yield known, ids, self.engine.segment(whole)
                done += _size(request)
            return
        stages = (
            lambda found: (*found, self.models.prepare(found[0], self.engine)),
            lambda found: (*found[:2], self.models.complete(found[2], self.engine)),
            lambda found: (found[0].with_(windowed=found[2].windowed), found[1], self.engine.segment(found[2])),
        )
        staged, begun = Pipeline(requests, stages), time.perf_counter()
        yield from staged
        busy += [*staged.busy, time.perf_counter() - begun]

    def stream(self, batches: Iterable[Any], **arguments: Any) -> Iterator[ChunkBatch]:
        """Chunks of one batch after the other, in bounded memory; ``document`` keeps counting over the batches.

        Example:
            >>> seg = Segmenter(method="sentence")
            >>> [chunk.document for out in seg.stream([["a.", "b."], ["c."]]) for chunk in out]
            [0, 1, 2]
        """
        first = 0
        for batch in batches:
            out = self(batch, first_document=first, **arguments)
            yield out
            first += out.documents

    def fit(self, sample: Any, *, column: str | None = None) -> Segmenter:
        """A Segmenter whose threshold is the mean score between neighbours in a sample of documents.

        That is the mean probability for ``nsp``, the mean adjacent cosine for ``semantic`` (the NSP paper's method and
        its baseline). ValueError for a method without a fitted threshold, or where no document of the sample has two
        sentences.
        """
        if not self.method.fitted_threshold:
            raise ValueError(f"method {self.method.name!r} has no threshold to fit; 'semantic' and 'nsp' have")
        total = count = 0
        for request, _ in self.requests(Inputs.of(sample, {}, column=column, on_error=self.on_error)):
            found = self.models.complete(self.models.prepare(request, self.engine), self.engine)
            part, pairs = self.engine.adjacent_sums(found)
            total, count = total + part, count + pairs
        if count == 0:
            raise ValueError("fit() needs documents with at least two sentences; the sample has none")
        return Segmenter(**{**self._options, "threshold": total / count / 2**32})

    def cuts(self, batch: Any, *, column: str | None = None, **said: Unpack[DocumentColumns]) -> Cuts:
        """Where the method cuts documents, before chunks are fitted to the budget: what ``cuts=`` takes.

        Arguments are those of a call that are about documents (``summaries``, ``sentence_vectors``, ...).

        Raises:
            ValueError: the method cuts text (``recursive``): its pieces are no runs of sentences.

        Example:
            >>> Segmenter("paragraph").cuts(["One. Two.\\n\\nThree."]).first.tolist()
            [0, 2]
        """
        found = []
        for request, _ in self.requests(self._checked(Inputs.of(batch, said, column=column, on_error=self.on_error))):
            done = self.models.complete(self.models.prepare(request, self.engine), self.engine)
            found.append(done.cuts or self.engine.cuts(done))
        return Cuts.concat(found)

    def scores(
        self,
        batch: Any,
        *,
        column: str | None = None,
        ids: Any = None,
        first_document: int = 0,
        **said: Unpack[DocumentColumns],
    ) -> pa.Table:
        """The curve that the method cuts by, as a table with a row a sentence: what explains a cut.

        Arguments are those of a call that are about documents (``titles``, ``sentence_vectors``, ...).

        Returns:
            Columns ``document``, ``id`` (if given), ``sentence`` (its position), ``start``, ``end`` (characters; the
            sentences tile their document); ``score``: of the sentence, or between it and the next, where ``of`` in the
            table's metadata is ``pairs``, null for a document's last sentence; ``threshold``: the value that this
            document's scores were held against, null where there is none; ``cut``: whether the method cuts after the
            sentence, before chunks are fitted to a budget. ``pic`` cuts where the curve crosses its threshold,
            ``semantic`` and ``nsp`` where it is below it, ``topic`` at some of those places.

        Raises:
            ValueError: the method has no scores.

        Example:
            >>> table = Segmenter("semantic", threshold=0.2).scores("Cats purr. Cats sleep. Stars burn hydrogen.")
            >>> table["cut"].to_pylist(), [score is None for score in table["score"].to_pylist()]
            ([False, True, False], [False, False, True])
        """
        from .chunks.score_table import no_scores, score_table  # here, as few ask for them

        if self.method.is_native and not self.method.scores:
            raise ValueError(no_scores(self.method.name))
        inputs = Inputs.of(batch, said, column=column, ids=ids, on_error=self.on_error, first_document=first_document)
        found = self.tables_of_scores(inputs)
        if found is None:
            raise ValueError(no_scores(self.method.name))
        if not found:
            bare = self.no_request(Inputs(inputs.texts))
            none = Cuts(np.empty(0, np.int32), np.zeros(1, np.int64), score=Ragged.of([], np.float32))
            found = [score_table(self.method, with_sentences(bare, self.engine), none, inputs.texts.ids)]
        return pa.concat_tables(found)

    def tables_of_scores(self, inputs: Inputs) -> list[pa.Table] | None:
        """Tables of scores, one a call of the engine; None where the method has no scores."""
        from .chunks.score_table import score_table

        found = []
        for request, ids in self.requests(self._checked(inputs)):
            done = with_sentences(request, self.engine)
            done = self.models.complete(self.models.prepare(done, self.engine), self.engine)
            cuts = done.cuts or self.engine.cuts(done, held=True)
            if cuts.score is None:
                return None
            found.append(score_table(self.method, done, cuts, ids))
        return found

    def requests(self, inputs: Inputs) -> Iterator[tuple[Request, pa.Array | None]]:
        """Yield requests of the engine, each with the ids of its documents."""
        size = POOL_BYTES if self.models.use_transformer else CALL_BYTES
        return inputs.requests(self._request, size, self._threads())

    def no_request(self, inputs: Inputs) -> Request:
        """Return a request of no documents, with the types of what was said of them."""
        return inputs.no_request(self._request, self._threads())

    def _request(self, features: Features, **parts: Any) -> Request:
        return self.models.request(features, self.plan, **parts)

    def _threads(self) -> int:
        return self.threads or native.default_threads()

    @property
    def _source(self) -> str:
        """Where summaries come from. The engine knows no titles: to it they are given."""
        return getattr(self.method, "summary", self.plan.summary)

    def metadata(self, inputs: Inputs) -> dict[str, Any]:
        """Return the facts of its chunks of these inputs: method, options, models."""
        found: dict[str, Any] = json.loads(self._metadata(inputs.given.has_vectors)[b"pychunk"])
        return found

    def _metadata(self, own_vectors: bool) -> dict[bytes, bytes]:
        found = self._facts.get(own_vectors)
        if found is None:
            options = vars(self.plan.with_(summary=self._source))
            facts = {
                "method": self.plan.method,
                "options": {key: value for key, value in options.items() if key not in _UNTOLD},
                **self.models.metadata(own_vectors),
                **self.method.facts,
                "backend": self.backend,
                "pychunk": native.version,
            }
            found = self._facts[own_vectors] = {b"pychunk": json.dumps(facts).encode()}
        return found


#: The options that every method has, with their defaults.
COMMON: dict[str, Any] = dict(Segmenter.__init__.__kwdefaults__ or {})


def _size(request: Request) -> int:
    """Bytes of its text."""
    return int(request.features.offsets[-1] - request.features.offsets[0])
