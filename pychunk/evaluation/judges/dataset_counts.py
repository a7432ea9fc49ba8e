"""AutoChunker's criteria, counted from the documents and questions of a dataset, to compare with a model's verdicts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..measures import quality_counts
from ..measures.chunk_starts import holders
from ..measures.plain_text_blocks import find_blocks
from ..systems import Encoder, SystemChunks

Bools = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]

#: The number of words in the longest unit that a chunk should not cut, about 200 tokens.
UNIT_WORDS = 150


def counted(name: str, chunked: SystemChunks, rows: npt.ArrayLike, data: Dataset, encoder: Encoder) -> Bools | None:
    """Return whether each of the chunks ``rows`` meets a criterion, bool[rows], or None if it cannot be counted.

    ``name`` is the criterion. It cannot be counted if the dataset lacks the facts that it needs, or, for
    ``"completeness"`` and ``"context_switch"``, if chunks overlap.

    - ``"completeness"``: The chunk neither begins by referring back nor cuts a unit of at most 150 words
      (:func:`~.quality_counts.incomplete`, :func:`~.plain_text_blocks.find_blocks`).
    - ``"context_switch"``: One of the document's sharpest turns is inside the chunk
      (:func:`~.quality_counts.breaks_inside`), according to the vectors of the evaluation's encoder.
    - ``"task"``: The chunk holds text that answers one of the questions. Depending on the dataset, such text is a part
      of a reference span, a part of the right page, or an answer (:mod:`~.answer_containment`) in the paragraph that
      the question is about.
    - ``"noise"``: Always None, as no dataset here has marked text.
    """
    chosen = np.asarray(rows, np.int64)
    if name == "task":
        return None if data.kind == "boundaries" else _answering(chunked, chosen, data)
    whole = np.zeros(chunked.table.num_rows, np.bool_)
    for number, own, spans in _documents(chunked, chosen):
        if (spans[1:, 0] < spans[:-1, 1]).any():
            return None
        text = data.documents[number]
        if name == "completeness":
            whole[own] = ~quality_counts.incomplete(text, spans, _units(text, data, number))
        elif name == "context_switch":
            found, vectors = encoder.sentences(data)
            first = sum(map(len, found[:number]))
            starts = np.array([start for start, _ in found[number]], np.int64)
            held = holders(starts, spans)
            whole[own] = quality_counts.breaks_inside(vectors[first : first + len(starts)], held, len(spans))
        else:
            return None
    return whole[chosen]


def _documents(chunked: SystemChunks, chosen: I64) -> Iterator[tuple[int, I64, I64]]:
    """Yield (number, rows of all its chunks, their spans) for each document that holds a chosen chunk."""
    document = np.asarray(chunked.table["document_index"], np.int64)
    spans = np.stack([np.asarray(chunked.table[name], np.int64) for name in ("start", "end")], axis=1)
    for number in np.unique(document[chosen]):
        own = np.flatnonzero(document == number)
        yield int(number), own, spans[own]


def _units(text: str, data: Dataset, number: int) -> I64:
    found = find_blocks(text, page_starts=data.page_starts[number] if data.page_starts else ())
    short = [len(text[start:end].split()) <= UNIT_WORDS for start, end in found]
    return found[np.array(short, np.bool_)]


def _answering(chunked: SystemChunks, chosen: I64, data: Dataset) -> Bools:
    """Return which chunks answer a question about their document, or a question without a known document."""
    table = chunked.table.take(chosen)
    asked: dict[int, list[int]] = {}
    for number, each in enumerate(data.questions):
        asked.setdefault(each.document, []).append(number)
    places = zip(*(table[name].to_pylist() for name in ("document_index", "start", "end")), strict=True)
    return np.array(
        [
            any(_answers(data, number, *place) for known in (place[0], -1) for number in asked.get(known, ()))
            for place in places
        ],
        np.bool_,
    )


def _answers(data: Dataset, number: int, document: int, start: int, end: int) -> bool:
    each = data.questions[number]
    if data.kind == "answers" and each.spans:
        return any(start <= first and last <= end for first, last in each.spans)
    spans = each.spans or (() if each.paragraph is None else (each.paragraph,))
    if spans and not any(start < last and first < end for first, last in spans):
        return False
    return data.kind != "answers" or bool(data.gold.held(number, document, start, end))
