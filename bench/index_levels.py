"""An index of the nodes of five levels: memory while it is built, plan and search, and fewer levels beside all.

Run by `python bench/index.py --levels`. Nodes are those of Wikipedia articles, each once; queries are sentences of
articles that are not in the index, asked one at a time, the kinds of search in turn.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from pychunk.retrieval.index import Index
from pychunk.segmenter import Segmenter

LEVELS = ["sentence", "group", "paragraph", "section", "document"]
ABOUT = (
    "Nodes of five levels of Wikipedia articles in one exact index; single queries, the kinds of search in turn; the "
    "time of the processor stands beside, as other work ran on the machine."
)
#: What is searched: all levels, and two that lie beside each other.
RANGES = [("sentence", "document"), ("sentence", "group"), ("group", "paragraph"), ("paragraph", "section")]
RANGES += [("section", "document")]
K = 10


def peak() -> float:
    """Megabytes that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def build(index: Index, file: Path, count: int) -> tuple[list[dict[str, Any]], list[str]]:
    """(memory at four points, sentences of the articles that follow) of an index of at least so many nodes."""
    segmenter = Segmenter(vectors="sentence")
    curve: list[dict[str, Any]] = []
    begun, nodes = time.perf_counter(), 0
    print(f"{'nodes':>12}{'peak MB':>9}{'s':>7}   before: {peak():.0f} MB")
    for batch in pq.ParquetFile(file).iter_batches(batch_size=250, columns=["id", "text"]):
        ids = [str(each) for each in batch["id"].to_pylist()]
        if nodes >= count:
            found = segmenter.hierarchy(batch["text"], ["sentence", "document"])
            texts = [text for text in found.texts_of("sentence") if 40 < len(text) < 200]
            return curve, [texts[i] for i in np.random.default_rng(0).permutation(len(texts))]
        found = segmenter.hierarchy(batch["text"], LEVELS, ids=ids)
        nodes += int(index.add(found.chunks()))
        while len(curve) < 4 and nodes >= count * (len(curve) + 1) / 4:
            curve.append({"nodes": nodes, "peak MB": peak(), "s": time.perf_counter() - begun})
            print(f"{nodes:12,}{curve[-1]['peak MB']:9.0f}{curve[-1]['s']:7.1f}", flush=True)
    raise SystemExit(f"{file} has {nodes:,} nodes alone: pass --nodes {nodes // 2}")


def levels(options: argparse.Namespace, file: Path) -> dict[str, Any]:
    """Builds, asks, and prints."""
    with tempfile.TemporaryDirectory() as folder:
        with Index.create(Path(folder) / "levels", vectors="chunk") as index:
            curve, queries = build(index, file, options.nodes)
            begun = time.perf_counter()
            index.save()
            size = index.info["bytes"] / 1e6
            print(f"saved: {peak():.0f} MB, {time.perf_counter() - begun:.1f} s, {size:.0f} MB on disk")
        with Index.open(Path(folder) / "levels", verify=False) as index:
            rows = asked(index, queries[: options.timed], options.threads)
    return {"memory": curve, "rows": rows, "MB on disk": size}


def asked(index: Index, queries: list[str], threads: int) -> list[dict[str, Any]]:
    """Median milliseconds of each kind of search, and those of the processor, of the same queries in turn."""
    kinds: dict[str, Callable[[str], Any]] = {}
    for fusion in ("levels", "score"):
        for low, high in RANGES:
            kinds[f"{low} to {high}, {fusion}"] = lambda query, options={"levels": (low, high), "fusion": fusion}: (
                index.search(query, K, threads=threads, **options)
            )
    kinds["rules plan, levels"] = lambda query: index.search(query, K, plan="rules", fusion="levels", threads=threads)
    taken: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for kind, search in kinds.items():
        begun = time.perf_counter()
        search(queries[0])
        print(f"first search, {kind}: {time.perf_counter() - begun:.2f} s")
    for query in queries[1:]:
        for kind, search in kinds.items():
            begun, worked = time.perf_counter(), time.process_time()
            search(query)
            taken[kind].append((1000 * (time.perf_counter() - begun), 1000 * (time.process_time() - worked)))
    middle = {kind: np.median(each, axis=0).tolist() for kind, each in taken.items()}
    rows = [{"search": kind, "ms": wall, "processor ms": work} for kind, (wall, work) in middle.items()]
    for row in rows:
        print(f"{row['search']:36}{row['ms']:8.1f} ms{row['processor ms']:8.1f} of the processor")
    return rows
