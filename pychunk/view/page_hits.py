"""The hits of queries among the chunks of a page, from the caller's index or from an index made for the page."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from ..chunks.batch import ChunkBatch


class PageHit(NamedTuple):
    """A hit: the numbers of its document and chunk, its score, and its best sentence as a span of characters."""

    document_index: int
    chunk_index: int
    score: float
    sentence: tuple[int, int] | None


def by_index(batches: Sequence[ChunkBatch], queries: Sequence[str], k: int) -> tuple[list[list[PageHit]], str]:
    """Return each query's k best chunks, found with a temporary index, and a phrase that names the ranking.

    The search is hybrid, or sparse if the caller passed the vectors of the chunks.

    Raises:
        ValueError: Some chunks were read from a file or unpickled, so the options to cut and encode again are unknown.
        ImportError: FAISS is not installed.
    """
    from ..index.index import Index

    lost = next((number for number, each in enumerate(batches) if each.origin is None), None)
    if lost is not None:
        which = "these" if lost == 0 else f"those of against[{lost - 1}]"
        raise ValueError(
            f"queries as text need chunks straight from segment(), but {which} were read from a file or unpickled; "
            "pass the hits of a search instead: queries={question: index.search(question)}"
        )
    origins = [each.origin for each in batches if each.origin is not None]
    encoder, own = origins[0].table_encoder, any(each.has_vectors for each in origins)
    # If the caller passed the chunks' vectors, their encoder is unknown, so queries cannot be encoded to match them.
    mode = "sparse" if own else "hybrid"
    first, counts = 0, []
    with tempfile.TemporaryDirectory(prefix="pychunk-") as folder:
        made = None
        for origin in origins:
            count = len(origin.texts or ())
            ids = pa.array([str(first + i) for i in range(count)], pa.string())
            chunks = origin.again(ids)
            if made is None:
                dim = (
                    chunks.table.schema.field("sentences").type.value_type.field("vector").type.list_size
                    if own
                    else None
                )
                made = Index.create(folder + "/index", encoder=None if own else encoder, dim=dim)
            made.add(chunks)
            first += count
            counts.append(len(chunks))
        assert made is not None
        found: Any = made.search(list(queries), k, cast(Any, mode)) if sum(counts) else [[] for _ in queries]
        made.close(discard=True)
    hits = [
        [PageHit(int(hit.document_id), hit.chunk_index, hit.score, hit.sentence) for hit in own_hits]
        for own_hits in found
    ]
    name = encoder if encoder is not None else "static"
    return hits, "BM25" if own else f"BM25 and the best sentence ({name})"


def of_hits(batches: Sequence[ChunkBatch], queries: Mapping[str, Sequence[Any]]) -> list[list[PageHit]]:
    """Return those hits of a search whose chunk ids are on the page, one list for each query."""
    places: dict[str, tuple[int, int]] = {}
    first = 0
    for batch in batches:
        columns = [batch.table[name].to_pylist() for name in ("chunk_id", "document_index", "chunk_index")]
        for name, document, chunk in zip(*columns, strict=True):
            places[name] = first + document - batch.first_document, chunk
        first += batch.documents
    found = []
    for hits in queries.values():
        known = [(hit, places[hit.chunk_id]) for hit in _single(hits) if hit.chunk_id in places]
        found.append([PageHit(*place, float(np.float64(hit.score)), hit.sentence) for hit, place in known])
    return found


def _single(hits: Any) -> Iterator[Any]:
    """Yield the hits one by one, also those inside nested lists and ``DocumentHits``."""
    for each in hits:
        inner = each if isinstance(each, list) else getattr(each, "hits", None)
        if inner is None:
            yield each
        else:
            yield from _single(inner)
