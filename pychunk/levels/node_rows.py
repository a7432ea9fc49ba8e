"""The conversion of a hierarchy's nodes to a chunk table for an index, with each node once."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from .._engine import engine as engines
from .._engine import native
from .._engine.arrow import few_strings, flat_text, primitive, vectors
from .._engine.data.features import Features
from .._engine.data.plan import Plan
from .._engine.data.ragged import Ragged, offsets_of
from .._engine.data.request import Request
from ..chunks.batch import ChunkBatch, chunk_table
from ..methods.precomputed import Precomputed
from .hierarchy import Hierarchy
from .level_names import LEVELS


def chunks_of(found: Hierarchy) -> ChunkBatch:
    """Return the nodes as chunks. See :meth:`Hierarchy.chunks`."""
    parts = [_rows(found, place) for place in range(len(found.levels))]
    table = pa.concat_tables(parts)
    order = np.lexsort((np.arange(table.num_rows), np.asarray(table["document_index"])))
    table = table.take(primitive(order))
    document = np.asarray(table["document_index"])
    counts = np.bincount(document - found.first_document, minlength=found.documents)
    chunk = np.arange(len(document)) - np.repeat(offsets_of(counts)[:-1], counts)
    table = table.set_column(table.column_names.index("chunk_index"), "chunk_index", primitive(chunk))
    return ChunkBatch(table, documents=found.documents, first_document=found.first_document)


def _rows(found: Hierarchy, place: int) -> pa.Table:
    """Return the nodes that are stored at one level, in order, without nodes of only white space."""
    level = found.levels[place]
    text, offsets = flat_text(found.texts)
    request = Request(
        Features(text, offsets, sentences=Ragged(found.sentence_bytes, found.doc_offsets)),
        Precomputed().plan(Plan("precomputed")),
        cuts=found.cuts(level),
        ids=None if found.ids is None else Ragged(*flat_text(found.ids.cast(pa.large_string()))),
        first_row=found.first_document,
        threads=native.default_threads(),
    )
    columns = engines.engine().segment(request)
    facts = {**found.metadata, "levels": list(found.levels)}
    table = chunk_table(columns, found.ids, found.first_document, {b"pychunk": json.dumps(facts).encode()})
    row = columns["document_index"] - found.first_document
    begins = offsets[found.documents_of(level) - found.first_document] + found.spans_in_bytes(level)[0]
    node = np.searchsorted(begins, offsets[row] + columns["start_byte"], "right") - 1
    own = found.stored(level)[node]
    table, node = table.filter(pa.array(own)), node[own]
    numbers = found.nodes(level)[node]
    if found.tokens is not None:
        at = table.column_names.index("tokens")
        table = table.set_column(at, "tokens", primitive(found.token_counts(level)[node]))
    table = table.append_column(LEVELS, _names(found, found.lowest[numbers], found.highest[numbers]))
    if found.stored_vectors is not None:
        stored = found.stored_vectors[place][numbers - found._bases[place]]
        table = table.append_column("vector", vectors(stored))
    return table


def _names(found: Hierarchy, lowest: Any, highest: Any) -> pa.Array:
    """Return the names of all levels of each node."""
    names = [str(level) for level in found.levels]
    values = few_strings(names, pa.string()) or pa.array(names, pa.string())
    counts = highest.astype(np.int64) - lowest + 1
    offsets = offsets_of(counts)
    each = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - lowest, counts)
    return pa.ListArray.from_arrays(primitive(offsets.astype(np.int32)), values.take(primitive(each)))
