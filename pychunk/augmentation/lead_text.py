"""The first words of a document, read from its chunks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .._engine.arrow import compute as pc
from .._util.reprs import whole_words
from .chunk_documents import Documents


def heads(documents: Documents, characters: int) -> list[str]:
    """Return the first words of each document, with single spaces between them, of at most ``characters`` in total.

    The result does not depend on how the documents were cut. Text in which two chunks overlap counts once, and a gap
    between chunks becomes a space. If whole words would fill less than half of ``characters``, the next word is cut to
    fill the rest, as in scripts without spaces.
    """
    table = documents.table
    start = np.asarray(table["start"], np.int64)
    begin = start[documents.first[:-1]]
    near = start - np.repeat(begin, documents.counts) < 2 * characters
    near[documents.first[:-1]] = True
    rows = np.flatnonzero(near)
    column = table["text"].cast(pa.large_string()).take(pa.array(rows))
    texts = pc.utf8_slice_codeunits(column, 0, 2 * characters).to_pylist()
    whole = np.asarray(pc.less_equal(pc.utf8_length(column), 2 * characters)).tolist()
    ends = np.cumsum(np.add.reduceat(near, documents.first[:-1])).tolist() if len(documents) else []
    starts, sizes = start[rows].tolist(), documents.counts.tolist()
    found, at = [], 0
    for number, end in enumerate(ends):
        text, complete = _joined(texts[at:end], starts[at:end], whole[at:end])
        words = " ".join(text[: characters + characters // 8].split())
        if len(words) <= characters:
            words = " ".join(text.split())
        # If the text read so far has too few words, because much of it is white space, all chunks are read.
        if len(words) <= characters and not (complete and end - at == sizes[number]):
            first, last = documents.first[number : number + 2].tolist()
            every = table["text"].slice(first, last - first).to_pylist()
            words = " ".join(_joined(every, start[first:last].tolist(), [True] * len(every))[0].split())
        found.append(whole_words(words, characters))
        at = end
    return found


def _joined(texts: list[str], starts: list[int], whole: list[bool]) -> tuple[str, bool]:
    """Return chunks as one text, up to the first truncated one, and whether all of them are complete."""
    if len(texts) == 1:
        return texts[0], whole[0]
    pieces: list[str] = []
    reached = starts[0]
    for text, start, complete in zip(texts, starts, whole, strict=True):
        if start > reached:
            pieces.append(" ")
        pieces.append(text[max(0, reached - start) :])
        reached = max(reached, start + len(text))
        if not complete:
            return "".join(pieces), False
    return "".join(pieces), True
