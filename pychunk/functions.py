"""segment() and sentences(): the engine without an object to keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._arrow import flat_text
from .batch import TextBatch
from .chunks import ChunkBatch
from .engine import engine
from .options import check_wrap
from .progress import Progress
from .segmenter import CALL_BYTES, Segmenter


def segment(
    batch: Any,
    method: str = "pic",
    *,
    column: str | None = None,
    ids: Any = None,
    summaries: Any = None,
    titles: Any = None,
    sentence_vectors: Any = None,
    sentence_spans: Any = None,
    page_starts: Any = None,
    progress: bool | Progress = False,
    **options: Any,
) -> ChunkBatch:
    """Segments documents into exact chunks: ``document[start:end] == chunk.text``, no text lost or repeated.

    Args:
        batch: a str, a list of str, an Arrow array, record batch or table, a pandas or Polars series or data frame.
        method: how to cut; default ``pic``, runs of sentences near to or far from the document's summary.
        column: the column that holds the text; default: the only string column, else ``text``.
        ids: one a document, or the name of a column; they make ``chunk_id`` independent of the text.
        summaries: with ``summary="given"``: one a document (list, array, name of a column, or float[k, d] vectors).
        titles: with ``summary="title"``: likewise.
        sentence_vectors: float[n, d], or a list of float[n_i, d], for the sentences of ``sentence_spans`` or, without
            them, of :func:`sentences`; scaled to unit length.
        sentence_spans: for each document its sentences as (start, end) in characters, increasing; a gap joins the
            sentence before it. For a single str, its spans themselves.
        page_starts: for each document the first characters of its pages; adds the columns ``page``, ``page_end``.
        progress: True for a progress bar, or a function of (bytes done, bytes in all).
        **options: of :class:`Segmenter` and of the method.

    Returns:
        A :class:`ChunkBatch`: an Arrow table, iterable as ``Chunk`` objects.

    Raises:
        ValueError, TypeError: an unknown option, or a row that is not text, by its number.

    Example:
        >>> import pychunk
        >>> chunks = pychunk.segment(["First document. It is short.", "Second."], method="sentence")
        >>> [(chunk.document, chunk.text) for chunk in chunks]
        [(0, 'First document.'), (0, 'It is short.'), (1, 'Second.')]
    """
    return _cached(method, options)(
        batch,
        column=column,
        ids=ids,
        summaries=summaries,
        titles=titles,
        sentence_vectors=sentence_vectors,
        sentence_spans=sentence_spans,
        page_starts=page_starts,
        progress=progress,
    )


_segmenters: dict[Any, Segmenter] = {}


def _cached(method: str, options: dict[str, Any]) -> Segmenter:
    """The Segmenter of these options; made anew where they cannot be hashed."""
    key = (_typed(method), *((name, _typed(options[name])) for name in sorted(options)))
    try:
        found = _segmenters.get(key)
    except TypeError:
        return Segmenter(method, **options)
    if found is None:
        if len(_segmenters) >= 64:
            _segmenters.clear()
        found = _segmenters[key] = Segmenter(method, **options)
    return found


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
        text, offsets = flat_text(part)
        spans, doc_offsets, _ = engine().split_sentences(
            text, offsets, wrap=check_wrap(wrap), threads=_native.default_threads()
        )
        for row in range(len(part)):
            data = text[offsets[row] : offsets[row + 1]]
            before = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])
            own = before[spans[doc_offsets[row] : doc_offsets[row + 1]]]
            found.append([(int(start), int(end)) for start, end in own])
    return found
