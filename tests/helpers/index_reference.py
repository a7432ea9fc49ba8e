"""Small indexes, and the slow and obvious index that they are compared with."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pychunk
from pychunk._engine import arrow
from pychunk._engine.reference.search.scan import products
from pychunk.encoders import registry
from pychunk.encoders.static_encoder import load
from pychunk.index import Ranking
from pychunk.index.dense import int8_vectors, token_coverage
from pychunk.index.files import int32_columns
from pychunk.index.index import Index
from pychunk.index.lexical import postings
from pychunk.index.lexical.analyzer import GRAM_MARK, Analyzer

F32 = np.float32
PETS = ["Cats purr when content. They sleep all day.", "Dogs bark at night. Dogs fetch sticks.", "Rust is memory safe."]


def chunks_of(
    texts: list[str], vectors: str = "sentence", ids: Any = None, method: str = "sentence", **more: Any
) -> Any:
    """Return the result of segment(), as a table if both vectors are given."""
    if vectors != "both":
        return pychunk.segment(texts, method, vectors=vectors, ids=ids, **more)
    table = pychunk.segment(texts, method, vectors="sentence", ids=ids, **more).table
    pooled = pychunk.segment(texts, method, vectors="chunk", ids=ids, **more).table
    return table.append_column("vector", pooled["vector"])


def written_wide(patch: pytest.MonkeyPatch) -> None:
    """Write indexes from here on as before version 6: whole numbers, places of terms and postings as int64."""
    narrow_strings = arrow.strings

    def strings(text: Any, offsets: Any, missing: Any = None) -> Any:
        return narrow_strings(text, np.asarray(offsets, np.int64), missing)

    patch.setattr(int32_columns, "fitting", lambda *_: ())
    patch.setattr(arrow, "strings", strings)
    as_it_is = postings.narrow
    patch.setattr(postings, "narrow", lambda values: values if values.dtype == np.int64 else as_it_is(values))


def encoded(texts: list[str]) -> Any:
    return registry.vector_encoder("static", "onnxruntime").encode(texts)


def seen(hits: list[Any]) -> list[tuple[Any, ...]]:
    """Return a user's view of hits, with every bit of the scores."""
    return [(hit.document_id, hit.document_index, hit.chunk_index, hit.text, hit.score) for hit in hits]


def answers(index: Index, queries: list[str], k: int = 7) -> list[Any]:
    """Return hits of all modes."""
    return [
        [seen(hits) for hits in index.search(queries, k=k, mode=mode, ranking=Ranking(fusion=fusion))]
        for mode, fusion in (("dense", "score"), ("sparse", "score"), ("hybrid", "score"), ("hybrid", "rrf"))
    ]


def texts_in(index: Index) -> set[str]:
    return {hit.text for hit in index.search("x", k=1000, mode="dense")[0]}


@dataclass
class Reference:
    """The slow and obvious index: a list of chunks, all of which are scored."""

    dtype: str = "int8"
    k1: float = 0.9
    b: float = 0.4
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, chunks: Any) -> None:
        table = chunks if isinstance(chunks, pa.Table) else chunks.table
        new: list[dict[str, Any]] = []
        plain = table.drop_columns([name for name in ("sentences", "vector") if name in table.column_names])
        for place, row in enumerate(plain.to_pylist()):
            key = row.get("document_id", row["chunk_id"])
            row["rows"] = row["pooled"] = np.empty(0, F32)
            if "sentences" in table.column_names:
                row["rows"] = self.stored(table["sentences"][place].values.field("vector"))
            if "vector" in table.column_names:
                row["pooled"] = self.stored(table["vector"].slice(place, 1).combine_chunks())
            row["terms"] = Counter(Analyzer("auto").terms(row["text"]))
            if token_coverage.unread(load(), pa.chunked_array([[row["text"]]])).any():
                row["rows"], row["pooled"] = 0 * row["rows"], 0 * row["pooled"]
            # a document of the same id, or without ids the same chunk, replaces an earlier one
            new = [
                old
                for old in new
                if old["key"] != key or ("document_id" in row and old["document_index"] == row["document_index"])
            ]
            new.append({"key": key, **row})
        keys = {row["key"] for row in new}
        self.rows = [row for row in self.rows if row["key"] not in keys] + new

    def stored(self, vectors: Any) -> Any:
        return int8_vectors.stored(np.asarray(vectors.flatten()).reshape(len(vectors), -1), self.dtype)

    def bm25(self, query: str) -> list[np.float32]:
        lengths = [
            sum(times for term, times in row["terms"].items() if not term.startswith(GRAM_MARK)) for row in self.rows
        ]
        mean = sum(lengths) / max(1, len(lengths))
        base = [F32(self.k1 * (1 - self.b + self.b * length / max(mean, 1e-9))) for length in lengths]
        out, bound = [F32(0) for _ in self.rows], 0.0
        for term, times in Counter(Analyzer("auto").query_terms(query)).items():
            frequency = sum(term in row["terms"] for row in self.rows)
            if not frequency:
                continue
            weight = times * float(np.log1p((len(self.rows) - frequency + 0.5) / (frequency + 0.5)))
            bound += weight
            for i, row in enumerate(self.rows):
                count = F32(row["terms"][term])
                if count:
                    out[i] += F32(weight) * count / (count + base[i])
        return [score / F32(bound) if bound else score for score in out]

    def search(
        self, query: str, vector: Any, k: int, mode: str, keep: Callable[[dict[str, Any]], bool] = lambda row: True
    ) -> list[tuple[Any, ...]]:
        sparse = self.bm25(query)
        vector = worth(query, vector, mode)
        found = []
        for place, row in enumerate(self.rows):
            dense = [products(rows, vector).max() for rows in (row["rows"], row["pooled"]) if rows.size]
            parts = [F32(1 / len(dense)) * score for score in dense] if mode != "sparse" else []
            if mode != "dense":
                parts.append(F32(1.5 if mode == "hybrid" else 1.0) * sparse[place])
            if keep(row) and (mode != "sparse" or sparse[place] > 0):
                found.append((-float(sum(parts[1:], parts[0])), place, row))
        found.sort(key=lambda each: each[:2])
        return shown(found[:k])


def worth(query: str, vector: Any, mode: str) -> Any:
    """Return the vector of a query, scaled by its weight relative to BM25."""
    return vector * token_coverage.worth(load(), [query])[0] if mode == "hybrid" else vector


def shown(found: list[tuple[float, int, dict[str, Any]]]) -> list[tuple[Any, ...]]:
    """Return a user's view of the best rows, without those with no score."""
    return [
        (row.get("document_id"), row["document_index"], row["chunk_index"], row["text"], -score)
        for score, _, row in found
        if score
    ]


def assert_equal_to(reference: Reference, index: Index, queries: list[str], k: int, **filters: Any) -> None:
    keep = filters.pop("keep", lambda row: True)
    vectors = encoded(queries)
    for mode in ("dense", "sparse", "hybrid"):
        found = index.search(queries, k=k, mode=mode, **filters)
        for query, vector, hits in zip(queries, vectors, found):
            assert seen(hits) == reference.search(query, vector, k, mode, keep), (mode, query)
