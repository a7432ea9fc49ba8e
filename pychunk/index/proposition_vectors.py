"""The vectors of propositions, which an index stores after the vectors of each chunk's sentences.

A chunk is then found by the best of its sentences and propositions. Each proposition is encoded by itself, in the same
way as a chunk with its text, and includes no context. Chunks without propositions keep their vectors, bit for bit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import compute as pc
from . import chunk_tables
from .dense import int8_vectors, token_coverage
from .store import proposition_column
from .store.part import Rows

I64 = npt.NDArray[np.int64]


def with_propositions(rows: Rows, names: Any, encoder: Any, **options: Any) -> Rows:
    """Return rows with a vector of each proposition after the vectors of its chunk's sentences.

    Each distinct proposition is encoded once. A blank one, or one whose words the encoder hardly knows, has no vector.

    Args:
        rows: Rows, whose vectors may be stored ones. Without vectors of sentences, they are returned as they are.
        names: The name or directory of the index's encoder.
        encoder: The same encoder, loaded.
        **options: ``placement``. See :func:`pychunk.segment`.
    """
    if rows.sentences is None or rows.spans is None or rows.offsets is None:
        return rows
    if not proposition_column.is_in(rows.table.schema):
        return rows
    lists = rows.table[proposition_column.PROPOSITIONS].combine_chunks()
    sizes = np.asarray(pc.fill_null(pc.list_value_length(lists), 0), np.int64)
    chunk = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(chunk)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    column = pc.fill_null(lists.flatten(), "").dictionary_encode()
    if not len(column):
        return rows
    texts, code = column.dictionary, np.asarray(column.indices, np.int64)
    found = chunk_tables.vectors_of_texts(texts, names, options)
    found[token_coverage.unread(encoder, pa.chunked_array([texts]))] = 0
    kept = np.asarray(found.any(axis=1), np.bool_)[code]
    chunk, place, code = chunk[kept], place[kept], code[kept]
    if not len(chunk):
        return rows
    added = np.bincount(chunk, minlength=len(sizes))
    offsets = rows.offsets + np.concatenate([[0], np.cumsum(added)])
    own = np.arange(len(rows.spans)) + np.repeat(np.cumsum(added) - added, np.diff(rows.offsets))
    new = offsets[chunk + 1] - added[chunk] + np.arange(len(chunk)) - (np.cumsum(added) - added)[chunk]
    spans = np.empty((offsets[-1], 2), np.int64)
    spans[own], spans[new, 0], spans[new, 1] = rows.spans, proposition_column.NO_SPAN, place
    stored = int8_vectors.stored(found, rows.sentences.dtype.name)
    sentences = np.empty((offsets[-1], stored.shape[1]), stored.dtype)
    sentences[own], sentences[new] = rows.sentences, stored[code]
    return replace(rows, offsets=offsets, spans=spans, sentences=sentences)
