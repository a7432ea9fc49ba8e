"""The class Segmenter, which splits documents into sentences, cuts them, and fits the chunks to a budget."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import math
import sys
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

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
from .encoders import registry
from .features.model_features import models_of
from .features.sentence_features import with_sentences
from .inputs.arguments import split_all
from .inputs.inputs import CALL_BYTES, Inputs
from .methods import REPLACEMENTS, SHARED, Method, default_method, make_method, option_names
from .methods.base import check_flag, check_whole
from .methods.llm_base import LLMMethod
from .methods.proposition import Proposition
from .option_checks import check_backend, check_budget, check_max_tokens, check_min_tokens, check_unwrap_lines
from .placement import Placement, PlacementLike
from .vectors import Vectors, vectors_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._engine.data.models import KeptSentences
    from .augmentation.augment import ContextSource, How
    from .editing import Edit
    from .encoders.registry import EncoderLike
    from .inputs.document_columns import DocumentColumns
    from .llm import LLM
    from .methods.method_options import MethodName, MethodOptions

#: If more than this share of a text's tokens are [UNK] or single letters, the static encoder does not suit the text.
FALLBACK_SHARE = 0.2
#: A batch of fewer bytes a token is examined for other languages in Latin letters: of XQuAD's paragraphs, 98 % of the
#: German ones have 2.7 to 3.6, and 98 % of English articles have more than 3.6.
ENGLISH_BYTES = 3.6
#: The bytes of text that the engine takes at a time if a transformer runs. They hold some 65,000 English sentences,
#: enough to fill nearly every batch with sentences of equal length. Their vectors take 100 MB.
POOL_BYTES = 8 << 20
#: The fields of a plan that the metadata omits, because they do not affect the chunks or are stored elsewhere.
_UNTOLD = ("method", "traits", "summaries_out")


class Segmenter:
    """A method with fixed options, which segments batches of documents. It loads its encoder once.

    A Segmenter can be pickled: workers of Ray, Spark or multiprocessing load their own encoder. Threads may share it.

    Args:
        method: The name of a method: ``topic``, ``pic``, ``semantic``, ``cluster``, ``nsp``, ``fixed``, ``recursive``,
            ``structure``, ``sentence``, ``paragraph``, ``page``, ``precomputed`` and others (``pychunk methods`` lists
            them); or a :class:`Method` of your own. Default: ``topic`` with ``size=150``, in chunks of 64 to 200
            tokens. If you pass an option that only one method has, such as ``summary="lead"``, that method is used.
            With an ``encoder`` other than the static one the default is ``pic``, because ``topic`` was trained on the
            static encoder. For documents with blocks (from HTML, Markdown, PDF or a wiki's dump, or passed as a
            column) the default is ``structure``.
        encoder: The encoder whose vectors and tokens the method uses: ``"static"``, a name from ``pychunk model list``
            such as ``"minilm"``, a folder that ``pychunk export`` wrote, or a :class:`pychunk.Encoder`. Or ``"auto"``:
            for each document ``"static"`` or, if it is not in English and the package is installed,
            ``"multilingual"``; the column ``encoder`` says which. Vectors of the two cannot be compared. Default: the
            static encoder that pychunk ships, or for ``nsp`` the cross-encoder that pychunk ships.
        max_tokens: The most tokens of a chunk, counted by the encoder's tokenizer; None means no limit. ``"auto"``: 200
            (or ``size``, if larger) if you name no method, 512 for methods that cut by meaning (``topic``: 1,024), 200
            for ``structure``, and no limit for the others. If the tokenizer does not know the words of a document's
            script (Cyrillic, for the static encoder), automatic limits count four characters as one token.
        min_tokens: The fewest tokens of a chunk. A shorter chunk is joined with a neighbouring chunk of the same
            section, if the joined chunk fits ``max_tokens``. If this is possible with both neighbours, the more similar
            neighbour is chosen; for methods without vectors, the one across the weaker boundary. ``fixed`` and
            ``recursive`` also join chunks of different sections, if there is no other way. ``"auto"``: 64 for methods
            that cut by meaning (half of ``max_tokens``, if that is below 128), and 0 for the others.
        overlap: The most tokens that a chunk repeats from the end of the chunk before it. Methods with an option
            ``unit`` count ``overlap`` in that unit. Whole sentences are repeated. If even the last sentence is longer
            than ``overlap``, only its last clause or its last words are repeated.
        vectors: ``"chunk"`` adds one vector for each chunk, in the column ``vector``. ``"sentence"`` adds one for each
            sentence, in the column ``sentences``. Pass a :class:`pychunk.Vectors` to choose another encoder for these
            vectors, or late chunking.
        augment: What the added column ``context`` is made of, such as ``"title"`` or ``"summary"``; see
            :func:`pychunk.augment`. An index searches the context together with the chunk's text.
        placement: The device, threads and runtime: a :class:`pychunk.Placement`, or the name of a device.
        on_error: ``"raise"`` to raise an error for a row that is not text; ``"skip"`` to leave such rows out and list
            them in ``errors``.
        **options: The method's own options, such as ``size`` of ``fixed``, and three options of every method.
            With ``keep_together``, a heading begins a chunk and stays with the text after it; for methods with a
            ``size`` it begins a chunk if the chunk before it is at least half full. A list keeps the line that
            introduces it. A line that has no letters, such as a number or a line of markup, is never a chunk by itself.
            A chunk of less than 50 characters is joined with a neighbouring chunk, except for ``sentence``,
            ``paragraph``, ``page`` and ``structure``. ``"auto"`` means true, except for ``precomputed``, for methods in
            which an LLM groups the text, and for ``recursive`` with ``separators``. To keep every cut of the method,
            pass ``keep_together=False, min_tokens=0``.
            ``tokenizer`` counts the tokens of ``max_tokens``, ``min_tokens``, ``size`` and ``overlap``, and of the
            column ``tokens``. It is the name of a tokenizer, such as ``"o200k_base"`` (``pychunk model get`` gets it);
            the path of a ``tokenizer.json``, a ``.model`` of sentencepiece, a ``.tiktoken`` file or the folder of a
            model; a tokenizer of tokenizers, transformers, tiktoken or sentencepiece; a function that counts the tokens
            of a text or of a list of texts; or a :class:`pychunk.Tokenizer`, which also counts the special tokens that
            a model adds. No chunk has more of its tokens than the limit, except for a single character. Default: the
            encoder's own.
            ``unwrap_lines`` says where a single line break is only a space. ``"auto"``: in documents whose lines are
            filled to a common width; True: in all documents, except before list items, headings and rows of tables;
            False: nowhere, so that every line break ends a sentence and a paragraph.

    Raises:
        ValueError: A method, option or encoder is unknown, or a value is out of range; the message names the choices.
        ImportError: A transformer is used without the extra ``onnx``.

    Example:
        >>> seg = Segmenter(method="fixed", size=6, unit="words")
        >>> [chunk.text for chunk in seg("One two three. Four five six. Seven.")]
        ['One two three. Four five six.', 'Seven.']
    """

    def __init__(
        self,
        method: MethodName | Method | None = None,
        *,
        encoder: EncoderLike | None = None,
        max_tokens: int | Literal["auto"] | None = "auto",
        min_tokens: int | Literal["auto"] = "auto",
        overlap: int = 0,
        vectors: Literal["chunk", "sentence"] | Vectors | None = None,
        augment: How | None = None,
        placement: PlacementLike | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        **options: Unpack[MethodOptions],
    ) -> None:
        own: dict[str, Any] = dict(options)
        self._options = {
            "method": method,
            "encoder": encoder,
            "max_tokens": max_tokens,
            "min_tokens": min_tokens,
            "overlap": overlap,
            "vectors": vectors,
            "placement": placement,
            "on_error": on_error,
            **({} if augment is None else {"augment": augment}),
            **own,
        }
        shared = {name: own.pop(name, default) for name, default in SHARED.items()}
        usual = method is None and default_method.method_for(own, encoder) == default_method.METHOD
        named: str | Method = default_method.method_for(own, encoder) if method is None else method
        if usual:
            own = {**default_method.OPTIONS, **own}
        self.method = make_method(named, own, common=tuple(COMMON))
        counter = shared["tokenizer"]
        if counter is not None:
            counter = by_name("pychunk.tokenizers.sources", "tokenizer_of")(counter)
        #: The vectors that calls return with the chunks, or None if they return none.
        self.vectors = vectors_of(vectors)
        self.plan = self._plan(own["size"] if usual else None, shared, 0 if counter is None else counter.special)
        where = Placement.of(placement)
        self.placement = where.for_models
        self.backend = backend_name()
        self.engine = engine(self.backend)
        check_backend(self.placement, self.backend)
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip'; got {on_error!r:.80}")
        self.on_error = on_error
        #: The client through which the method or the contexts ask a language model; None if neither does.
        self.llm: LLM | None = None
        self.ways: tuple[ContextSource, ...] = ()
        self._add_models(augment)
        self.threads = where.threads
        self._most_bytes: int = by_name("pychunk._util.memory", "batch_bytes")(CALL_BYTES)
        self._facts: dict[bool, dict[bytes, bytes]] = {}
        table = self.vectors or Vectors()
        self.models = models_of(
            self.method, self.plan, encoder, table.encoder, self.placement, late=table.late_chunking, counter=counter
        )
        if np.isnan(self.plan.threshold_value) and self.models.threshold is not None:
            self.plan = self.plan.with_(threshold_value=self.models.threshold)
            self.models.sets_threshold = True

    def _plan(self, usual_size: int | None, shared: Mapping[str, Any], special: int) -> Plan:
        """Return the plan of the method with its budget.

        ``usual_size`` is the size of the default method, or None if the caller chose another method. ``special`` is the
        number of special tokens that the tokenizer's model adds to each chunk.
        """
        said, method = self._options, self.method
        keep_together, overlap = shared["keep_together"], said["overlap"]
        of_vectors = None if self.vectors is None else self.vectors.of
        auto_most = method.auto_max_tokens if usual_size is None else max(CHUNKS.max_tokens, usual_size)
        auto_least = method.auto_min_tokens if usual_size is None else CHUNKS.min_tokens
        longest = check_max_tokens(said["max_tokens"], auto_most)
        whole = method.auto_keep_together if keep_together == "auto" else check_flag("keep_together", keep_together)
        plan = method.plan(
            Plan(
                method.name,
                unwrap_lines=check_unwrap_lines(shared["unwrap_lines"]),
                max_tokens=longest,
                min_tokens=check_min_tokens(said["min_tokens"], auto_least, longest),
                overlap=check_whole("overlap", overlap, least=0),
                auto_limits=shared["tokenizer"] is None and said["max_tokens"] == said["min_tokens"] == "auto",
                keep_together=whole,
                min_characters=CHUNKS.short if whole and not method.keeps_short else 0,
                chunk_vectors=of_vectors == "chunk",
                sentence_vectors=of_vectors == "sentence",
            )
        )
        check_budget(plan, special)
        return plan

    def _add_models(self, augment: How | None) -> None:
        """Connect the method and the contexts with their language models.

        The imports are here, because few calls need a language model.
        """
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
        own = {each.name: each.default for each in inspect.signature(type(self.method)).parameters.values()}
        usual = {**COMMON, **own}
        options = {name: value for name, value in self._options.items() if name != "method"}
        said = [f"{name}={value!r}" for name, value in options.items() if value != usual[name]]
        named = [] if self._options["method"] is None else [repr(self._options["method"])]
        return f"Segmenter({', '.join([*named, *said])})"

    def _repr_html_(self) -> str:
        facts = json.loads(self._metadata(False)[b"pychunk"])
        return str(
            by_name("pychunk.chunks.notebook_tables", "segmenter_html")(repr(self), self.method.__doc__ or "", facts)
        )

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments that make an equal Segmenter."""
        return dict(self._options)

    def __getstate__(self) -> dict[str, Any]:
        return self._options

    def __setstate__(self, options: dict[str, Any]) -> None:
        Segmenter.__init__(self, **options)

    def __call__(
        self,
        batch: Any,
        *,
        columns: DocumentColumns | None = None,
        ids: Any = None,
        metadata_columns: Sequence[str] = (),
        progress: bool | Progress = False,
        first_document: int = 0,
        **unknown: NoReturn,
    ) -> ChunkBatch:
        """Return the chunks of a batch of documents.

        Args:
            batch: See :func:`pychunk.segment`.
            columns: See :func:`pychunk.segment`.
            ids: See :func:`pychunk.segment`.
            metadata_columns: See :func:`pychunk.segment`.
            progress: See :func:`pychunk.segment`.
            first_document: The ``document_index`` of the batch's first document.
            **unknown: No other argument is accepted.

        Raises:
            ValueError, TypeError: See :func:`pychunk.segment`. For an unknown argument the message says what to write
                instead.
        """
        refuse(unknown)
        begun = time.perf_counter()
        cutter, inputs = self.read(
            batch, columns, ids=ids, metadata_columns=metadata_columns, first_document=first_document
        )
        return cutter._chunks(inputs, reporter(progress) if progress else None, begun)

    def _begun(
        self, batch: Any, columns: DocumentColumns | None = None, *, progress: bool | Progress = False, **arguments: Any
    ) -> tuple[int, Callable[[], ChunkBatch]]:
        """Return the number of documents of a batch, and the function that cuts them, once the batch is read."""
        refuse({name: value for name, value in arguments.items() if name not in _OF_READING})
        begun = time.perf_counter()
        cutter, inputs = self.read(batch, columns, **arguments)
        report = reporter(progress) if progress else None
        return len(inputs.texts), functools.partial(cutter._chunks, inputs, report, begun)

    def read(self, batch: Any, columns: DocumentColumns | None = None, **arguments: Any) -> tuple[Segmenter, Inputs]:
        """Return the Segmenter that cuts a batch, and the batch as checked inputs of that Segmenter's method.

        If the caller named no method, the returned Segmenter may be another one than this. Documents with blocks get
        the one of method ``structure``. Other documents for which the caller passes sentence vectors get the one of
        ``pic``, because ``topic`` can read only vectors of the encoder on which it was trained.

        Args:
            batch: See :func:`pychunk.segment`.
            columns: See :func:`pychunk.segment`.
            **arguments: The further arguments of :meth:`Inputs.of`.
        """
        inputs = Inputs.of(batch, columns, on_error=self.on_error, **arguments).with_parsed(self._reads_blocks)
        cutter = self._cutter_of(inputs)
        return cutter, cutter._checked(inputs)

    def _cutter_of(self, inputs: Inputs) -> Segmenter:
        given = inputs.said.get("sentence_vectors") is not None
        return (self._structured if inputs.has_blocks else self._by_vectors if given else None) or self

    def edit(self, chunks: ChunkBatch, edits: Iterable[Edit]) -> ChunkBatch:
        """Return the chunks of an edited document, equal to those of a call with the new text.

        The sentences that no edit changes keep their tokens and vectors, which take most of the time of a call. The
        first edit of a document computes them all.

        Args:
            chunks: What this Segmenter, or its ``edit``, returned for one document. The ids of the document and its
                metadata columns stay as they are.
            edits: The edits as (start, end, text): ``text`` replaces the characters from ``start`` to ``end``. All
                positions are those in the text before the edits. They must not overlap.

        Raises:
            ValueError: The chunks are not from this Segmenter, or of several documents, or do not hold their document.
                Or an edit is outside the document, or edits overlap. Or the document has columns with positions, such
                as ``page_starts``, and is not Markdown from :func:`pychunk.parse`.

        Example:
            >>> seg = Segmenter("sentence", keep_together=False)
            >>> chunks = seg("Cats purr. Dogs bark.")
            >>> seg.edit(chunks, [(11, 15, "All dogs"), (21, 21, " Cows moo.")]).texts
            ['Cats purr.', 'All dogs bark.', 'Cows moo.']
        """
        from . import editing  # imported here because few callers edit

        begun = time.perf_counter()
        origin = editing.origin_of(chunks)
        cutter = self._cutter_of(origin.inputs)
        if not (origin.is_of(cutter) or cutter._made(chunks, origin.inputs.given.has_vectors)):
            raise ValueError(
                f"edit() takes chunks that the same Segmenter made; got {chunks!r}, and this is {self!r}: call edit() "
                "of the Segmenter that made them"
            )
        text, spans = editing.edited_text(origin.inputs.texts.texts[0], edits)
        writes = getattr(cutter.method, "writes", None) is not None
        read = editing.edited_inputs(origin, text, lambda batch: self.read(batch)[1], writes)
        inputs = cutter.models.with_encoders(read, self._threads())
        kept = None
        if self.backend == "native" and self.placement.device is None and inputs.foreign is None:
            kept = origin.take_sentences() or native.KeptSentences()
            kept.keep(spans)
        made = cutter._chunks(inputs, None, begun, kept)
        return made.with_origin(origin.after(cutter, inputs, kept))

    def _made(self, chunks: ChunkBatch, own_vectors: bool) -> bool:
        """Return whether the metadata of chunks is that of this Segmenter's chunks."""
        facts = json.loads(self._metadata(own_vectors)[b"pychunk"])
        if self.ways:
            facts |= by_name("pychunk.augmentation.augment", "facts_of")(self.ways)
        # These are compared as text, because they may hold NaN, which is not equal to itself.
        own, found = (json.dumps(each, sort_keys=True) for each in (facts, chunks.metadata))
        return own == found

    def _reads_blocks(self) -> bool:
        return self.plan.method == CHUNKS.method_for_blocks or self._structured is not None

    def _checked(self, inputs: Inputs) -> Inputs:
        if math.isnan(self.plan.threshold_value):
            raise ValueError(
                f"the model of {self!r} stores no threshold: pass threshold=, a number or ('percentile', q), or call "
                "fit(sample) first"
            )
        threads = self._threads()
        checked = inputs.checked(
            self.method, lambda texts: split_all(texts, self.engine, self.plan.unwrap_lines, threads, CALL_BYTES)
        )
        return self.models.with_encoders(checked, threads)

    def _chunks(
        self, inputs: Inputs, report: Progress | None, begun: float, kept: KeptSentences | None = None
    ) -> ChunkBatch:
        """Return the chunks of checked inputs. ``begun`` is the time at which the call began."""
        if "opentelemetry.trace" not in sys.modules:  # A program that traces has loaded it; pychunk never does.
            return self._chunks_of(inputs, report, begun, kept)
        from .telemetry import span  # imported here because few programs trace

        with span("pychunk.segment") as traced:
            facts = {"method": self.plan.method, "documents": len(inputs.texts), "bytes": inputs.texts.nbytes}
            traced.set_attributes({f"pychunk.{name}": value for name, value in facts.items()})
            return self._chunks_of(inputs, report, begun, kept)

    def _chunks_of(
        self, inputs: Inputs, report: Progress | None, begun: float, kept: KeptSentences | None
    ) -> ChunkBatch:
        given = inputs.given
        source = self._source if self.plan.summaries_out else None
        facts = self._metadata(given.has_vectors)
        if inputs.texts.uuids:
            facts = {**facts, ID_TYPE: UUIDS}
        gathered = ChunkCollector(facts, summaries=source, removes=self.method.removes)
        seconds = [0.0, 0.0, 0.0, 0.0]
        done, total = 0, inputs.texts.nbytes
        for request, ids, columns in self._columns(inputs, report, total, seconds, kept):
            gathered.add(columns, request, ids)
            if report:
                done += _size(request)
                report(done, total)
        few = inputs.texts.nbytes < ENGLISH_BYTES * gathered.tokens
        if few or gathered.unknown > FALLBACK_SHARE * gathered.tokens:
            self._warn(inputs, gathered.unknown / gathered.tokens)
        if not gathered:
            request = self.no_request(inputs)
            columns = self._cut(self.models.complete(request, self.engine))
            if "page_starts" in given.parts:  # the engine makes no page columns if the array of page starts is empty
                columns["page"] = columns["page_end"] = np.empty(0, np.int64)
            gathered.add(columns, request, inputs.texts.ids)
        chunks = gathered.batch(inputs, total, seconds, BatchProvenance.kept(self, inputs, total))
        cut = time.perf_counter()
        seconds[3] = cut - begun
        if not self.ways:
            return chunks
        from .augmentation.augment import with_contexts_of

        chunks = with_contexts_of(chunks, self.ways, inputs)
        seconds[2] = time.perf_counter() - cut
        seconds[3] += seconds[2]
        return chunks

    def _warn(self, inputs: Inputs, share: float) -> None:
        """Warn if cuts, vectors or budgets depend on text that is not English; ``share`` is that of unknown tokens.

        A process warns once about each of these three.
        """
        own = inputs.given.has_vectors
        decided = {
            "cuts": not own and self.models.cuts_by_static,
            "vectors": not own and self.models.returns_static,
            "budgets": self.plan.budgets_tokens and self.models.counter is None,
        }
        from .inputs import language_warning  # imported here, because few texts need the warning

        language_warning.examine(inputs, self.models.words, share, FALLBACK_SHARE, decided)

    @functools.cached_property
    def _structured(self) -> Segmenter | None:
        """The Segmenter for documents with blocks.

        None if the caller named a method, or an option that the method for such documents lacks.
        """
        return self._of(CHUNKS.method_for_blocks)

    @functools.cached_property
    def _by_vectors(self) -> Segmenter | None:
        """The Segmenter for documents whose sentence vectors the caller passes.

        None if the caller named a method, or an option that the method for such documents lacks.
        """
        return self._of(CHUNKS.method_for_vectors)

    def _of(self, method: str) -> Segmenter | None:
        own = {name for name in self._options if name not in COMMON and name != "method"}
        if self._options["method"] is not None or not own <= set(option_names(method)):
            return None
        return Segmenter(**{**self._options, "method": method})

    def _columns(
        self, inputs: Inputs, report: Progress | None, total: int, seconds: list[float], kept: KeptSentences | None
    ) -> Iterator[tuple[Request, pa.Array | None, dict[str, Any]]]:
        """Yield each request with its ids and the columns of its chunks.

        On a GPU, several requests are in progress at once, each in a different stage. The stages are: make the request,
        find sentences and tokens, compute on the GPU, and cut. The seconds of features and of cutting are added to the
        first two of ``seconds``.
        """
        requests = self.requests(inputs)
        if self.placement.device is None:
            done, clock = 0, time.perf_counter
            for request, ids in requests:
                begun = clock()
                partly = share_of(report, done, _size(request), total) if report else None
                whole = self.models.complete(request, self.engine, partly)
                whole = whole if kept is None else whole.with_(kept=kept)
                known = whole if whole is request or self.method.removes else request.with_(windowed=whole.windowed)
                ready = clock()
                columns = self._cut(whole)
                seconds[0] += ready - begun
                seconds[1] += clock() - ready
                yield known, ids, columns
                done += _size(request) if report else 0
            return
        stages = (
            lambda found: (*found, self.models.prepare(found[0], self.engine)),
            lambda found: (*found[:2], self.models.complete(found[2], self.engine)),
            lambda found: (found[0].with_(windowed=found[2].windowed), found[1], self._cut(found[2])),
        )
        staged = Pipeline(requests, stages)
        yield from staged
        _, preparing, computing, cutting = staged.busy
        seconds[:2] = preparing + computing, cutting

    def _cut(self, request: Request) -> dict[str, Any]:
        """Return the columns of the chunks of a complete request."""
        tokenizer = self.models.tokenizer
        if tokenizer is None:
            return self.engine.segment(request)
        if tokenizer.render:
            from .chunks import render_limits  # imported here, because few calls need it

            columns = render_limits.fit(request, self._counted, tokenizer)
        else:
            columns = self._counted(request)
        if tokenizer.special:
            columns["tokens"] = columns["tokens"] + tokenizer.special
        return columns

    def _counted(self, request: Request) -> dict[str, Any]:
        """Return the columns of the chunks of a request, with the tokens that the caller's tokenizer counts.

        The engine counts only if limits, sizes or vectors depend on it.
        """
        columns = self.engine.segment(request)
        if "tokens" not in columns:
            assert self.models.tokenizer is not None
            text, offsets = columns["text"].view(np.uint8), columns["text_offsets"]
            columns["tokens"] = self.models.tokenizer.count(text, offsets, request.threads)
        return columns

    def stream(self, batches: Iterable[Any], **arguments: Any) -> Iterator[ChunkBatch]:
        """Yield the chunks of one batch after the other, in bounded memory.

        ``document_index`` counts over all batches.

        Example:
            >>> seg = Segmenter(method="sentence")
            >>> [chunk.document_index for out in seg.stream([["a.", "b."], ["c."]]) for chunk in out]
            [0, 1, 2]
        """
        first = 0
        for batch in batches:
            out = self(batch, first_document=first, **arguments)
            yield out
            first += out.documents

    async def acall(self, batch: Any, **arguments: Any) -> ChunkBatch:
        """Return the chunks of a batch, like a call of the Segmenter, without blocking the event loop.

        A thread of the loop's default executor makes the call. As many calls run at a time as there are threads
        (``PYCHUNK_THREADS``), and the others wait. If the task is cancelled, the call in the thread ends, too.

        Args:
            batch: See :func:`pychunk.segment`.
            **arguments: The further arguments of a call of the Segmenter.

        Raises:
            ValueError, TypeError: See :func:`pychunk.segment`.

        Example:
            >>> import asyncio
            >>> asyncio.run(Segmenter("sentence").acall("Cats purr. Dogs bark.")).texts
            ['Cats purr.', 'Dogs bark.']
        """
        from . import async_calls  # imported here because asyncio takes a quarter of pychunk's import time

        return await async_calls.in_thread(functools.partial(self, batch, **arguments))

    async def astream(self, batches: Iterable[Any] | AsyncIterable[Any], **arguments: Any) -> AsyncIterator[ChunkBatch]:
        """Yield the chunks of one batch after the other, like :meth:`stream`, without blocking the event loop.

        At most two batches are read ahead of those that the caller has taken, so a slow caller slows down the source.
        If the caller stops early or is cancelled, the calls end, and nothing more is read.

        Args:
            batches: The batches, from an asynchronous iterator or another one. Threads iterate over the latter, so it
                may block.
            **arguments: The further arguments of a call of the Segmenter.

        Example:
            >>> import asyncio
            >>> async def numbers():
            ...     stream = Segmenter("sentence").astream([["a.", "b."], ["c."]])
            ...     return [chunk.document_index async for out in stream for chunk in out]
            >>> asyncio.run(numbers())
            [0, 1, 2]
        """
        from . import async_calls

        first = 0

        def begin(batch: Any) -> Callable[[], ChunkBatch]:
            nonlocal first
            documents, cut = self._begun(batch, first_document=first, **arguments)
            first += documents
            return cut

        async with contextlib.aclosing(async_calls.streamed(batches, begin)) as found:
            async for out in found:
                yield out

    def fit(self, sample: Any, *, columns: DocumentColumns | None = None) -> Segmenter:
        """Return a Segmenter whose threshold is the mean score of neighbouring sentences in a sample of documents.

        For ``nsp`` the score is the probability that the second sentence follows the first; this is the method of the
        NSP paper. For ``semantic`` it is the cosine of the two sentences, which is that paper's baseline.

        Args:
            sample: The documents; see ``batch`` of :func:`pychunk.segment`.
            columns: See :func:`pychunk.segment`.

        Raises:
            ValueError: The method has no threshold to fit, or no document of the sample has two sentences.
        """
        if not self.method.fitted_threshold:
            raise ValueError(
                f"method {self.method.name!r} has no threshold to fit; choose 'semantic' or 'nsp', which have one"
            )
        registry.check_not_auto(self._options["encoder"])
        total = count = 0
        inputs = Inputs.of(sample, columns, on_error=self.on_error).with_parsed(self._reads_blocks)
        for request, _ in self.requests(inputs):
            found = self.models.complete(self.models.prepare(request, self.engine), self.engine)
            part, pairs = self.engine.adjacent_sums(found)
            total, count = total + part, count + pairs
        if count == 0:
            raise ValueError("fit() needs documents with at least two sentences; the sample has none")
        return Segmenter(**{**self._options, "threshold": total / count / 2**32})

    def cuts(self, batch: Any, *, columns: DocumentColumns | None = None) -> Cuts:
        r"""Return the method's cuts of documents, before chunks are fitted to the budget.

        To cut the same documents at these places again, pass the result as ``columns={"cuts": ...}`` to the method
        ``precomputed``.

        Args:
            batch: See :func:`pychunk.segment`.
            columns: See :func:`pychunk.segment`.

        Raises:
            ValueError: The method cuts inside sentences (``recursive`` with ``separators``), so that its chunks are not
                runs of whole sentences.

        Example:
            >>> Segmenter("paragraph").cuts(["One. Two.\n\nThree."]).first.tolist()
            [0, 2]
        """
        found = []
        cutter, inputs = self.read(batch, columns)
        for request, _ in cutter.requests(inputs):
            done = cutter.models.complete(cutter.models.prepare(request, self.engine), self.engine)
            found.append(done.cuts or self.engine.cuts(done))
        return Cuts.concat(found)

    def scores(
        self,
        batch: Any,
        *,
        columns: DocumentColumns | None = None,
        ids: Any = None,
        first_document: int = 0,
    ) -> pa.Table:
        """Return the scores by which the method cuts, as a table with one row for each sentence.

        Args:
            batch: See :func:`pychunk.segment`.
            columns: See :func:`pychunk.segment`.
            ids: See :func:`pychunk.segment`.
            first_document: The number of the first document.

        Returns:
            A table with these columns:

            - ``document_index``, ``document_id`` (if there are ids): the document.
            - ``sentence``: the position of the sentence in its document, from 0.
            - ``start``, ``end``: its span in characters; the sentences tile their document.
            - ``score``: the score of the sentence. If ``of`` in the table's metadata is ``pairs``, it is the score
              between this sentence and the next, and null for a document's last sentence.
            - ``threshold``: the threshold of this document; null if there is none.
            - ``cut``: whether the method cuts after the sentence, before chunks are fitted to a budget. ``pic`` cuts
              where scores cross the threshold. ``semantic`` and ``nsp`` cut after every sentence whose score is below
              the threshold, and ``topic`` only after some of the sentences whose score is below it.

        Raises:
            ValueError: The method has no scores.

        Example:
            >>> table = Segmenter("semantic", threshold=0.2).scores("Cats purr. Cats sleep. Stars burn hydrogen.")
            >>> table["cut"].to_pylist(), [score is None for score in table["score"].to_pylist()]
            ([False, True, False], [False, False, True])
        """
        from .chunks.score_table import no_scores, score_table  # imported here, because few callers ask for scores

        cutter, inputs = self.read(batch, columns, ids=ids, first_document=first_document)
        method = cutter.method
        found = None if method.is_native and not method.scores else cutter.score_tables(inputs)
        if found is None:
            raise ValueError(no_scores(method.name))
        if not found:
            bare = cutter.no_request(Inputs(inputs.texts))
            none = Cuts(np.empty(0, np.int32), np.zeros(1, np.int64), score=Ragged.of([], np.float32))
            found = [score_table(method, with_sentences(bare, self.engine), none, inputs.texts.ids)]
        return pa.concat_tables(found)

    def score_tables(self, inputs: Inputs) -> list[pa.Table] | None:
        """Return tables of scores, one for each call of the engine; None if the method has no scores."""
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
        return inputs.requests(self._request, min(size, self._most_bytes), self._threads())

    def no_request(self, inputs: Inputs) -> Request:
        """Return a request without documents, whose columns have the same types as those of ``inputs``."""
        return inputs.no_request(self._request, self._threads())

    def _request(self, features: Features, **known: Any) -> Request:
        special = self.models.special
        return self.models.request(features, self.plan.with_room_for(special) if special else self.plan, **known)

    def _threads(self) -> int:
        return self.threads or native.default_threads()

    @property
    def _source(self) -> str:
        """The source of summaries that the caller named, such as ``"title"``.

        The plan may name another source: titles and an LLM's summaries reach the engine as ``"given"``.
        """
        return getattr(self.method, "summary", self.plan.summary)

    def metadata(self, inputs: Inputs) -> dict[str, Any]:
        """Return the facts about the chunks of these inputs: method, options, models."""
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


#: The arguments of a call by which :meth:`Segmenter.read` reads a batch.
_OF_READING = ("ids", "metadata_columns", "first_document")
#: The options that every method has, with their defaults.
COMMON: dict[str, Any] = {**(Segmenter.__init__.__kwdefaults__ or {}), **SHARED}


def refuse(unknown: Mapping[str, Any]) -> None:
    """Raise an error if there are unknown arguments.

    Raises:
        TypeError: There is an unknown argument. The message says what to write instead.
    """
    for name in unknown:
        instead = REPLACEMENTS.get(name, "options belong to the Segmenter, values of each document to columns=")
        raise TypeError(f"a call of a Segmenter has no argument {name!r}: {instead}")


def _size(request: Request) -> int:
    """Return the number of bytes of a request's text."""
    return int(request.features.offsets[-1] - request.features.offsets[0])
