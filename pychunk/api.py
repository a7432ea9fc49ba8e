"""The functions segment(), segment_levels() and split_sentences(), for which the caller makes no Segmenter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._engine import native
from ._engine.data.features import Features
from ._engine.data.plan import Plan
from ._engine.data.request import Request
from ._engine.engine import backend_name, engine
from ._util.lazy_imports import by_name
from ._util.progress import Progress
from .chunks.batch import ChunkBatch
from .encoders.registry import identity
from .inputs import TextBatch
from .inputs.inputs import CALL_BYTES
from .methods import Method
from .option_checks import check_unwrap_lines
from .placement import PlacementLike
from .segmenter import COMMON, Segmenter
from .vectors import Vectors

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .augmentation.augment import How
    from .encoders.registry import EncoderLike
    from .inputs.document_columns import DocumentColumns
    from .levels.hierarchy import Hierarchy
    from .methods.method_options import MethodName, MethodOptions


def segment(
    batch: Any,
    method: MethodName | Method | None = None,
    *,
    columns: DocumentColumns | None = None,
    ids: Any = None,
    metadata_columns: Sequence[str] = (),
    encoder: EncoderLike | None = None,
    max_tokens: int | Literal["auto"] | None = "auto",
    min_tokens: int | Literal["auto"] = "auto",
    overlap: int = 0,
    vectors: Literal["chunk", "sentence"] | Vectors | None = None,
    augment: How | None = None,
    placement: PlacementLike | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    progress: bool | Progress = False,
    **options: Unpack[MethodOptions],
) -> ChunkBatch:
    """Segment documents into chunks with exact positions: ``document[start:end] == chunk.text``.

    By default every character is in exactly one chunk, except for white space between chunks, which is in none.

    Args:
        batch: A str, a list of str, an Arrow array, record batch or table, a pandas or Polars series or data frame, a
            dict of lists (one for each column), or a ``datasets.Dataset``.
        method: The method that chooses where chunks end. Default: ``topic``, which cuts where a new topic begins, in
            chunks of 64 to 200 tokens; :class:`Segmenter` explains the choice.
        columns: A dict with further data of the documents. Each value is the name of a column of the batch, or a list
            with one entry for each document. The keys are:

            - ``text``: The name of the column that holds the text. Default: the only string column, else ``text``.
            - ``titles``, ``summaries``: The title or summary of each document, for ``pic`` with ``summary="title"`` or
              ``summary="given"``. Summaries of k documents may be vectors, float[k, d].
            - ``sentence_spans``: The sentences of each document as (start, end) in characters, in increasing order.
              Text between two spans belongs to the sentence before it. If the batch is a single str, pass its list of
              spans.
            - ``sentence_vectors``: A vector for each sentence of ``sentence_spans``, or else of
              :func:`split_sentences`. Pass float[n, d] for the n sentences of all documents, or a list with one array
              for each document. The vectors are scaled to unit length. Those in float32 or float16 are not copied.
            - ``token_counts``: The number of tokens of each sentence, as ``tokenizer`` counts them.
            - ``page_starts``: The position of the first character of each page; adds the columns ``page`` and
              ``page_end``.
            - ``blocks``: Headings, list items, tables and other blocks as (kind, level, start, end), by which
              ``structure`` cuts. For every method, the boundaries of blocks are boundaries of sentences.
            - ``removed``: The spans that no chunk may contain, as (start, end, reason, score).
              :attr:`ChunkBatch.removed` returns them.
            - ``cuts``: For ``precomputed``: the number of the first sentence of each chunk, counted from 0; or the
              result of :meth:`Segmenter.cuts`.
        ids: One id for each document, or the name of a column. ``chunk_id`` is a hash of the document's id, and of the
            span and text of the chunk. Without ids, the text of the whole document takes the place of the id.
            ``text_id`` is a hash of the document's id, the text, and its number among equal texts of the document, so
            an edit elsewhere does not change it. A warning names ids that several documents share.
        metadata_columns: The columns of the batch to copy to every chunk. They follow the chunk's own columns.
        encoder: See :class:`Segmenter`.
        max_tokens: See :class:`Segmenter`.
        min_tokens: See :class:`Segmenter`.
        overlap: See :class:`Segmenter`.
        vectors: See :class:`Segmenter`.
        augment: See :class:`Segmenter`.
        placement: See :class:`Segmenter`.
        on_error: See :class:`Segmenter`. With ``"skip"``, if a function in ``augment`` fails for a document, the
            document's chunks lack the context of this function.
        progress: True for a progress bar, or a function of (bytes done, bytes in all).
        **options: The options of the method, such as ``size`` of ``fixed``; ``pychunk methods`` lists them.

    Returns:
        A :class:`ChunkBatch`: an Arrow table, which iterates as ``Chunk`` objects.

    Raises:
        ValueError, TypeError: An option is unknown, or a row is not text; the message has the row's number.

    Example:
        >>> import pychunk
        >>> chunks = pychunk.segment(["First document. It is short.", "Second."], method="sentence")
        >>> [(chunk.document_index, chunk.text) for chunk in chunks]
        [(0, 'First document.'), (0, 'It is short.'), (1, 'Second.')]
    """
    common = {
        "encoder": encoder,
        "max_tokens": max_tokens,
        "min_tokens": min_tokens,
        "overlap": overlap,
        "vectors": vectors,
        "augment": augment,
        "placement": placement,
        "on_error": on_error,
    }
    made = _cached(method, _unusual(common, options))
    return made(batch, columns=columns, ids=ids, metadata_columns=metadata_columns, progress=progress)


def segment_levels(
    batch: Any,
    levels: Sequence[str | int],
    method: MethodName | Method | None = None,
    *,
    columns: DocumentColumns | None = None,
    ids: Any = None,
    pooling: Literal["tokens", "compressor"] | Path = "tokens",
    encoder: EncoderLike | None = None,
    max_tokens: int | Literal["auto"] | None = "auto",
    min_tokens: int | Literal["auto"] = "auto",
    overlap: int = 0,
    vectors: Literal["chunk", "sentence"] | Vectors | None = None,
    placement: PlacementLike | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    **options: Unpack[MethodOptions],
) -> Hierarchy:
    r"""Segment documents at several levels, from fine to coarse, such as sentence, section and document.

    Args:
        batch: See :func:`segment`.
        columns: See :func:`segment`.
        ids: See :func:`segment`.
        levels: The levels from fine to coarse, from one of three sets. By structure: ``"sentence"``, ``"group"`` (the
            chunks of the method, cut at the boundaries of coarser levels), ``"paragraph"``, ``"subsection"``,
            ``"section"``, ``"document"``. By pages: ``"sentence"``, ``"group"``, ``"page"``, ``"document"``. By size:
            ``"sentence"``, numbers of tokens such as 128 and 256, ``"document"``.
        method: The method that makes the chunks of level ``"group"``.
        pooling: The way in which the vector of a node (a chunk of any level) is computed from the vectors of its
            sentences, if ``vectors`` asks for vectors.
            ``"tokens"``: their mean, weighted by tokens. ``"compressor"``: a small network, trained on the leads of
            articles, for vectors of the static encoder or of ``minilm``. Or the folder of a network that was trained
            for another encoder.
        encoder: See :class:`Segmenter`.
        max_tokens: See :class:`Segmenter`.
        min_tokens: See :class:`Segmenter`.
        overlap: See :class:`Segmenter`.
        vectors: See :class:`Segmenter`.
        placement: See :class:`Segmenter`.
        on_error: See :class:`Segmenter`.
        **options: See :class:`Segmenter`.

    Returns:
        A :class:`Hierarchy`.

    Raises:
        ValueError: Levels are unknown, out of order or not nested, or the batch has removed spans. An option is
            unknown, or this function does not support it, such as ``metadata_columns`` and ``progress``.

    Example:
        >>> import pychunk
        >>> found = pychunk.segment_levels("One. Two.\n\nThree.", ["sentence", "paragraph"])
        >>> found.texts_of("paragraph")
        ['One. Two.', 'Three.']
    """
    from .levels.hierarchy_builder import hierarchy_by  # imported here, because few programs use levels

    for name in ("metadata_columns", "progress"):
        if name in options:
            raise ValueError(f"segment_levels() takes no {name}=, which segment() accepts; leave it out")
    common = {
        "encoder": encoder,
        "max_tokens": max_tokens,
        "min_tokens": min_tokens,
        "overlap": overlap,
        "vectors": vectors,
        "placement": placement,
        "on_error": on_error,
    }
    made = _cached(method, _unusual(common, options))
    return hierarchy_by(made, batch, levels, pooling=pooling, columns=columns, ids=ids)


def _unusual(common: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a Segmenter without those that are its defaults."""
    # Values are compared by identity. False equals the default 0, for example, but must be checked as False.
    said = {**options, **common}
    return {name: value for name, value in said.items() if name not in COMMON or value is not COMMON[name]}


#: The cached Segmenters by their options, each with the identities of the models that the options name.
_segmenters: dict[Any, tuple[Any, Segmenter]] = {}


def _cached(method: MethodName | Method | None, options: dict[str, Any]) -> Segmenter:
    """Return a cached Segmenter with these options, or a new one if there is none.

    The cache is not used if the options cannot be hashed, or if a model that they name has changed on the disk.
    """
    vectors = options.get("vectors")
    named = [options.get("encoder"), vectors.encoder if isinstance(vectors, Vectors) else None]
    models = [identity(encoder) for encoder in named if encoder is not None]
    if options.get("tokenizer") is not None:
        models.append(by_name("pychunk.tokenizers.sources", "identity")(options["tokenizer"]))
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
    """Return a key for an option, with its type: 1, 1.0 and True are equal, but only 1 is a valid size."""
    return type(value), tuple(map(_typed, value)) if isinstance(value, (list, tuple)) else value


def split_sentences(
    batch: Any, *, column: str | None = None, unwrap_lines: str | bool = "auto"
) -> list[list[tuple[int, int]]]:
    """Return the spans of sentences in characters, one list for each document.

    The spans cover the document without gaps, as white space belongs to the sentence before it. If you compute the
    vectors for ``columns={"sentence_vectors": ...}`` yourself, encode these sentences.

    Args:
        batch: See :func:`segment`.
        column: The name of the column that holds the text. Default: the only string column, else ``text``.
        unwrap_lines: See :class:`Segmenter`.

    Example:
        >>> split_sentences("Dr. Who came. He left.")
        [[(0, 14), (14, 22)]]
    """
    found: list[list[tuple[int, int]]] = []
    for _, text, offsets in TextBatch.of(batch, column=column).slices(CALL_BYTES):
        features = Features(text, offsets)
        plan, threads = Plan("sentence", unwrap_lines=check_unwrap_lines(unwrap_lines)), native.default_threads()
        starts, _ = engine().split(Request(features, plan, threads=threads))
        for row in range(features.documents):
            data = features.text[features.offsets[row] : features.offsets[row + 1]]
            before = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])
            own = before[starts.part(row)].tolist()
            ends = [*own[1:], int(before[-1])] if own else []
            found.append(list(zip(own, ends, strict=True)))
    return found
