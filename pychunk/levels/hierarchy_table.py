"""The conversion of a hierarchy to a table with a row for each node, and back."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine.arrow import flat_text, masked, primitive, strings, vectors, with_current_names
from .._engine.data.ragged import offsets_of
from .._util.counting import counted
from .hierarchy import Hierarchy

if TYPE_CHECKING:
    from os import PathLike

    import numpy.typing as npt

    I64 = npt.NDArray[np.int64]

#: The key in the table's metadata under which the levels and the number of documents are stored.
KEY = b"pychunk.levels"
#: The columns that a hierarchy is made from.
NEEDED = ("document_index", "node", "level", "last_level", "sentence", "start_byte", "text")


def table_of(found: Hierarchy) -> pa.Table:
    """Return the table of a hierarchy. Its rows are ordered by level, from the finest on, then by document.

    The columns are:

    - ``document_index``, and ``document_id`` if ids were given.
    - ``node``: The number of the node.
    - ``level`` and ``last_level``: The finest and the coarsest level of the node.
    - ``parent``: The number of the next larger node that holds this one, or null.
    - ``sentence``: The first sentence of the node, counted in its document.
    - ``sentences``: The number of sentences.
    - ``start``, ``end``: The span in characters. The nodes of a level cover their document without gaps.
    - ``start_byte``, ``end_byte``: The span in bytes.
    - ``tokens``: The token count.
    - ``removed``: True for removed sentences, null for nodes of several sentences. The column exists only if a sentence
      is removed.
    - ``text``: The text of a node that is a sentence. For other nodes it is null, because they consist of sentences.
    - ``vector``: The vector of the node.
    """
    names = [str(level) for level in found.levels]
    parts = []
    for place, level in enumerate(found.levels):
        own = found.stored(level)
        first = found.first(level)
        document = found.documents_of(level)[own]
        node = found.nodes(level)[own]
        row = document - found.first_document
        start, end = found.spans(level)
        start_byte, end_byte = found.spans_in_bytes(level)
        columns: dict[str, Any] = {"document_index": primitive(document)}
        if found.ids is not None:
            columns["document_id"] = found.ids.take(primitive(row))
        columns |= {
            "node": primitive(node),
            "level": _labels(np.full(len(node), place, np.int8), names),
            "last_level": _labels(found.highest[node], names),
            "parent": _parent(found, place)[own],
            "sentence": primitive(first[:-1][own] - found.doc_offsets[row]),
            "sentences": primitive(np.diff(first)[own]),
        }
        columns["parent"] = masked(columns["parent"], columns["parent"] < 0)
        spans = {"start": start, "end": end, "start_byte": start_byte, "end_byte": end_byte}
        columns |= {name: primitive(values[own]) for name, values in spans.items()}
        counted = found.tokens is not None
        columns["tokens"] = primitive(found.token_counts(level)[own]) if counted else pa.nulls(len(node), pa.int64())
        if found.removed is not None:
            columns["removed"] = pa.array(found.removed) if place == 0 else pa.nulls(len(node), pa.bool_())
        columns["text"] = _texts(found) if place == 0 else pa.nulls(len(node), pa.large_string())
        if found.stored_vectors is not None:
            columns["vector"] = vectors(found.stored_vectors[place])
        parts.append(pa.table(columns))
    facts = {
        "levels": list(found.levels),
        "documents": found.documents,
        "first_document": found.first_document,
        "counted": found.tokens is not None,
    }
    metadata = {KEY: json.dumps(facts).encode(), b"pychunk": json.dumps(found.metadata).encode()}
    return pa.concat_tables(parts).replace_schema_metadata(metadata)


def _labels(values: npt.NDArray[np.int8], names: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(primitive(values), pa.array(names, pa.string()))


def _parent(found: Hierarchy, place: int) -> I64:
    """Return, for each node of a level, the number of the next larger node that holds it, or -1."""
    out: I64 = np.full(found.count(found.levels[place]), -1)
    at = np.arange(len(out))
    for level, above in zip(found.levels[place:-1], found.levels[place + 1 :], strict=True):
        at = found.parents(level)[at]
        here = (out < 0) & found.stored(above)[at]
        out[here] = found.nodes(above)[at[here]]
    return out


def _texts(found: Hierarchy) -> pa.LargeStringArray:
    """Return the text of each sentence with the white space around it.

    It shares its buffer with the documents unless some of them are blank.
    """
    text, _ = flat_text(found.texts)
    start, end = found._bounds
    if not len(start):
        return pa.array([], pa.large_string())
    if np.array_equal(start[1:], end[:-1]):
        return strings(text, np.append(start, end[-1]))
    pieces = [text[a:b] for a, b in zip(start.tolist(), end.tolist(), strict=True)]
    return strings(np.concatenate(pieces), offsets_of(end - start))


def hierarchy_from(table: Any) -> Hierarchy:
    """Return the hierarchy of a table. See :meth:`Hierarchy.from_arrow`.

    A blank document has no row in the table, so in the result its text and id are missing.

    Raises:
        ValueError: The table holds something else, or lacks rows.
    """
    table = table if isinstance(table, pa.Table) else pa.table(table)
    told = (table.schema.metadata or {}).get(KEY)
    table = with_current_names(table)
    if told is None or any(name not in table.column_names for name in NEEDED):
        raise ValueError(
            f"a hierarchy is read from a table that Hierarchy.to_arrow() made, with the columns {', '.join(NEEDED)}; "
            f"got {', '.join(table.column_names)}"
        )
    facts = json.loads(told)
    levels, documents = tuple(facts["levels"]), int(facts["documents"])
    names = [str(level) for level in levels]
    table = table.take(primitive(np.argsort(_whole(table, "node"), kind="stable")))
    low, high = _places(table, "level", names), _places(table, "last_level", names)
    row = _whole(table, "document_index") - facts["first_document"]
    sentence, finest = _whole(table, "sentence"), low == 0
    doc_offsets = offsets_of(np.bincount(row[finest], minlength=documents))
    place = doc_offsets[row] + sentence
    n = int(doc_offsets[-1])
    if len(doc_offsets) != documents + 1 or not np.array_equal(place[finest], np.arange(n)):
        raise ValueError(
            f"the table does not hold the sentences of its {counted(documents, 'document')}: rows are missing or occur "
            f"twice; got {counted(int(finest.sum()), 'sentence')}: pass all rows of Hierarchy.to_arrow(), each once"
        )
    firsts = [np.append(np.sort(place[(low <= level) & (level <= high)]), n) for level in range(len(levels))]
    removed = None
    if "removed" in table.column_names:
        removed = np.asarray(table["removed"].combine_chunks().slice(0, n).cast(pa.bool_()).to_numpy(False), np.bool_)
        firsts = [np.arange(n + 1), *(_from_starts(first, doc_offsets) for first in firsts[1:])]
    lengths = np.diff(offsets_of(_bytes(table, finest))[doc_offsets])
    metadata = json.loads((table.schema.metadata or {}).get(b"pychunk", b"{}"))
    tokens = _whole(table, "tokens")[finest] if facts["counted"] else None
    return Hierarchy(
        levels,
        doc_offsets,
        _whole(table, "start_byte")[finest],
        tuple(firsts),
        strings(_joined(table, n), offsets_of(lengths)),
        tokens,
        _vectors(table, low, len(levels)) if "vector" in table.column_names else None,
        _ids(table, row[finest], doc_offsets) if "document_id" in table.column_names else None,
        int(facts["first_document"]),
        metadata,
        removed,
    )


def _from_starts(first: I64, doc_offsets: I64) -> I64:
    """Return the first sentences of nodes, whose first in each document is moved to the document's start.

    A node is stored as its child with text, which removed sentences may precede.
    """
    row = np.searchsorted(doc_offsets, first[:-1], "right") - 1
    leads = np.diff(row, prepend=-1) > 0
    return np.append(np.where(leads, doc_offsets[row], first[:-1]), first[-1])


def _whole(table: pa.Table, name: str) -> I64:
    return np.asarray(table[name].combine_chunks(), dtype=np.int64)


def _places(table: pa.Table, name: str, names: list[str]) -> I64:
    column = table[name]
    values = column.cast(pa.string()).to_pylist() if not pa.types.is_dictionary(column.type) else None
    if values is None:
        column = column.unify_dictionaries().combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        known = np.array([names.index(each) for each in column.dictionary.to_pylist()] or [0], np.int64)
        places: I64 = known[np.asarray(column.indices)]
        return places
    return np.array([names.index(value) for value in values], np.int64)


def _bytes(table: pa.Table, finest: npt.NDArray[np.bool_]) -> I64:
    return (_whole(table, "end_byte") - _whole(table, "start_byte"))[finest]


def _joined(table: pa.Table, n: int) -> npt.NDArray[np.uint8]:
    text = table["text"].slice(0, n).cast(pa.large_string()).combine_chunks()
    text = text.chunk(0) if isinstance(text, pa.ChunkedArray) else text
    values, offsets = flat_text(text)
    return values[offsets[0] : offsets[-1]]


def _vectors(table: pa.Table, low: I64, levels: int) -> tuple[npt.NDArray[np.float32], ...]:
    column = table["vector"]
    width = column.type.list_size
    pieces = [np.asarray(piece.flatten(), np.float32).reshape(-1, width) for piece in column.chunks]
    values = np.concatenate([np.empty((0, width), np.float32), *pieces])
    borders = np.searchsorted(low, np.arange(levels + 1))
    return tuple(values[a:b] for a, b in itertools.pairwise(borders))


def _ids(table: pa.Table, row: I64, doc_offsets: I64) -> pa.Array:
    filled = np.diff(doc_offsets) > 0
    first = np.where(filled, doc_offsets[:-1], 0)
    if not len(row):
        return pa.nulls(len(filled), table["document_id"].type)
    return table["document_id"].take(masked(first, ~filled)).combine_chunks()


def write(found: Hierarchy, path: str | PathLike[str]) -> None:
    """Write a hierarchy. See :meth:`Hierarchy.write`.

    Raises:
        ValueError: The path does not end in ``.parquet``, ``.arrow`` or ``.feather``.
    """
    from ..io.writers import Writer

    writer = Writer(path)
    if writer.kind in (".jsonl", ".csv"):
        raise ValueError(f"{path}: a hierarchy can be written only to .parquet, .arrow or .feather; got {writer.kind}")
    with writer:
        writer.write(table_of(found))


def read(path: str | PathLike[str]) -> Hierarchy:
    """Read a hierarchy. See :meth:`Hierarchy.read`."""
    if str(path).lower().endswith(".parquet"):
        import pyarrow.parquet as pq

        return hierarchy_from(pq.read_table(path))
    with pa.memory_map(str(path)) as source:
        return hierarchy_from(pa.ipc.open_file(source).read_all())
