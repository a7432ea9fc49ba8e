"""The vectors of contexts, which an index adds to the stored vectors of its chunks.

A chunk of a leaflet may say *take it with food* without naming the medicine, which its context names. Each stored
vector ``v`` of such a chunk becomes ``normalize(v + weight * c)``. ``c`` is the unit vector of the chunk's context, by
the index's own encoder. The weight is in the index's manifest. New indexes get ``CONTEXTS.weight`` of
:mod:`pychunk.defaults`, where its measurements are, too. An index of an older version has no weight, and its vectors
never include contexts.

The context is encoded by itself, in the same way as a chunk with its text. A transformer therefore does not read it
together with the text of the chunk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from .._engine import native
from .._engine.arrow import compute as pc
from .._engine.arrow import one_array
from . import chunk_tables
from .dense import token_coverage
from .store import context_column
from .store.part import Layout


def has_contexts(table: pa.Table) -> bool:
    """Return whether any chunk has a context that is not empty.

    Example:
        >>> own = context_column.marked(pa.table({"text": ["Food.", "Sea."], "context": ["", "Compass"]}))
        >>> has_contexts(own), has_contexts(own.slice(0, 1)), has_contexts(own.drop_columns(["context"]))
        (True, False, False)
    """
    if not context_column.is_in(table.schema):
        return False
    return bool(pc.any(pc.not_equal(table[context_column.CONTEXT], "")).as_py())


def without_effect(layout: Layout, encoder: Any, weight: float) -> str | None:
    """Return what the user must know if contexts do not change the vectors of an index, or None if they do.

    Args:
        layout: The layout of the index.
        encoder: The encoder of the index, or None.
        weight: The weight of contexts in the vectors of the index.
    """
    if encoder is not None and weight:
        return None
    effect = "count for BM25 only, not for vectors" if layout.analyzer else "have no effect, as it has no BM25 either"
    if encoder is None:
        return (
            f"the index was created without an encoder (encoder=None), so the contexts of chunks {effect}: create an "
            "index with an encoder, or pass vectors of each chunk's context and text"
        )
    return (
        f"an older version of pychunk created the index, and its vectors do not include contexts, so the contexts of "
        f"chunks {effect}: build the index again"
    )


def of_chunks(table: pa.Table, names: Any, encoder: Any, weight: float, **options: Any) -> native.Added | None:
    """Return what contexts add to the vectors of chunks, or None if they add nothing.

    Each distinct context is encoded once, and its vector multiplied by the weight. It is zero if the encoder hardly
    knows the context's words. The first array has the vector's number for each chunk; see :func:`.native.unit_sums`,
    which also says that zero vectors stay zero, so that no search by vectors finds them.

    Args:
        table: Chunks with their contexts.
        names: The name or directory of the index's encoder.
        encoder: The same encoder, loaded.
        weight: The weight of the vector of a context relative to that of the text.
        **options: ``placement``. See :func:`pychunk.segment`.
    """
    known = context_column.contexts(table) if weight else None
    if known is None or not pc.any(pc.not_equal(known, "")).as_py():
        return None
    # Equal contexts mostly follow each other. Only one of each run is hashed, which takes a third of the time.
    runs = pc.run_end_encode(one_array(known), run_end_type=pa.int64())
    column = runs.values.dictionary_encode()
    texts, sizes = column.dictionary, np.diff(np.asarray(runs.run_ends), prepend=0)
    found = chunk_tables.vectors_of_texts(texts, names, options)
    found *= np.float32(weight)
    found[token_coverage.unread(encoder, pa.chunked_array([texts]))] = 0
    return np.repeat(np.asarray(column.indices, np.int64), sizes), found
