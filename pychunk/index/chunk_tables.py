"""The preparation of chunk tables for an index, which checks their vectors and separates these from the columns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import compute as pc
from .._engine.arrow import one_array, with_current_names
from .._engine.data.columns import ID_TYPE, UUIDS
from .._util.counting import counted
from ..chunks.text_ids import PATTERN
from ..encoders import registry
from ..encoders.static_encoder import StaticEncoder
from ..placement import Placement
from ..segmenter import Segmenter
from ..vectors import vectors_of
from . import argument_checks
from .scoring.level_rows import has_levels
from .store import context_column, document_digests, proposition_column
from .store.part import Layout, Rows

REQUIRED = ("document_index", "chunk_index", "chunk_id", "start", "end", "text")
_VECTORS = ("vector", "sentences")
_HEX = "[0-9a-f]"


def as_table(chunks: Any) -> pa.Table:
    """Return the Arrow table of a ``ChunkBatch``, or of any object with Arrow's interface."""
    table = chunks if isinstance(chunks, pa.Table) else getattr(chunks, "table", None)
    if table is None:
        if not hasattr(chunks, "__arrow_c_stream__"):
            raise TypeError(
                f"add() takes chunks as segment() returns them, or an Arrow table; got {type(chunks).__name__}"
            )
        table = pa.table(chunks)
    table = with_current_names(table)
    missing = [name for name in REQUIRED if name not in table.column_names]
    if missing:
        raise ValueError(f"a chunk table must have the columns {', '.join(REQUIRED)}; missing: {', '.join(missing)}")
    table = _with_text_of_uuids(table)
    for name in {*REQUIRED, "document_id"}.intersection(table.column_names):
        if table[name].null_count:
            raise ValueError(
                f"the column {name!r} of a chunk table must have no nulls; got "
                f"{counted(table[name].null_count, 'null')} in {counted(table.num_rows, 'row')}: fill each null, or "
                "drop its row"
            )
    return table


def check_text_ids(table: pa.Table) -> None:
    """Raise an error if a user's column of text has the name ``text_id``, as hits would show its values as ids.

    Columns of other types stay metadata.
    """
    if "text_id" not in table.column_names:
        return
    column = table["text_id"]
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return
    strange = column.filter(pc.invert(pc.match_substring_regex(column, PATTERN)))
    if len(strange):
        raise ValueError(
            "the column 'text_id' must have the ids that pychunk gives to chunks, of 32 hexadecimal digits; got "
            f"{strange[0].as_py()!r:.80}: give your column another name, such as 'my_text_id'"
        )


def _with_text_of_uuids(table: pa.Table) -> pa.Table:
    """Return the table with ids of an Arrow extension type as text. If they are UUIDs, its metadata says so."""
    if "document_id" not in table.column_names or not isinstance(
        table.schema.field("document_id").type, pa.BaseExtensionType
    ):
        return table
    ids = document_digests.text_of_ids(one_array(table["document_id"]))
    marks = {ID_TYPE: UUIDS} if table.schema.field("document_id").type.extension_name == "arrow.uuid" else {}
    at = table.column_names.index("document_id")
    return table.set_column(at, "document_id", ids).replace_schema_metadata({**(table.schema.metadata or {}), **marks})


def plain(table: pa.Table) -> pa.Table:
    """Return the columns that an index stores of a table: without vectors, in the types that ``segment`` uses."""
    table = table.drop_columns([name for name in _VECTORS if name in table.column_names])
    fields = []
    for field in table.schema:
        if pa.types.is_string(field.type) or field.name in ("chunk_id", "text"):
            field = pa.field(field.name, pa.large_string())
        elif field.name in REQUIRED:
            field = pa.field(field.name, pa.int64())
        fields.append(field)
    return proposition_column.marked(context_column.marked(table.cast(pa.schema(fields))))


def fingerprint(table: pa.Table, of: str = "vector_encoder") -> str | None:
    """Return the fingerprint of a model that made a table, or None if the table does not name one.

    ``of`` is ``"vector_encoder"``, for the encoder of the vectors, or ``"tokenizer"``, which counted tokens.
    """
    raw = (table.schema.metadata or {}).get(b"pychunk")
    found = None if raw is None else json.loads(raw).get(of)
    return None if found is None else str(found)


def pooling(table: pa.Table) -> str | None:
    """Return how the vectors of a table's nodes were pooled: ``"tokens"`` or a compressor's fingerprint.

    The result is None for a table without levels.

    Example:
        >>> import pychunk
        >>> found = pychunk.segment_levels("One. Two.", ["document"], vectors="chunk")
        >>> pooling(found.chunks().table), pooling(pychunk.segment("One. Two.", vectors="chunk").table)
        ('tokens', None)
    """
    if not has_levels(table.schema):
        return None
    raw = (table.schema.metadata or {}).get(b"pychunk")
    return str(({} if raw is None else json.loads(raw)).get("pooling", "tokens"))


def check_pooling(known: str | None, new: str | None) -> None:
    """Raise an error unless new nodes were pooled like the nodes of the index.

    Args:
        known: The pooling of the index's nodes, from :func:`pooling`.
        new: The pooling of the new nodes.

    Raises:
        ValueError: The two differ, and neither is None.
    """
    if known is None or new is None or known == new:
        return
    raise ValueError(
        f"vectors of this index's levels are made by pooling {known!r}, those of these chunks by {new!r}, and their "
        "cosines cannot be compared: segment with the same pooling=, or build a new index"
    )


def check_tokenizer(known: str | None, new: str | None, replaces_all: Callable[[], bool]) -> None:
    """Raise an error if an index would hold counts of tokens by two tokenizers.

    Args:
        known: The tokenizer that counted the tokens of the index's chunks; None if it is unknown, or none did.
        new: The tokenizer that counted those of the new chunks, from :func:`counter_of`.
        replaces_all: A function that returns whether the new chunks replace all chunks of the index.

    Raises:
        ValueError: Their vocabularies differ, neither is None, and chunks of the index stay.
    """
    if known is None or new is None or _vocabulary(known) == _vocabulary(new) or replaces_all():
        return
    raise ValueError(
        f"tokens of the index's chunks are counted by the tokenizer {known!r}, those of these chunks by {new!r}: "
        "segment with the same tokenizer=, or build a new index"
    )


def _vocabulary(tokenizer: str) -> str:
    """Return the name of a tokenizer from the hash of its vocabulary on, or the whole name if it has no hash."""
    found = re.search(r":[0-9a-f]{16}(?![0-9a-f])", tokenizer)
    return tokenizer if found is None else tokenizer[found.start() :]


def counter_of(table: pa.Table) -> str | None:
    """Return the name of the tokenizer that counted the tokens of a table; None if it is unknown, or none did."""
    counted = "tokens" in table.column_names and table["tokens"].null_count < table.num_rows
    return fingerprint(table, "tokenizer") if counted else None


def is_late(table: pa.Table) -> bool:
    """Return whether the vectors of a table were made by late chunking.

    The result is False if the table has no vectors, because an index encodes each of its chunks by itself.
    """
    raw = (table.schema.metadata or {}).get(b"pychunk")
    return not (raw is None or lacks_vectors(table)) and bool(json.loads(raw).get("late_chunking"))


def check_late(known: bool | None, new: bool) -> None:
    """Raise an error if an index would hold vectors of late chunking together with other vectors.

    Args:
        known: Whether the vectors of the index were made by late chunking; None if it has none.
        new: Whether those of the new chunks were, from :func:`is_late`.

    Raises:
        ValueError: The two differ, and ``known`` is not None.
    """
    if known is None or known == new:
        return
    if new:
        raise ValueError(
            "the chunks' vectors were made by late chunking, those of the index were not: segment without "
            "late_chunking=True, or build a new index"
        )
    raise ValueError(
        "the index's vectors were made by late chunking, and the chunks have other vectors or none: segment with "
        "vectors=pychunk.Vectors(..., late_chunking=True), or build a new index"
    )


def lacks_vectors(table: pa.Table) -> bool:
    """Return whether a table has no vectors at all. The result is False for any table of levels."""
    return not any(name in table.column_names for name in _VECTORS) and not has_levels(table.schema)


def rows_of(table: pa.Table, layout: Layout, encoder: str) -> Rows:
    """Return a table's chunks and vectors.

    Raises:
        ValueError: Vectors that the index needs are missing, from another encoder, or not finite.
    """
    wanted = ["sentences"] * layout.sentences + ["vector"] * layout.pooled
    for name in wanted:
        if name not in table.column_names:
            kind = "sentence" if name == "sentences" else "chunk"
            raise ValueError(f"the chunks have no {kind} vectors, which this index holds: {_remedy(layout, encoder)}")
    found = fingerprint(table)
    if wanted and found is None:
        raise ValueError(
            "the chunks do not say which encoder made their vectors, because pandas and Polars drop the metadata of "
            "a table: pass chunks.table, a file that chunks.write() wrote, or "
            f"pychunk.index.chunk_tables.encode_chunks(chunks, encoder, vectors={layout.vectors!r})"
        )
    if wanted and found != encoder:
        raise ValueError(
            f"the chunks' vectors come from encoder {found!r}, those of the index from {encoder!r}: "
            f"{_remedy(layout, encoder)}, or create another index"
        )
    own = plain(table)
    pooled = _matrix(table["vector"].combine_chunks(), layout.dim, "chunk") if layout.pooled else None
    if not layout.sentences:
        return Rows(own, pooled=pooled)
    lists = one_array(table["sentences"])
    offsets = np.asarray(lists.offsets, np.int64)
    start, end, vector = lists.flatten().flatten()
    spans = np.stack([np.asarray(start, np.int64), np.asarray(end, np.int64)], axis=1)
    return Rows(own, offsets - offsets[0], spans, _matrix(vector, layout.dim, "sentence"), pooled)


def _remedy(layout: Layout, encoder: str) -> str:
    """Return what to do about chunks that lack vectors of an index's encoder."""
    if encoder == "given":  # The index was created with encoder=None.
        given = "segment with columns={'sentence_vectors': ...} and "
        if layout.vectors != "both":
            return f"{given}vectors={layout.vectors!r}"
        return f"{given}vectors='sentence', and append the column 'vector' that vectors='chunk' makes"
    encoded = f"pychunk.index.chunk_tables.encode_chunks(chunks, encoder, vectors={layout.vectors!r})"
    if layout.vectors == "both":
        return f"pass {encoded} with the index's encoder"
    return f"segment with the index's encoder (vectors=pychunk.Vectors({layout.vectors!r}, ...)), or pass {encoded}"


def _conflict(one: pa.Field, other: pa.Field) -> bool:
    """Return whether no type holds the values of two fields."""
    try:
        pa.unify_schemas([pa.schema([one]), pa.schema([other])], promote_options="permissive")
    except pa.ArrowTypeError:
        return True
    return False


def joined(known: pa.Schema | None, new: pa.Schema) -> pa.Schema:
    """Return the columns of an index together with those of a table that is added.

    Raises:
        ValueError: A column's type does not fit the existing one.
    """
    if known is None:
        return new
    try:
        return pa.unify_schemas([known, new], promote_options="permissive")
    except pa.ArrowTypeError as error:
        for field in new:
            at = known.get_field_index(field.name)
            if at < 0 or not _conflict(known.field(at), field):
                continue
            own = field.name in {*REQUIRED, "document_id"}
            raise ValueError(
                f"the chunks' column {field.name!r} is of type {field.type}, but of type {known.field(at).type} in the "
                f"index: cast it to {known.field(at).type}{'' if own else ', or rename it'}"
            ) from error
        raise ValueError(
            f"the chunks' columns do not fit the index's ({error}): cast them to the index's types"
        ) from error


def of_uuids(table: pa.Table) -> bool:
    """Return whether a chunk table's ids are the text of UUIDs, according to the metadata that ``segment`` wrote."""
    return "document_id" in table.column_names and (table.schema.metadata or {}).get(ID_TYPE) == UUIDS


def check_uuids(table: pa.Table) -> None:
    """Raise ValueError unless all ids of a chunk table are UUIDs as ``str`` writes them."""
    if "document_id" not in table.column_names:
        raise ValueError("the index's ids are UUIDs, and the chunks have none: segment with ids=")
    good = np.asarray(pc.match_substring_regex(keys(table), f"^{_HEX}{{8}}(-{_HEX}{{4}}){{3}}-{_HEX}{{12}}$"), np.bool_)
    if not good.all():
        row = int(good.argmin())
        raise ValueError(
            f"the index's ids are UUIDs, and row {row} of the chunks (document {table['document_index'][row]}) has "
            f"the id {table['document_id'][row].as_py()!r}: pass UUIDs, or put these chunks into an index of their own"
        )


def _matrix(vectors: Any, dim: int, of: str) -> npt.NDArray[np.float32]:
    array = one_array(vectors) if isinstance(vectors, pa.ChunkedArray) else vectors
    width = array.type.list_size if pa.types.is_fixed_size_list(array.type) else dim
    if width != dim:
        raise ValueError(
            f"the chunks' vectors are {width} wide, the index's {dim}: segment with the index's encoder, or create "
            "another index"
        )
    found = np.asarray(array.flatten(), np.float32).reshape(-1, dim)
    with np.errstate(all="ignore"):
        finite = np.isfinite(found.sum())  # This takes half the time of testing each number.
    if not finite:
        argument_checks.finite(f"the {of} vectors of chunks", found)
    return found


#: The columns that identify chunks; :func:`keys` reads the first one that a table has.
KEYS = ("document_id", "chunk_id")


def keys(table: pa.Table) -> pa.Array:
    """Return the key of each chunk: its document's id if the table has ids, else its own chunk id, which is a hash."""
    name = "document_id" if "document_id" in table.column_names else "chunk_id"
    return one_array(table[name].cast(pa.large_string()))


def outdated(table: pa.Table) -> npt.NDArray[np.bool_]:
    """Return bool[n]: which of n chunks have a duplicate later in the table. In a table with ids, none has.

    Raises:
        ValueError: In a table with ids, two documents have the same id, so it is unclear which one to keep.
    """
    code = np.asarray(keys(table).dictionary_encode().indices, np.int64)
    if "document_id" in table.column_names:
        _check_unique(table, code)
        return np.zeros(len(code), np.bool_)
    last = np.empty(int(code.max(initial=-1)) + 1, np.int64)
    last[code] = np.arange(len(code))  # If a code occurs several times, its last position stays.
    return np.asarray(last[code] != np.arange(len(code)))


def _check_unique(table: pa.Table, code: npt.NDArray[np.int64]) -> None:
    """Raise ValueError if two documents have the same id. ``code`` has equal numbers for equal ids, int64[n]."""
    document, chunk = (np.asarray(table[name], np.int64) for name in ("document_index", "chunk_index"))
    order = np.lexsort((chunk, document, code))
    before, after = order[:-1], order[1:]
    same = (code[before] == code[after]) & ((document[before] != document[after]) | (chunk[before] == chunk[after]))
    if not same.any():
        return
    at = int(same.argmax())
    a, b = sorted((int(before[at]), int(after[at])))
    raise ValueError(
        f"documents {document[a]} and {document[b]} (rows {a} and {b} of the chunks) have the same id "
        f"{table['document_id'][a].as_py()!r}: give each document an id of its own; to replace one, add the newer in a "
        "call of its own; if they are parts of one document, pass on_duplicate='merge'"
    )


def check_documents(table: pa.Table, ids: pa.Array) -> None:
    """Raise an error unless each document has an id of its own, and all chunks belong to these documents.

    Args:
        table: The chunk table.
        ids: The ids of the documents.

    Raises:
        ValueError: An id occurs twice, or a chunk has no id or one that is not in ``ids``. The message names it.
    """
    if "document_id" not in table.column_names and table.num_rows:
        raise ValueError(
            "documents= names the ids of the chunks' documents, and the chunks have none: segment with ids="
        )
    if len(ids.unique()) < len(ids):
        twice = next(each["values"] for each in ids.value_counts().to_pylist() if each["counts"] > 1)
        raise ValueError(f"documents= has the id {twice!r} twice: give each document an id of its own")
    others = keys(table).filter(pc.invert(pc.is_in(keys(table), value_set=ids)))
    if len(others):
        raise ValueError(
            f"there are chunks of document {others[0].as_py()!r}, which is not among documents=: add its id there, or "
            "leave out its chunks"
        )


def encode_chunks(chunks: Any, encoder: Any = None, *, vectors: str = "sentence", **options: Any) -> pa.Table:
    """Return a chunk table with vectors of an encoder, in place of any vectors that it has.

    This is for chunks that pychunk did not make, or that were stored without vectors. The encoder reads each chunk by
    itself. If a sentence is split between two chunks, each part gets a vector of its own.

    Args:
        chunks: A chunk table.
        encoder: See :class:`Segmenter`.
        vectors: ``"sentence"``, ``"chunk"`` or ``"both"``. See :class:`pychunk.Index`.
        **options: ``placement`` and ``progress``. See :func:`pychunk.segment`.
    """
    table = as_table(chunks)
    if vectors not in ("sentence", "chunk", "both"):
        raise ValueError(f"vectors must be one of 'sentence', 'chunk', 'both'; got {vectors!r:.80}")
    made = table.drop_columns([name for name in _VECTORS if name in table.column_names])
    if vectors != "sentence":
        made = _with_pooled(made, encoder, options)
    return made if vectors == "chunk" else _with_sentences(made, encoder, options)


def _encoded(table: pa.Table, encoder: Any, vectors: str, options: dict[str, Any]) -> pa.Table:
    """Return a chunk table with one whole chunk for each text, even if it has headings, and none for a blank text."""
    options = dict(options)
    progress = options.pop("progress", False)
    texts = one_array(table["text"].cast(pa.large_string()))
    size: dict[str, Any] = {"size": 1 << 40, "unit": "characters", "keep_together": False}
    whole = Segmenter("fixed", **size, encoder=encoder, vectors=vectors_of(vectors), **options)
    return whole(texts, progress=progress).table


def vectors_of_texts(texts: pa.Array, encoder: Any, options: dict[str, Any]) -> npt.NDArray[np.float32]:
    """Return the vector of each of n texts, as a chunk with this text has it, float32[n, dim].

    A blank text, or one without a word that the encoder knows, has the zero vector.

    Args:
        texts: The texts.
        encoder: See :class:`Segmenter`.
        options: ``placement`` and ``progress``. See :func:`pychunk.segment`.

    Example:
        >>> found = vectors_of_texts(pa.array(["Cats purr.", " "]), "static", {})
        >>> (found**2).sum(axis=1).round(3).tolist()
        [1.0, 0.0]
    """
    where = Placement.of(options.get("placement"))
    made = registry.vector_encoder(encoder, where.for_models)
    if isinstance(made, StaticEncoder):  # without the table of chunks
        return made.encode_passages(texts.cast(pa.large_string()), threads=where.threads)
    return _rows_of_vectors(_encoded(pa.table({"text": texts}), encoder, "chunk", options), len(texts))


def _rows_of_vectors(found: pa.Table, count: int) -> npt.NDArray[np.float32]:
    """Return the vector of each of ``count`` documents, from a table with at most one chunk for each."""
    vectors = one_array(found["vector"])
    rows = np.zeros((count, vectors.type.list_size), np.float32)
    rows[np.asarray(found["document_index"])] = np.asarray(vectors.flatten()).reshape(-1, rows.shape[1])
    return rows


def _with_pooled(table: pa.Table, encoder: Any, options: dict[str, Any]) -> pa.Table:
    found = _encoded(table, encoder, "chunk", options)
    rows = _rows_of_vectors(found, table.num_rows)
    column = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    return table.append_column("vector", column).replace_schema_metadata(_facts_of_both(table, found))


def _with_sentences(table: pa.Table, encoder: Any, options: dict[str, Any]) -> pa.Table:
    found = _encoded(table, encoder, "sentence", options)
    filled = np.zeros(table.num_rows + 1, np.int64)
    filled[np.asarray(found["document_index"]) + 1] = np.diff(np.asarray(one_array(found["sentences"]).offsets))
    lists = one_array(found["sentences"])
    start, end, vector = lists.flatten().flatten()
    offsets = np.cumsum(filled)
    # The spans count from the beginning of the chunk's text, and the index stores positions in the document.
    shift = np.repeat(np.asarray(table["start"], np.int64), np.diff(offsets))
    items = pa.StructArray.from_arrays(
        [pc.add(start, pa.array(shift)), pc.add(end, pa.array(shift)), vector], ["start", "end", "vector"]
    )
    sentences = pa.LargeListArray.from_arrays(pa.array(offsets), items)
    return table.append_column("sentences", sentences).replace_schema_metadata(_facts_of_both(table, found))


def _facts_of_both(table: pa.Table, found: pa.Table) -> dict[bytes, bytes]:
    """Return the metadata of chunks with new vectors. The tokenizer stays that which counted the chunks' tokens."""
    facts = json.loads(found.schema.metadata[b"pychunk"])
    facts["tokenizer"] = fingerprint(table, "tokenizer") or facts["tokenizer"]
    return {**(table.schema.metadata or {}), **found.schema.metadata, b"pychunk": json.dumps(facts).encode()}
