"""Segmenter: split, tokenise, encode, cut, fit to budget, build the table."""

from __future__ import annotations

import functools
import json
import logging
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import _native
from ._arrow import flat_text
from .batch import RowError, TextBatch
from .chunks import ChunkBatch, chunk_table
from .encoders.placement import Placement
from .engine import engine
from .features import Models
from .methods import make_method
from .methods.base import check_whole
from .options import check_backend, check_budget, check_max_tokens, check_wrap
from .plan import Plan, Request
from .progress import Progress, reporter, share_of
from .ragged import ragged_spans, ragged_starts, sentence_matrix
from .staged import Staged
from .summaries import given_summaries

logger = logging.getLogger("pychunk")

#: Text of one native call: large enough to keep every thread busy, small enough for progress and clean interrupts.
CALL_BYTES = 32 << 20
#: The same where a transformer runs: some 65,000 English sentences, of which nearly every batch finds equals in length;
#: their vectors take 100 MB.
POOL_BYTES = 8 << 20
#: Share of tokens that are [UNK] or single letters above which the static encoder is the wrong one for a text.
FALLBACK_SHARE = 0.2


class Segmenter:
    """Segments batches of documents by one method with fixed options; loads its encoder once.

    Picklable (workers of Ray, Spark or multiprocessing load their own encoder) and safe to share between threads.

    Args:
        method: ``pic`` (default), ``semantic``, ``cluster``, ``fixed``, ``recursive``, ``sentence``, ``paragraph``
            ``page`` or ``nsp``; the method's own options are keywords, too (``pychunk methods`` lists them).
        encoder: what the method sees sentences through. ``None``: the method's own, the static table that pychunk ships
            or for ``nsp`` the shipped cross-encoder; ``"static"``; a name from ``pychunk model list``, such as
            ``"minilm"``; or a directory that ``pychunk export`` wrote.
        vector_encoder: the encoder of the vectors that are returned; ``None``: the same, for ``nsp`` the static one.
        runtime: what runs a transformer: ``"onnxruntime"``, ``"openvino"`` (faster on some CPUs, not bit for bit),
            ``"torch"``; ``"auto"``: ONNX Runtime, on a GPU torch where it is installed.
        precision: what ``"torch"`` computes in: ``"fp32"``, ``"fp16"``, ``"bf16"``, or on a GPU ``"mixed"``: fp16, and
            fp32 for sentences that decide a cut by less than fp16's errors. ``"auto"``: mixed on a GPU, else fp32.
        max_tokens: longest chunk, in the encoder's tokens; ``None`` is no limit, ``"auto"`` 512 for methods that cut
            by meaning and none for the others.
        min_tokens: a shorter chunk joins its more similar neighbour, as far as ``max_tokens`` allows.
        overlap: tokens (for ``fixed`` and ``recursive``: in their unit) repeated from the chunk before, in whole
            sentences.
        vectors: ``None``, ``"chunk"`` (column ``vector``) or ``"sentence"`` (column ``sentences``).
        wrap: ``"auto"``: in documents whose lines are filled to a common width a single line break is a space;
            ``False``: every line break ends a sentence and a paragraph.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``, which raises where there is none; ``"auto"``: the CPU. The cuts
            of the static encoder and of given vectors are the same on both.
        threads: threads of a call; default ``PYCHUNK_THREADS``, else the CPUs this process may use.
        on_error: ``"raise"``, or ``"skip"`` to leave out rows that are not text and list them in ``errors``.

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
        method: str = "pic",
        *,
        encoder: str | Path | None = None,
        vector_encoder: str | Path | None = None,
        runtime: str = "auto",
        precision: str = "auto",
        max_tokens: int | str | None = "auto",
        min_tokens: int = 0,
        overlap: int = 0,
        vectors: str | None = None,
        wrap: str | bool = "auto",
        device: str = "auto",
        threads: int | None = None,
        on_error: str = "raise",
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
            "vectors": vectors,
            "wrap": wrap,
            "device": device,
            "threads": threads,
            "on_error": on_error,
            **options,
        }
        self.method = make_method(method, options)
        self.plan = self.method.plan(
            Plan(
                method,
                wrap=check_wrap(wrap),
                max_tokens=check_max_tokens(max_tokens, self.method.auto_max_tokens),
                min_tokens=check_whole("min_tokens", min_tokens, least=0),
                overlap=check_whole("overlap", overlap, least=0),
                chunk_vectors=vectors == "chunk",
                sentence_vectors=vectors == "sentence",
            )
        )
        if vectors not in (None, "chunk", "sentence"):
            raise ValueError(f"vectors must be None, 'chunk' or 'sentence'; got {vectors!r}")
        check_budget(self.plan)
        placement = Placement.of(runtime, device, precision)
        check_backend(placement)
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip'; got {on_error!r}")
        self.on_error = on_error
        self.threads = None if threads is None else check_whole("threads", threads, least=1, most=1024)
        self.placement = placement
        self.models = Models(self.plan, encoder, vector_encoder, placement)
        #: Seconds that the stages of the last call on a GPU worked, and the call took: requests, sentences and tokens,
        #: the device, cutting.
        self.busy: tuple[list[float], float] | None = None
        if self.method.fitted_threshold and np.isnan(self.plan.threshold_value) and self.models.threshold is not None:
            self.plan = self.plan.with_(threshold_value=self.models.threshold)

    def __repr__(self) -> str:
        return f"Segmenter({self.method!r}, encoder={(self.models.pairs or self.models.cutter).name!r})"

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
        summaries: Any = None,
        titles: Any = None,
        sentence_vectors: Any = None,
        sentence_spans: Any = None,
        page_starts: Any = None,
        progress: bool | Progress = False,
        first_document: int = 0,
    ) -> ChunkBatch:
        """The chunks of a batch of documents; see :func:`segment` for the arguments."""
        texts = TextBatch.of(batch, column=column, ids=ids, on_error=self.on_error)
        self._check_threshold()
        report = reporter(progress)
        own = sentence_vectors is not None
        prepared = self._prepare(texts, summaries, titles, sentence_vectors, sentence_spans, page_starts)
        tables: list[pa.Table] = []
        done, total, met, fallback = 0, texts.nbytes if report else 0, 0, 0
        for request, columns in self._columns(texts, prepared, first_document, report, total):
            tables.append(chunk_table(columns, request.ids, request.first_row))
            met += columns["tokens_met"]
            fallback += columns["fallback_tokens"]
            if report:
                done += int(request.offsets[-1] - request.offsets[0])
                report(done, total)
        if not own and self.models.use_static and fallback > FALLBACK_SHARE * met:
            _warn_script(fallback / met)
        table = pa.concat_tables(tables) if tables else chunk_table(self._no_columns(prepared), texts.ids, 0)
        errors = [RowError(row + first_document, reason) for row, reason in texts.errors]
        return ChunkBatch(
            table.replace_schema_metadata(self._metadata(own)),
            documents=len(texts),
            first_document=first_document,
            errors=errors,
        )

    def _columns(
        self, texts: TextBatch, prepared: dict[str, Any], first_document: int, report: Progress | None, total: int
    ) -> Iterator[tuple[Request, dict[str, Any]]]:
        """Each request with the columns of its chunks; on a GPU the requests before and after it are worked on, too."""
        requests = self._requests(texts, prepared, first_document)
        chosen = engine()
        if self.placement.device is None:
            done = 0
            for request in requests:
                size = int(request.offsets[-1] - request.offsets[0])
                partly = share_of(report, done, size, total) if report else None
                yield request, chosen.segment(self.models.complete(request, chosen, partly))
                done += size
            return
        stages = (
            lambda request: (request, self.models.prepare(request, chosen)),
            lambda found: (found[0], self.models.complete(found[1], chosen)),
            lambda found: (found[0], chosen.segment(found[1])),
        )
        staged, begun = Staged(requests, stages), time.perf_counter()
        yield from staged
        self.busy = staged.busy, time.perf_counter() - begun

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
        """Sets the threshold to the mean score between neighbours in a sample of documents; returns self.

        That is the mean probability for ``nsp``, the mean adjacent cosine for ``semantic`` (the NSP paper's method and
        its baseline). ValueError for a method without a fitted threshold, or where no document of the sample has two
        sentences.
        """
        if not self.method.fitted_threshold:
            raise ValueError(f"method {self.method.name!r} has no threshold to fit; 'semantic' and 'nsp' have")
        texts = TextBatch.of(sample, column=column, on_error=self.on_error)
        total = count = 0
        for request in self._requests(texts, {}, 0):
            found = self.models.complete(self.models.prepare(request, engine()), engine())
            part, pairs = engine().adjacent_sums(found)
            total, count = total + part, count + pairs
        if count == 0:
            raise ValueError("fit() needs documents with at least two sentences; the sample has none")
        self._options["threshold"] = total / count / 2**32
        self.__setstate__(self._options)
        return self

    def _check_threshold(self) -> None:
        if np.isnan(self.plan.threshold_value):
            raise ValueError(
                f"the model of {self!r} stores no threshold: pass threshold=, a number or ('percentile', q), or call "
                "fit(sample) first"
            )

    def _prepare(
        self, texts: TextBatch, summaries: Any, titles: Any, vectors: Any, spans: Any, pages: Any
    ) -> dict[str, Any]:
        """What the caller gives beside the texts, checked, for the whole batch."""
        if spans is not None and vectors is None and self.plan.needs_vectors is False:
            logger.debug("sentence_spans without sentence_vectors: sentences from elsewhere, no vectors")
        prepared: dict[str, Any] = {
            "summaries": given_summaries(self.method, texts, summaries, titles, has_encoder=vectors is None)
        }
        if spans is not None:
            prepared["sentence_starts"] = ragged_spans(spans, texts.lengths)
        if vectors is not None:
            counts = prepared["sentence_starts"][1] if spans is not None else self._sentence_offsets(texts)
            prepared["vectors"] = sentence_matrix(vectors, counts)
        if pages is not None:
            prepared["page_starts"] = ragged_starts(pages, len(texts), "page_starts")
        return prepared

    def _sentence_offsets(self, texts: TextBatch) -> npt.NDArray[np.int64]:
        offsets = [np.zeros(1, dtype=np.int64)]
        for _, part in texts.slices(CALL_BYTES):
            _, doc_offsets, _ = engine().split_sentences(*flat_text(part), wrap=self.plan.wrap, threads=self._threads())
            offsets.append(doc_offsets[1:] + offsets[-1][-1])
        return np.concatenate(offsets)

    def _requests(self, texts: TextBatch, prepared: dict[str, Any], first_document: int) -> Iterator[Request]:
        given = prepared.get("summaries")
        for row, part in texts.slices(POOL_BYTES if self.models.use_transformer else CALL_BYTES):
            rows = slice(row, row + len(part))
            text, offsets = flat_text(part)
            ids = None if texts.ids is None else texts.ids.slice(row, len(part))
            yield Request(
                text=text,
                offsets=offsets,
                plan=self.plan,
                ids=ids,
                sentence_starts=_ragged_slice(prepared.get("sentence_starts"), rows),
                vectors=_ragged_slice(prepared.get("vectors"), rows),
                summaries=None
                if given is None
                else given[rows]
                if isinstance(given, np.ndarray)
                else given.slice(row, len(part)),
                page_starts=_ragged_slice(prepared.get("page_starts"), rows),
                first_row=row + first_document,
                threads=self._threads(),
            )

    def _threads(self) -> int:
        return self.threads or _native.default_threads()

    def _no_columns(self, prepared: dict[str, Any]) -> dict[str, Any]:
        """Those of no documents: of the same types, with what was given for them."""
        empty = Request(np.empty(0, np.uint8), np.zeros(1, np.int64), self.plan, **prepared)
        columns: dict[str, Any] = engine().segment(self.models.complete(empty, engine()))
        if "page_starts" in prepared:  # the engine takes an empty array for none
            columns["page"] = columns["page_end"] = np.empty(0, np.int64)
        return columns

    def _metadata(self, own_vectors: bool) -> dict[bytes, bytes]:
        models = tuple(self.models.metadata(own_vectors).items())
        # The engine knows no titles: to it they are given summaries.
        summary = getattr(self.method, "summary", self.plan.summary)
        return _metadata(self.plan, summary, models, os.environ.get("PYCHUNK_BACKEND", "native"))


@functools.lru_cache(maxsize=64)
def _metadata(plan: Plan, summary: str, models: tuple[tuple[str, str], ...], backend: str) -> dict[bytes, bytes]:
    facts = {
        "method": plan.method,
        "options": {key: value for key, value in vars(plan.with_(summary=summary)).items() if key != "method"},
        **dict(models),
        "backend": backend,
        "pychunk": _native.version,
    }
    return {b"pychunk": json.dumps(facts).encode()}


def _ragged_slice(
    ragged: tuple[Any, npt.NDArray[np.int64]] | None, rows: slice
) -> tuple[Any, npt.NDArray[np.int64]] | None:
    return None if ragged is None else (ragged[0], ragged[1][rows.start : rows.stop + 1])


_warned: set[str] = set()


def _warn_script(share: float) -> None:
    """Once a run."""
    if "script" not in _warned:
        _warned.add("script")
        logger.warning(
            "%.0f %% of the tokens are single letters or unknown: the static encoder knows English; other scripts are "
            "cut by little more than their letters. Pass sentence_vectors= of an encoder for this language, or use a "
            "method without vectors (fixed, recursive, sentence, paragraph)",
            100 * share,
        )
