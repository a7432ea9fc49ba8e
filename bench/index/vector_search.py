"""The index on real sentence vectors: its scan compared with FAISS, flat and HNSW, and its memory while adding.

The vectors are those of the static encoder for sentences of Wikipedia articles, in chunks of 100 words. Queries are
sentences of articles that are not in the index. The `index` rows search with pychunk.Index (distinct chunks, with their
text). The `vectors` rows search the vectors alone, each of which is a chunk.

Latency is the median of single queries. The row and FAISS's flat index (in `index` rows pychunk's own) take turns, on
as many threads as --threads says. `ms in 64` is a query's share of a batch of 64. Recall is the share of ten exact hits
that are found, over all queries.

    python bench/index/vector_search.py                                            200,000 vectors
    python bench/index/vector_search.py --vectors 900000 --threads 2 --accuracy    no HNSW, which takes minutes
    python bench/index/vector_search.py --links 24 --construction 200              another graph
    python bench/index/vector_search.py --million                                  peak memory of adding a million
    python bench/index/vector_search.py --approximate 5000000 --threads 2          codes and the scan
    python bench/index/vector_search.py --levels                                   a million nodes of five levels
    python bench/index/vector_search.py --pages --threads 2                        pages of 3,000 characters

See bench/index/index_build.py for the build compared with peers. See bench/index/index_again.py for `pychunk index`
after 1 % changed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pychunk import Placement
from pychunk.index.dense import int8_vectors
from pychunk.index.dense import vector_index as settings
from pychunk.index.dense.scan import VectorScan
from pychunk.index.dense.vector_index import VectorIndex
from pychunk.index.index import Index
from pychunk.segmenter import Segmenter

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.index import index_approximate, index_levels, index_pages
from bench.index.index_levels import peak

K = 10
COMPARED = (
    'Sentence vectors of Wikipedia; single queries, in turn with an exact (flat) index. In rows "vectors" it is '
    "FAISS's. In rows \"index\" it is pychunk's, and both indexes return texts."
)
MILLION = "The same chunks, added again and again under other ids to an exact index with the static encoder's vectors."


#: A function from queries to the rows found for each.
Search = Callable[[np.ndarray], list[set[int]]]


def chunk_tables(file: Path, articles: int = 250) -> Iterator[pa.Table]:
    """Yield chunks of 100 words with their sentences' vectors, some articles at a time."""
    segmenter = Segmenter("fixed", size=100, unit="words", vectors="sentence")
    for batch in pq.ParquetFile(file).iter_batches(batch_size=articles, columns=["id", "text"]):
        yield segmenter(batch, columns={"text": "text"}, ids="id").table


def sentence_vectors(table: pa.Table) -> np.ndarray:
    """Return the float32[sentences, dim] of a chunk table."""
    found = [chunk.flatten().field("vector") for chunk in table["sentences"].chunks]
    return np.concatenate([np.asarray(each.flatten()).reshape(len(each), -1) for each in found])


def corpus(file: Path, count: int, queries: int) -> tuple[list[pa.Table], np.ndarray, np.ndarray]:
    """Return chunk tables of ``count`` sentences in all, their vectors, and query vectors of the next articles."""
    tables: list[pa.Table] = []
    matrices: list[np.ndarray] = []
    missing = count
    for table in chunk_tables(file):
        if missing <= 0:
            held_out = sentence_vectors(table)
            chosen = np.random.default_rng(0).choice(len(held_out), queries, replace=False)
            return tables, np.concatenate(matrices), np.ascontiguousarray(held_out[chosen])
        ends = np.cumsum(np.concatenate([np.diff(np.asarray(c.offsets)) for c in table["sentences"].chunks]))
        table = table.slice(0, int(np.searchsorted(ends, missing)) + 1)
        tables.append(table)
        matrices.append(sentence_vectors(table))
        missing -= len(matrices[-1])
    raise SystemExit(f"{file} has too few sentences for {count:,} vectors and {queries:,} queries besides")


def in_turn(queries: np.ndarray, *searches: Callable[[np.ndarray], Any]) -> list[float]:
    """Return the median seconds of each search; all take turns at each query, one query at a time."""
    taken = np.empty((len(queries), len(searches)))
    for number, query in enumerate(queries):
        for which, search in enumerate(searches):
            begun = time.perf_counter()
            search(query[None])
            taken[number, which] = time.perf_counter() - begun
    return np.median(taken, axis=0).tolist()


def recall(found: list[set[int]], exact: list[set[int]]) -> float:
    return float(np.mean([len(a & b) / len(b) for a, b in zip(found, exact)]))


class Comparison:
    """Rows of searches, each timed in turn with a flat one, and printed when it is done."""

    def __init__(self, queries: np.ndarray, timed: int, threads: int) -> None:
        self.queries, self.few, self.threads = queries, queries[:timed], threads
        self.rows: list[dict[str, Any]] = []
        titles = ("accuracy", "build s", "MB", "ms/query", "flat ms", "ratio", "ms in 64", "recall@10")
        print(f"{'':18}" + "".join(f"{title:>10}" for title in titles))

    def found(self, search: Search) -> list[set[int]]:
        """Return the hits of all queries, searched on every core."""
        faiss.omp_set_num_threads(os.cpu_count() or 1)
        found = search(self.queries)
        faiss.omp_set_num_threads(self.threads)
        return found

    def in_batches(self, search: Search) -> float:
        """Return the seconds of a query among 64, as the median of five batches."""
        taken = []
        for begin in range(0, 5 * 64, 64):
            batch = self.queries[begin % max(1, len(self.queries) - 64) :][:64]
            begun = time.perf_counter()
            search(batch)
            taken.append((time.perf_counter() - begun) / len(batch))
        return float(np.median(taken))

    def add(
        self, name: str, accuracy: object, build: float, size: float, search: Search, beside: Search, share: float
    ) -> None:
        flat_ms, own = (1e3 * each for each in in_turn(self.few, beside, search))
        together = 1e3 * self.in_batches(search)
        print(
            f"{name:18}{accuracy!s:>10}{build:10.1f}{size / 1e6:10.0f}{own:10.3f}{flat_ms:10.3f}"
            f"{flat_ms / own:10.1f}{together:10.3f}{share:10.4f}",
            flush=True,
        )
        cells = {"build s": build, "MB": size / 1e6, "ms a query": own, "flat ms": flat_ms, "ratio": flat_ms / own}
        self.rows.append({"row": name, "accuracy": accuracy, **cells, "ms in 64": together, "recall@10": share})


def through_index(index: Index) -> Search:
    return lambda q: [{hit.row for hit in hits} for hits in index.search(q, k=K, mode="dense")]


def through_vectors(index: Any) -> Search:
    return lambda q: [set(found.tolist()) for found in index.search(q, K)[1]]


def through_scan(scan: VectorScan, threads: int) -> Search:
    return lambda q: [set(found.tolist()) for found in scan.top(q, K, threads=threads)[1]]


def compare(options: argparse.Namespace, file: Path) -> dict[str, Any]:
    tables, matrix, queries = corpus(file, options.vectors, options.queries)
    matrix = matrix.astype(np.float16)
    print(
        f"{len(matrix):,} sentence vectors of width {matrix.shape[1]} in {sum(map(len, tables)):,} chunks", flush=True
    )
    comparison = Comparison(queries, options.timed, options.threads)
    compare_vectors(comparison, matrix, options.accuracy)
    if not options.no_index:
        compare_indexes(comparison, tables, options.accuracy)
    return {"vectors": len(matrix), "width": matrix.shape[1], "threads": options.threads, "rows": comparison.rows}


def compare_vectors(comparison: Comparison, matrix: np.ndarray, accuracies: Sequence[int]) -> None:
    """Compare FAISS's flat index, the scans of float16 and int8, and HNSW, on the vectors alone."""
    width, threads = matrix.shape[1], comparison.threads
    faiss.omp_set_num_threads(os.cpu_count() or 1)
    begun = time.perf_counter()
    flat = faiss.index_factory(width, "SQfp16", faiss.METRIC_INNER_PRODUCT)
    flat.add(matrix.astype(np.float32))
    seconds_flat = time.perf_counter() - begun
    scan = VectorScan([matrix], width)
    flat_search, scan_search = through_vectors(flat), through_scan(scan, threads)
    exact = comparison.found(scan_search)
    few = comparison.few[:20]
    scores = np.sort(few @ matrix.astype(np.float32).T, axis=1)[:, : -K - 1 : -1]
    assert np.allclose(scan.top(few, K)[0], scores, atol=1e-5), "the scan is not brute force"
    faiss.omp_set_num_threads(threads)
    share = recall(comparison.found(flat_search), exact)
    comparison.add("vectors FAISS flat", "-", seconds_flat, matrix.nbytes, flat_search, flat_search, share)
    comparison.add("vectors scan", "-", 0.0, matrix.nbytes, scan_search, flat_search, 1.0)
    packed = int8_vectors.packed(matrix.astype(np.float32))
    scan_search = through_scan(VectorScan([packed], width), threads)
    share = recall(comparison.found(scan_search), exact)
    comparison.add("vectors scan int8", "-", 0.0, packed.nbytes, scan_search, flat_search, share)
    if not accuracies:
        return
    begun = time.perf_counter()
    hnsw = VectorIndex([matrix], width, "hnsw")
    seconds = time.perf_counter() - begun
    with tempfile.TemporaryDirectory() as folder:
        hnsw.save(Path(folder) / "hnsw")
        size = (Path(folder) / "hnsw").stat().st_size
    shares = []
    for accuracy in accuracies:
        hnsw.accuracy = accuracy
        search = through_vectors(hnsw)
        shares.append(recall(comparison.found(search), exact))
        comparison.add("vectors hnsw", accuracy, seconds, size, search, flat_search, shares[-1])
    assert max(shares) >= 0.9, "HNSW finds too little"


def compare_indexes(comparison: Comparison, tables: list[pa.Table], accuracies: Sequence[int]) -> None:
    """Compare flat and HNSW search in pychunk.Index."""
    placement = Placement(threads=comparison.threads)
    with tempfile.TemporaryDirectory() as folder:
        taken = {}
        for kind in ("flat", "hnsw") if accuracies else ("flat",):
            faiss.omp_set_num_threads(os.cpu_count() or 1)
            begun = time.perf_counter()
            with Index.create(Path(folder) / kind, kind=kind, bm25=None) as index:
                for each in tables:
                    index.add(each)
                index.save()
            taken[kind] = time.perf_counter() - begun
        opened = Index.open(Path(folder) / "flat", placement=placement)
        flat_search = through_index(opened)
        exact = comparison.found(flat_search)
        comparison.add("index flat", "-", taken["flat"], opened.info["bytes"], flat_search, flat_search, 1.0)
        for accuracy in accuracies:
            index = Index.open(Path(folder) / "hnsw", placement=placement, accuracy=accuracy)
            search = through_index(index)
            share = recall(comparison.found(search), exact)
            comparison.add("index hnsw", accuracy, taken["hnsw"], index.info["bytes"], search, flat_search, share)


def million(options: argparse.Namespace, file: Path) -> dict[str, Any]:
    """Add the same chunks repeatedly with other ids, and print the peak of memory at four points.

    Memory holds the words of one part (57,344 chunks) and a byte a chunk; everything else is in files.
    """
    table = next(chunk_tables(file, 150))
    ids = table["document_id"].cast(pa.string())
    each = len(sentence_vectors(table))
    rounds = max(4, -(-1_000_000 // each))
    marks = [round(rounds * share / 4) for share in (1, 2, 3, 4)]
    print(f"{each:,} vectors in {len(table):,} chunks a batch, {rounds} batches; before: {peak():.0f} MB", flush=True)
    print(f"{'vectors':>12}{'chunks':>10}{'peak MB':>9}{'vectors MB':>12}{'s':>7}")
    curve = []
    with tempfile.TemporaryDirectory() as folder:
        index = Index.create(Path(folder) / "million", kind="flat", encoder="static")
        begun = time.perf_counter()
        for number in range(1, rounds + 1):
            at = table.column_names.index("document_id")
            renamed = pa.array([f"{number}/{name}" for name in ids.to_pylist()])
            index.add(table.set_column(at, "document_id", renamed))
            if number in marks:
                curve.append((number * each, number * len(table), peak()))
                vectors, chunks, most = curve[-1]
                size = vectors * 256 * 2 / 1e6
                print(f"{vectors:12,}{chunks:10,}{most:9.0f}{size:12.0f}{time.perf_counter() - begun:7.1f}", flush=True)
        index.save()
        print(
            f"saved: {peak():.0f} MB, {time.perf_counter() - begun:.1f} s, {index.info['bytes'] / 1e6:.0f} MB on disk"
        )
        assert len(index) == rounds * len(table)
        index.close()
    (before, chunks, first), (after, more, last) = curve[1], curve[-1]  # the first part is full by the second point
    print(f"growth from the second point to the last: {(last - first) * 2**20 / (more - chunks):.0f} bytes a chunk")
    assert last - first < 0.1 * (after - before) * 512 / 1e6, "memory grows with what is added"
    return {"rows": [dict(zip(("vectors", "chunks", "peak MB"), point)) for point in curve]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds wiki/articles.parquet")
    parser.add_argument("--vectors", type=int, default=200_000, help="sentences in the index (default: %(default)s)")
    parser.add_argument("--queries", type=int, default=1000, help="held-out sentences to ask for (%(default)s)")
    parser.add_argument("--timed", type=int, default=200, help="queries that are timed one by one (%(default)s)")
    parser.add_argument(
        "--accuracy",
        type=int,
        nargs="*",
        default=[64, 96, 128, 256],
        help="candidates of HNSW; none: no HNSW (%(default)s)",
    )
    parser.add_argument("--threads", type=int, default=1, help="of a search (%(default)s)")
    parser.add_argument("--links", type=int, default=settings._LINKS, help="HNSW's links a vector (%(default)s)")
    parser.add_argument(
        "--construction", type=int, default=settings._CONSTRUCTION, help="candidates while building (%(default)s)"
    )
    parser.add_argument("--no-index", action="store_true", help="vectors alone, not through pychunk.Index")
    parser.add_argument("--million", action="store_true", help="memory while adding instead of search")
    parser.add_argument(
        "--pages", type=int, nargs="?", const=40_000, metavar="N", help="contexts and document evidence (%(const)s)"
    )
    parser.add_argument(
        "--approximate", type=int, nargs="?", const=200_000, metavar="N", help="cells beside the scan (%(const)s)"
    )
    parser.add_argument("--levels", action="store_true", help="an index of five levels (bench/index/index_levels.py)")
    parser.add_argument("--nodes", type=int, default=1_000_000, help="with --levels, at least (%(default)s)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    settings._LINKS, settings._CONSTRUCTION = options.links, options.construction
    file = options.data / "wiki" / "articles.parquet"
    if not file.is_file():
        raise SystemExit(f"no {file}: pass --data or set PYCHUNK_DATA")
    if options.levels:
        figures, title, about = index_levels.levels(options, file), "An index of levels", index_levels.ABOUT
    elif options.approximate:
        figures = index_approximate.measured(options, file)
        title, about = index_approximate.TITLE, index_approximate.ABOUT
    elif options.pages:
        figures, title, about = index_pages.measured(options, file), index_pages.TITLE, index_pages.ABOUT
        figures["Building"].append(index_pages.leaflets(options.data / "unlp2026" / "medicine" / "pdf"))
        index_pages.show(figures)
    elif options.million:
        figures, title, about = million(options, file), "Memory while an index grows", MILLION
    else:
        figures, title, about = compare(options, file), "HNSW compared with exact search", COMPARED
    if options.save:
        record.save(options.save, title, figures, about=about, packages=["faiss-cpu"], encoder=record.shipped())


if __name__ == "__main__":
    main()
