"""Approximate search compared with the exact scan: the cost to build, to hold and to query it, and its recall.

The vectors are those of the static encoder for sentences of Wikipedia, as an index keeps them (bytes with a scale). If
more vectors are asked for than there are, the articles repeat with every third word drawn at random from all of them.
Queries are sentences of articles that are not in the index. The rows and the scan search in turn. Recall refers to the
scan's ten hits.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pyarrow.parquet as pq

from pychunk.index.dense import int8_vectors
from pychunk.index.dense.scan import VectorScan
from pychunk.index.dense.vector_index import VectorIndex
from pychunk.segmenter import Segmenter

TITLE = "Approximate search compared with the scan"
ABOUT = (
    "Sentence vectors of Wikipedia, stored as bytes. If there are too few, the articles are repeated with every third "
    'word replaced by a random one. "Ms a query" is for single queries, which take turns with the scan ("scan\'s ms"); '
    '"ms in 64" is for a query in a batch of 64. "Recall@10" is the share of the scan\'s ten hits that the row finds. '
    '"Build s" and "CPU s" include saving. "Candidates" is the number of vectors that a query scores exactly, and '
    '"recall tried" the recall in the trial that chose this number.'
)
_WORD = re.compile(r"\w+")
_K, _BATCH = 10, 250
#: Above this number HNSW takes too long to build: some 450 s for 900,000 vectors on two cores. Above the second number
#: FAISS's cells do: 17 s for 2,000,000. Their time grows with the power of 3/2.
_LINKED, _CELLED = 300_000, 2_000_000


def changed(text: str, words: list[str], drawn: random.Random) -> str:
    """Return the text with on average every third word replaced by another."""
    return _WORD.sub(lambda own: own[0] if drawn.random() > 1 / 3 else drawn.choice(words), text)


def batches(file: Path) -> Iterator[list[str]]:
    """Yield the texts of articles, then of the same articles changed, without end; the first batch is for queries."""
    read = [batch["text"].to_pylist() for batch in pq.ParquetFile(file).iter_batches(_BATCH, columns=["text"])]
    yield from read
    words = [word for text in read[0] for word in _WORD.findall(text)]
    drawn = random.Random(0)
    while True:
        for batch in read[1:]:
            yield [changed(text, words, drawn) for text in batch]


def corpus(file: Path, count: int, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ``count`` vectors as bytes, and query vectors of articles that are not among them."""
    segmenter = Segmenter("sentence", vectors="chunk", keep_together=False)
    packed: np.ndarray | None = None
    asked: np.ndarray | None = None
    done = 0
    for texts in batches(file):
        column = segmenter(texts).table["vector"].combine_chunks()
        own = np.asarray(column.flatten(), np.float32).reshape(len(column), -1)
        if asked is None or packed is None:
            asked = own[np.random.default_rng(0).choice(len(own), queries, replace=False)]
            packed = np.empty((count, own.shape[1] + 4), np.int8)
            continue
        own = own[: count - done]
        packed[done : done + len(own)] = int8_vectors.packed(own)
        done += len(own)
        if done == count:
            return packed, asked
    raise AssertionError("batches end")


def measured(options: argparse.Namespace, file: Path) -> dict[str, Any]:
    """Return the rows, and print each when it is measured."""
    matrix, queries = corpus(file, options.approximate, options.queries)
    dim, few = queries.shape[1], queries[: options.timed]
    scan = VectorScan([matrix], dim)
    exact = scan.top(queries, _K)[1]
    print(f"{len(matrix):,} vectors of width {dim}, {matrix.nbytes / 1e6:.0f} MB", flush=True)
    table: list[dict[str, Any]] = []

    def scanned(asked: np.ndarray) -> np.ndarray:
        return scan.top(asked, _K, threads=options.threads)[1]

    def row(name: str, search: Callable[[np.ndarray], np.ndarray], **facts: float) -> None:
        found = search(queries)
        taken = np.empty((len(few), 2))
        for number, query in enumerate(few):
            for which, each in enumerate((scanned, search)):
                begun = time.perf_counter()
                each(query[None])
                taken[number, which] = time.perf_counter() - begun
        begun = time.perf_counter()
        for begin in range(0, 256, 64):
            search(queries[begin : begin + 64])
        together = (time.perf_counter() - begun) / 256
        share = np.mean([len(set(own) & set(true)) / _K for own, true in zip(found.tolist(), exact.tolist())])
        beside, own = (np.median(taken, axis=0) * 1e3).tolist()
        times = {"ms a query": own, "scan's ms": beside, "ms in 64": together * 1e3}
        table.append({"row": name, **facts, **times, "recall@10": float(share)})
        print(
            {key: round(value, 4) if isinstance(value, float) else value for key, value in table[-1].items()},
            flush=True,
        )

    faiss.omp_set_num_threads(options.threads)
    row("scan", scanned)
    for kind in ("pq", "hnsw"):
        if kind == "hnsw" and len(matrix) > _LINKED:
            continue
        begun, cpu = time.perf_counter(), time.process_time()
        index = VectorIndex([matrix], dim, kind)
        with tempfile.TemporaryDirectory() as folder:
            index.save(Path(folder) / kind)
            facts = {"build s": time.perf_counter() - begun, "CPU s": time.process_time() - cpu}
            facts["MB"] = (Path(folder) / kind).stat().st_size / 1e6
        row(kind, lambda asked, index=index: index.search(asked, _K, threads=options.threads)[1], **facts)
        if kind == "pq":
            assert table[-1]["recall@10"] >= 0.98, "codes find too little"
            table[-1] |= {"candidates": index._index.wide(_K), "recall tried": index.recall}
        del index
    if len(matrix) <= _CELLED:
        celled(matrix, dim, row)
    return {"vectors": len(matrix), "width": dim, "threads": options.threads, "rows": table}


def celled(matrix: np.ndarray, dim: int, row: Callable[..., None]) -> None:
    """Build FAISS's cells of the same bytes; a search looks at an eighth of them."""
    begun, cpu = time.perf_counter(), time.process_time()
    cells = int(np.sqrt(len(matrix)))
    plain = faiss.index_factory(dim, f"IVF{cells},SQ8", faiss.METRIC_INNER_PRODUCT)
    faiss.extract_index_ivf(plain).cp.min_points_per_centroid = 1
    plain.train(int8_vectors.unpacked(matrix[:: max(1, len(matrix) // (64 * cells))]))
    for begin in range(0, len(matrix), 65_536):
        plain.add(int8_vectors.unpacked(matrix[begin : begin + 65_536]))
    plain.nprobe = max(1, cells // 8)
    facts = {"build s": time.perf_counter() - begun, "CPU s": time.process_time() - cpu, "MB": matrix.nbytes / 1e6}
    row("FAISS IVF, 8 bits, an eighth of the cells", lambda asked: plain.search(asked, _K)[1], **facts)
