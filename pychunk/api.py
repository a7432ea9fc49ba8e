"""segment() and sentences(): the engine without an object to keep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ._engine import native
from ._engine.arrow import flat_text
from ._engine.data.features import Features
from ._engine.data.plan import Plan
from ._engine.data.request import Request
from ._engine.engine import backend_name, engine
from ._util.progress import Progress
from .chunks.batch import ChunkBatch
from .encoders.registry import identity
from .inputs import TextBatch
from .inputs.document_columns import NAMES
from .inputs.inputs import CALL_BYTES
from .methods import Method
from .option_checks import check_wrap
from .segmenter import COMMON, Segmenter

if TYPE_CHECKING:
    from .augmentation.augment import How
    from .levels.hierarchy import Hierarchy


@overload
def segment(
    batch: Any,
    method: str | Method | None = None,
    *,
    column: str | None = None,
    ids: Any = None,
    keep: Sequence[str] = (),
    summaries: Any = None,
    titles: Any = None,
    sentence_vectors: Any = None,
    sentence_spans: Any = None,
    page_starts: Any = None,
    blocks: Any = None,
    removed: Any = None,
    cuts: Any = None,
    encoder: str | Path | None = None,
    vector_encoder: str | Path | None = None,
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
    runtime: str = "auto",
    precision: str = "auto",
    progress: bool | Progress = False,
    levels: None = None,
    **options: Any,
) -> ChunkBatch: ...
@overload
def segment(
    batch: Any, method: str | Method | None = None, *, levels: Sequence[str | int], **arguments: Any
) -> Hierarchy: ...
def segment(
    batch: Any,
    method: str | Method | None = None,
    *,
    column: str | None = None,
    ids: Any = None,
    keep: Sequence[str] = (),
    summaries: Any = None,
    titles: Any = None,
    sentence_vectors: Any = None,
    sentence_spans: Any = None,
    page_starts: Any = None,
    blocks: Any = None,
    removed: Any = None,
    cuts: Any = None,
    encoder: str | Path | None = None,
    vector_encoder: str | Path | None = None,
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
    runtime: str = "auto",
    precision: str = "auto",
    progress: bool | Progress = False,
    levels: Sequence[str | int] | None = None,
    pooling: str | Path = "tokens",
    **options: Any,
) -> ChunkBatch | Hierarchy:
    """Segments documents into exact chunks: ``document[start:end] == chunk.text``, no text lost or repeated.

    Args:
        batch: a str, a list of str, an Arrow array, record batch or table, a pandas or Polars series or data frame, a
            dict of lists, one for each column, a ``datasets.Dataset``.
        method: how to cut; default: where a new topic begins, in chunks of 64 to 200 tokens (:class:`Segmenter`).
        column: the column that holds the text; default: the only string column, else ``text``.
        ids: one a document, or the name of a column; they make ``chunk_id`` independent of the text. One that several
            rows have is warned of.
        keep: columns of the batch to repeat on every chunk, after the chunks' own.
        summaries: with ``summary="given"``: one a document (list, array, or float[k, d] vectors). This and what
            follows may be the name of a column instead, where the batch has columns.
        titles: with ``summary="title"``: one a document; by itself the column ``title``.
        sentence_vectors: float[n, d], or a list of float[n_i, d], for the sentences of ``sentence_spans`` or, without
            them, of :func:`sentences`; scaled to unit length.
        sentence_spans: for each document its sentences as (start, end) in characters, increasing; a gap joins the
            sentence before it. For a single str, its spans themselves.
        page_starts: for each document the first characters of its pages; adds the columns ``page``, ``page_end``.
        blocks: for each document what a parser saw of it, as (kind, level, start, end) of headings, items, tables,
            code ...; what method ``structure`` cuts by. Borders of blocks are borders of sentences for every method.
        removed: for each document the spans that no chunk holds, as (start, end, reason, score); they come back in
            :attr:`ChunkBatch.removed`.
        cuts: with method ``given``: for each document the first sentence of each chunk, counted from 0; or what
            :meth:`Segmenter.cuts` returned.
        encoder, vector_encoder: what the method sees sentences through, and whose vectors are returned: ``"static"``, a
            name from ``pychunk model list``, or a directory that ``pychunk export`` wrote. Without ``method`` an
            ``encoder`` other than the static one means ``pic``.
        max_tokens: longest chunk; ``None`` is no limit, ``"auto"`` 200 by default (``size``, if that is more), 512 for
            methods that cut by meaning (``topic``: 1,024), else none.
        min_tokens: a shorter chunk joins its more similar neighbour; ``"auto"``: 64 by default and for methods that cut
            by meaning, but ``topic``.
        atoms: whether headings, introductions, scraps and marks stay with what they belong to; see :class:`Segmenter`.
        overlap: tokens (or the method's ``unit``) repeated from the chunk before, in whole sentences; if none fits, in
            whole words.
        vectors: ``"chunk"`` (column ``vector``) or ``"sentence"`` (column ``sentences``).
        wrap: ``False``: every line break ends a sentence and a paragraph, also in texts with lines of one width;
            ``True``: a single line break is a space in all texts.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
        threads: default ``PYCHUNK_THREADS``, else the CPUs this process may use.
        on_error: ``"skip"`` leaves rows out that are not text, and lists them in ``errors``; so it does documents for
            which a function of ``augment`` fails, whose chunks then have no context of it.
        augment: adds the column ``context``, by which an index finds chunks beside their text: ``"head"``, ``"title"``
            ...; see :func:`pychunk.augment`.
        runtime, precision: what runs a transformer, and in what numbers; see :class:`Segmenter`.
        progress: True for a progress bar, or a function of (bytes done, bytes in all).
        levels: the documents at several levels, from fine to coarse: ``"sentence"``, ``"group"`` (the method's chunks,
            cut at the borders of the next level), ``"paragraph"``, ``"subsection"``, ``"section"``, ``"document"``;
            ``"page"`` beside sentence, group and document; or sizes in tokens beside sentence and document. With
            ``vectors`` each node has one.
        pooling: how ``levels`` get their vectors: ``"tokens"``, the mean of the sentences' by tokens, or
            ``"compressor"``, a small network that was learned on leads of articles, of vectors of the static encoder
            or of ``minilm``; or the folder of one that was trained for another encoder.
        **options: the method's own, such as ``size`` of ``fixed``; ``pychunk methods`` lists them.

    Returns:
        A :class:`ChunkBatch`: an Arrow table, iterable as ``Chunk`` objects. With ``levels`` a :class:`Hierarchy`.

    Raises:
        ValueError, TypeError: an unknown option, or a row that is not text, by its number.

    Example:
        >>> import pychunk
        >>> chunks = pychunk.segment(["First document. It is short.", "Second."], method="sentence")
        >>> [(chunk.document, chunk.text) for chunk in chunks]
        [(0, 'First document.'), (0, 'It is short.'), (1, 'Second.')]
    """
    common: dict[str, Any] = {
        "encoder": encoder,
        "vector_encoder": vector_encoder,
        "max_tokens": max_tokens,
        "min_tokens": min_tokens,
        "atoms": atoms,
        "overlap": overlap,
        "vectors": vectors,
        "wrap": wrap,
        "device": device,
        "threads": threads,
        "on_error": on_error,
        "augment": augment,
        "runtime": runtime,
        "precision": precision,
    }
    said = {name: options.pop(name) for name in NAMES if name in options} if options else {}
    for name, value in common.items():
        if value is not COMMON[name]:  # what equals it, as False does 0, is checked and cached as what it is
            options[name] = value
    said |= {
        "summaries": summaries,
        "titles": titles,
        "sentence_vectors": sentence_vectors,
        "sentence_spans": sentence_spans,
        "page_starts": page_starts,
        "blocks": blocks,
        "removed": removed,
        "cuts": cuts,
    }
    if levels is not None:
        if keep or progress:
            raise ValueError("levels= goes without keep= and progress=: a hierarchy holds no chunks to keep columns on")
        from .levels.hierarchy_builder import segment_levels  # here, as most calls want none

        return segment_levels(_cached(method, options), batch, levels, pooling=pooling, column=column, ids=ids, **said)
    if pooling != "tokens":
        raise ValueError(f"pooling= goes with levels=, whose vectors it makes; got {pooling!r} alone")
    return _cached(method, options)(batch, column=column, ids=ids, keep=keep, progress=progress, **said)


#: By options: which models they named, and the Segmenter.
_segmenters: dict[Any, tuple[Any, Segmenter]] = {}


def _cached(method: str | Method | None, options: dict[str, Any]) -> Segmenter:
    """The Segmenter of these options; made anew where they cannot be hashed, or name what is another model now."""
    models = [identity(options[name]) for name in ("encoder", "vector_encoder") if options.get(name) is not None]
    key = (backend_name(), _typed(method), *options, *map(_typed, options.values()))
    try:
        found = _segmenters.get(key)
    except TypeError:
        return Segmenter(method, **options)
    if found is None or found[0] != models:
        if len(_segmenters) >= 64:
            _segmenters.clear()
        found = _segmenters[key] = models, Segmenter(method, **options)
    return found[1]


def _typed(value: Any) -> Any:
    """A key for an option: 1, 1.0 and True are equal, but only the first is a size."""
    return type(value), tuple(map(_typed, value)) if isinstance(value, (list, tuple)) else value


def sentences(batch: Any, *, column: str | None = None, wrap: str | bool = "auto") -> list[list[tuple[int, int]]]:
    """Sentence spans in characters, one list a document; they tile it (white space follows its sentence).

    What to encode for ``sentence_vectors=``.

    Example:
        >>> sentences("Dr. Who came. He left.")
        [[(0, 14), (14, 22)]]
    """
    found: list[list[tuple[int, int]]] = []
    for _, part in TextBatch.of(batch, column=column).slices(CALL_BYTES):
        features = Features(*flat_text(part))
        plan, threads = Plan("sentence", wrap=check_wrap(wrap)), native.default_threads()
        starts, _ = engine().split(Request(features, plan, threads=threads))
        for row in range(len(part)):
            data = features.text[features.offsets[row] : features.offsets[row + 1]]
            before = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])
            own = before[starts.part(row)].tolist()
            ends = [*own[1:], int(before[-1])] if own else []
            found.append(list(zip(own, ends, strict=True)))
    return found
