"""The most central sentences of a document, or of the chunks around a chunk.

A sentence is more central than another if the dot product of its vector with the sum of all sentences' vectors is
larger. The vectors come from the chunk table if it has sentence vectors, else from the static encoder. They are rounded
to whole numbers, whose sums are exact in any order, so every machine finds the same sentences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._util.lazy_imports import by_name
from .._util.reprs import whole_words
from . import context_windows
from .chunk_documents import Documents

I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

#: Vectors are multiplied by this number before they are rounded. Products of two sums of 2^20 sentences each are below
#: 2^53, which float64 holds exactly.
_ONE = 2048
#: Scores are rounded to multiples of this number. Scores that differ only because vectors were rounded, such as those
#: of the only two sentences of a document, then become equal. Among equal scores, the first sentence is taken.
_ALIKE = _ONE * _ONE / 256


@dataclass(frozen=True)
class Sentences:
    """The sentences of chunks.

    Attributes:
        texts: The text of each chunk.
        first: int64[n + 1]: the number of the first sentence of each of the n chunks, and then m, the number of
            sentences.
        begins: int64[m]: the position in its chunk's text at which each sentence begins.
        ends: int64[m]: the position after the last character of each sentence.
        vectors: float32[m, dim], of unit length.
    """

    texts: list[str]
    first: I64
    begins: I64
    ends: I64
    vectors: F32

    def text(self, chunk: int, sentence: int) -> str:
        """Return the text of a sentence of a chunk, with white space reduced to single spaces."""
        own = self.texts[chunk][max(0, int(self.begins[sentence])) : int(self.ends[sentence])]
        return " ".join(own.split())


def sentences_of(table: pa.Table) -> Sentences:
    """Return the sentences of a chunk table. If it has no sentence vectors, the static encoder makes them."""
    texts: list[str] = table["text"].to_pylist()
    start = np.asarray(table["start"], np.int64)
    if "sentences" not in table.column_names:
        options: dict[str, Any] = {"size": 1 << 40, "unit": "characters", "keep_together": False, "vectors": "sentence"}
        encoded = by_name("pychunk.segmenter", "Segmenter")("fixed", **options)(texts).table
        found = sentences_of(encoded)
        filled = np.zeros(len(texts) + 1, np.int64)
        rows = np.asarray(encoded["document_index"], np.int64)
        filled[rows + 1] = np.diff(found.first)
        first = np.cumsum(filled)
        shift = np.repeat(np.asarray(encoded["start"], np.int64), np.diff(found.first))
        return replace(found, texts=texts, first=first, begins=found.begins + shift, ends=found.ends + shift)
    lists = table["sentences"].combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks) if lists.num_chunks else pa.array([], lists.type)
    offsets = np.asarray(lists.offsets, np.int64)
    begin, end, vector = lists.flatten().flatten()
    width = vector.type.list_size
    vectors = np.asarray(vector.flatten(), np.float32).reshape(-1, width)
    shift = np.repeat(start, np.diff(offsets))
    return Sentences(
        texts, offsets - offsets[0], np.asarray(begin, np.int64) - shift, np.asarray(end, np.int64) - shift, vectors
    )


def _whole(vectors: F32) -> F64:
    """Return vectors of length 2048, rounded to whole numbers."""
    found = np.multiply(vectors, _ONE, dtype=np.float64)
    return np.rint(found, out=found)


def summaries(documents: Documents, characters: int, window: int) -> list[str]:
    """Return for each document the most central sentences of its first and last chunks, in their order.

    Args:
        documents: The documents with their chunks.
        characters: The most characters of a summary. As many sentences as fit are taken, the most central first, each
            once.
        window: The number of chunks that are read, half of them at the beginning and half at the end.
    """
    head, tail = context_windows.ends(documents.counts, window)
    table, first, counts = documents.table, documents.first[:-1], documents.counts
    if "sentences" not in table.column_names:  # Only the chunks that are read are encoded.
        sizes = head + tail
        begins = np.cumsum(sizes) - sizes
        place = np.arange(int(sizes.sum())) - np.repeat(begins, sizes)
        skipped = np.where(place >= np.repeat(head, sizes), np.repeat(counts - sizes, sizes), 0)
        table = table.select(["start", "text"]).take(pa.array(np.repeat(first, sizes) + place + skipped))
        first, counts = begins, sizes
    found = sentences_of(table)
    chunk_of = np.repeat(np.arange(len(table)), np.diff(found.first))
    runs = found.first[np.stack([first, first + head, first + counts - tail, first + counts])]
    out = []
    for begin, split, rest, end in runs.T.tolist():
        rows = np.concatenate([np.arange(begin, split), np.arange(rest, end)])
        vectors = _whole(np.concatenate([found.vectors[begin:split], found.vectors[rest:end]]))
        score = np.rint(np.einsum("ij,j->i", vectors, vectors.sum(axis=0)) / _ALIKE)
        order = rows[np.argsort(-score, kind="stable")]
        out.append(_fitting(found, order.tolist(), chunk_of[order].tolist(), characters))
    return out


def _fitting(found: Sentences, order: list[int], chunks: list[int], characters: int) -> str:
    """Return the best sentences that fit, in reading order, or the first words of the best if none fits."""
    taken: dict[int, str] = {}
    left = characters
    for chunk, sentence in zip(chunks, order, strict=True):
        text = found.text(chunk, sentence)
        if text and len(text) <= left and text not in taken.values():
            taken[sentence] = text
            left -= len(text) + 1
        if left < characters // 10:
            break
    if not taken:
        return whole_words(found.text(chunks[0], order[0]), characters) if order else ""
    return " ".join(taken[sentence] for sentence in sorted(taken))


def neighbours(documents: Documents, characters: int, window: int) -> list[str]:
    """Return for each chunk the most central sentence of the other chunks around it, cut to ``characters``.

    Args:
        documents: The documents with their chunks.
        characters: The most characters of a context.
        window: The number of other chunks that are read, half of them before the chunk. Near the start or end of a
            document, more of them come from the other side.
    """
    found = sentences_of(documents.table)
    counts, of_chunks = documents.counts, documents.of_chunks
    first, end = context_windows.around(counts[of_chunks], documents.places, window)
    first, end = first + documents.first[of_chunks], end + documents.first[of_chunks]
    best = native.most_central(found.vectors, found.first, first, end, threads=1)
    chunks = np.searchsorted(found.first, best, side="right") - 1
    return [
        whole_words(found.text(chunk, sentence), characters) if sentence >= 0 else ""
        for chunk, sentence in zip(chunks.tolist(), best.tolist(), strict=True)
    ]
