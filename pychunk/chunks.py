"""Chunks out: an Arrow table with views of it."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ._arrow import primitive, strings, vectors
from .batch import RowError


@functools.cache
def _kinds() -> pa.Array:
    # Not at import: pa.array looks for pandas, which takes half a second to load.
    return pa.array(["irrelevant", "relevant"], pa.string())


@dataclass(frozen=True)
class Chunk:
    """One chunk; ``document[start:end] == text`` in characters, ``end_byte`` and ``start_byte`` in UTF-8."""

    document: int
    chunk: int
    chunk_id: str
    start: int
    end: int
    start_byte: int
    end_byte: int
    text: str
    tokens: int | None = None
    overlap: int = 0
    kind: str | None = None
    score: float | None = None
    id: Any = None
    page: int | None = None
    page_end: int | None = None
    vector: list[float] | None = None
    sentences: list[dict[str, Any]] | None = None

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        return self.end - self.start


class ChunkBatch:
    """The chunks of a batch of documents.

    Attributes:
        table: Arrow table, one row a chunk, in the order of the documents: ``document`` (row of the input), ``id``
            (the caller's, if given), ``chunk`` (position in its document), ``chunk_id`` (128-bit hash of the
            document's id, span and text), ``start``, ``end`` (characters), ``start_byte``, ``end_byte``, ``text``,
            ``tokens`` (null where nothing had to count them), ``overlap`` (characters repeated from the chunk
            before), ``kind``, ``score`` and, when asked for, ``page``, ``page_end``, ``vector`` (the chunk's, of
            unit length), ``sentences`` (its sentences' spans and vectors).
        documents: number of input documents, those without a chunk among them.
        first_document: row of the first of them.
        errors: rows that ``on_error="skip"`` left out, each with its reason.

    Example:
        >>> import pychunk
        >>> chunks = pychunk.segment("One sentence. Another one.", method="sentence")
        >>> [chunk.text for chunk in chunks]
        ['One sentence.', 'Another one.']
        >>> chunks.table.column("start").to_pylist()
        [0, 14]
    """

    def __init__(
        self, table: pa.Table, *, documents: int, first_document: int = 0, errors: Sequence[RowError] = ()
    ) -> None:
        self.table = table
        self.documents = documents
        self.first_document = first_document
        self.errors = list(errors)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        errors = f", {len(self.errors)} rows left out" if self.errors else ""
        return f"<ChunkBatch: {len(self)} chunks of {self.documents} documents{errors}>"

    def __iter__(self) -> Iterator[Chunk]:
        names = self.table.column_names
        for batch in self.table.to_batches(max_chunksize=4096):
            columns = [column.to_pylist() for column in batch.columns]
            for values in zip(*columns, strict=True):
                yield Chunk(**dict(zip(names, values, strict=True)))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    @property
    def metadata(self) -> dict[str, Any]:
        """Method, options, versions and the encoder's fingerprint, as stored with the table."""
        raw = (self.table.schema.metadata or {}).get(b"pychunk")
        return {} if raw is None else dict(json.loads(raw))

    def by_document(self) -> list[list[Chunk]]:
        """One list of chunks for each input document, in order; empty where a document has none."""
        lists: list[list[Chunk]] = [[] for _ in range(self.documents)]
        for chunk in self:
            lists[chunk.document - self.first_document].append(chunk)
        return lists

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """The table as a Polars data frame."""
        try:
            import polars
        except ImportError:
            raise ImportError("to_polars() needs Polars: pip install polars") from None
        return polars.from_arrow(self.table)


def chunk_table(columns: dict[str, Any], ids: pa.Array | None, first_row: int) -> pa.Table:
    """The table over the arrays that the engine returned; shares their memory."""
    n = len(columns["document"])
    hex_offsets = np.arange(0, 32 * n + 32, 32, dtype=np.int64)  # 32 digits an id
    table: dict[str, pa.Array] = {"document": primitive(columns["document"])}
    if ids is not None:
        table["id"] = ids.take(primitive(columns["document"] - first_row))
    table["chunk"] = primitive(columns["chunk"])
    table["chunk_id"] = strings(columns["chunk_id"], hex_offsets)
    for name in ("start", "end", "start_byte", "end_byte"):
        table[name] = primitive(columns[name])
    table["text"] = strings(columns["text"], columns["text_offsets"])
    counted = columns.get("tokens")
    table["tokens"] = pa.nulls(n, pa.int64()) if counted is None else primitive(counted)
    table["overlap"] = primitive(columns["overlap"])
    kinds = columns["kind"]
    table["kind"] = pa.DictionaryArray.from_arrays(pa.array(kinds, mask=kinds < 0), _kinds(), safe=False)
    scores = columns["score"]
    table["score"] = pa.array(scores, mask=scores != scores)
    for name in ("page", "page_end"):
        if name in columns:
            table[name] = primitive(columns[name])
    if "vector" in columns:
        table["vector"] = vectors(columns["vector"])
    if "sentence_vectors" in columns:
        items = pa.StructArray.from_arrays(
            [
                primitive(columns["sentence_start"]),
                primitive(columns["sentence_end"]),
                vectors(columns["sentence_vectors"]),
            ],
            ["start", "end", "vector"],
        )
        table["sentences"] = pa.LargeListArray.from_arrays(primitive(columns["sentence_offsets"]), items)
    return pa.table(table)
