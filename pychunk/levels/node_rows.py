"""The conversion of a hierarchy's nodes to a chunk table for an index, with each node once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine import engine as engines
from .._engine import native
from .._engine.arrow import few_strings, flat_text, masked, primitive, vectors
from .._engine.data.cuts import Cuts
from .._engine.data.features import Features
from .._engine.data.plan import Plan
from .._engine.data.ragged import Ragged, offsets_of
from .._engine.data.request import Request
from ..chunks.batch import ChunkBatch
from ..chunks.chunk_table import chunk_table
from ..chunks.text_ids import with_own_text_ids
from ..methods.precomputed import Precomputed
from .hierarchy import Hierarchy
from .level_names import LEVELS, Level

if TYPE_CHECKING:
    import numpy.typing as npt

    I64 = npt.NDArray[np.int64]


def chunks_of(found: Hierarchy) -> ChunkBatch:
    """Return the nodes as chunks. See :meth:`Hierarchy.chunks`."""
    parts = [_rows(found, place) for place in range(len(found.levels))]
    table = pa.concat_tables(parts)
    if found.removed is not None and table["holes"].null_count == table.num_rows:
        table = table.drop_columns(["holes"])
    order = np.lexsort((np.arange(table.num_rows), np.asarray(table["document_index"])))
    table = table.take(primitive(order))
    document = np.asarray(table["document_index"])
    counts = np.bincount(document - found.first_document, minlength=found.documents)
    chunk = np.arange(len(document)) - np.repeat(offsets_of(counts)[:-1], counts)
    table = table.set_column(table.column_names.index("chunk_index"), "chunk_index", primitive(chunk))
    return ChunkBatch(with_own_text_ids(table), documents=found.documents, first_document=found.first_document)


def _rows(found: Hierarchy, place: int) -> pa.Table:
    """Return the nodes that are stored at one level, in order, without nodes of only white space."""
    level = found.levels[place]
    text, offsets = flat_text(found.texts)
    pieces, node_of = _pieces(found, place)
    row = np.searchsorted(found.doc_offsets, pieces, "right") - 1
    cuts = Cuts(
        (pieces - found.doc_offsets[row]).astype(np.int32), offsets_of(np.bincount(row, minlength=len(offsets) - 1))
    )
    request = Request(
        Features(text, offsets, sentences=Ragged(found.sentence_bytes, found.doc_offsets)),
        Precomputed().plan(Plan("precomputed")),
        cuts=cuts,
        ids=None if found.ids is None else Ragged(*flat_text(found.ids.cast(pa.large_string()))),
        first_row=found.first_document,
        threads=native.default_threads(),
    )
    columns = engines.engine().segment(request)
    facts = {**found.metadata, "levels": list(found.levels)}
    table = chunk_table(columns, found.ids, found.first_document, {b"pychunk": json.dumps(facts).encode()})
    begins = offsets[row] + found.sentence_bytes[pieces]
    starts = offsets[columns["document_index"] - found.first_document] + columns["start_byte"]
    node = node_of[np.searchsorted(begins, starts, "right") - 1]
    own = (node >= 0) & found.stored(level)[node]
    table, node = table.filter(pa.array(own)), node[own]
    numbers = found.nodes(level)[node]
    if found.tokens is not None:
        at = table.column_names.index("tokens")
        table = table.set_column(at, "tokens", primitive(found.token_counts(level)[node]))
    if found.removed is not None:
        table = table.append_column("holes", _holes(found, level, node))
    table = table.append_column(LEVELS, _names(found, found.lowest[numbers], found.highest[numbers]))
    if found.stored_vectors is not None:
        stored = found.stored_vectors[place][numbers - found._bases[place]]
        table = table.append_column("vector", vectors(stored))
    return table


def _pieces(found: Hierarchy, place: int) -> tuple[I64, I64]:
    """Return the first sentences of pieces that cover all documents, and the node of each piece or -1, int64[p] each.

    The piece of a node is the node without the removed sentences at its ends, which are pieces of no node.
    """
    first = found.firsts[place]
    if found.removed is None:
        return first[:-1], np.arange(len(first) - 1)
    kept = found._kept
    node = np.flatnonzero(np.diff(kept.before[first]))
    begins = kept.numbers[kept.before[first[node]]]
    ends = kept.numbers[kept.before[first[node + 1]] - 1] + 1
    documents = found.doc_offsets[:-1][np.diff(found.doc_offsets) > 0]
    pieces = np.unique(np.concatenate([documents, begins, ends[ends < first[-1]]]))
    node_of = np.full(len(pieces), -1)
    node_of[np.searchsorted(pieces, begins)] = node
    return pieces, node_of


def _holes(found: Hierarchy, level: Level, node: I64) -> pa.Array:
    """Return the spans of the holes inside each node in characters, or null for a node without holes.

    Removed sentences at the ends of a node are no holes, because the row of the node does not contain them.
    """
    kept, holes, first = found._kept, found._holes, found.first(level)
    begins = kept.numbers[kept.before[first[node]]]
    ends = kept.numbers[kept.before[first[node + 1]] - 1]
    low, high = np.searchsorted(holes.first, begins), np.searchsorted(holes.first, ends)
    counts = high - low
    each = np.repeat(low - offsets_of(counts)[:-1], counts) + np.arange(counts.sum())
    start = found._characters[holes.first[each]] + holes.lead[each]
    spans = pa.StructArray.from_arrays([primitive(start), primitive(start + holes.size[each])], ["start", "end"])
    offsets = masked(offsets_of(counts), np.append(counts == 0, False))
    return pa.LargeListArray.from_arrays(offsets, spans)


def _names(found: Hierarchy, lowest: Any, highest: Any) -> pa.Array:
    """Return the names of all levels of each node."""
    names = [str(level) for level in found.levels]
    values = few_strings(names, pa.string()) or pa.array(names, pa.string())
    counts = highest.astype(np.int64) - lowest + 1
    offsets = offsets_of(counts)
    each = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - lowest, counts)
    return pa.ListArray.from_arrays(primitive(offsets.astype(np.int32)), values.take(primitive(each)))
