"""An index of the nodes of five levels: memory during the build, plan and search, and fewer levels against all.

Run it with `python bench/index/vector_search.py --levels`. The nodes are those of Wikipedia articles, each once.
Queries are sentences of articles that are not in the index, asked one at a time. The kinds of search take turns, and
none searches twice in a row for a query, because the index caches what BM25 found for the last query. The approximate
index holds the same nodes. Its recall is the share of the exact one's ten best.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from pychunk import Placement
from pychunk.index import Ranking
from pychunk.index.index import Index
from pychunk.levels.hierarchy_builder import hierarchy_by
from pychunk.segmenter import Segmenter

LEVELS = ["sentence", "group", "paragraph", "section", "document"]
ABOUT = (
    'Nodes of five levels of Wikipedia articles in an exact index (flat) and in an approximate one (pq). "Search" '
    "names the finest and the coarsest level that are searched, and the fusion. Queries are single, and the kinds of "
    'search take turns. "Ms" is elapsed time, and "processor ms" the time of all processors, which depends less on '
    'other work of the machine. "Recall@10" is the share of the exact index\'s ten best nodes that the approximate '
    "index finds."
)
#: The ranges of levels that are searched: all levels, then every other pair of a finest and a coarsest.
RANGES = [("sentence", "document")]
RANGES += [pair for pair in combinations_with_replacement(LEVELS, 2) if pair not in RANGES]
PLANS = ("learned", "rules")
K = 10


def peak() -> float:
    """Return the peak memory of this process in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def build(index: Index, file: Path, count: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Build an index of at least this many nodes; return memory at four points and sentences of the next articles."""
    segmenter = Segmenter(vectors="sentence")
    curve: list[dict[str, Any]] = []
    begun, nodes = time.perf_counter(), 0
    print(f"{'nodes':>12}{'peak MB':>9}{'s':>7}   before: {peak():.0f} MB")
    for batch in pq.ParquetFile(file).iter_batches(batch_size=250, columns=["id", "text"]):
        ids = [str(each) for each in batch["id"].to_pylist()]
        if nodes >= count:
            found = hierarchy_by(segmenter, batch["text"], ["sentence", "document"])
            texts = [text for text in found.texts_of("sentence") if 40 < len(text) < 200]
            return curve, [texts[i] for i in np.random.default_rng(0).permutation(len(texts))]
        found = hierarchy_by(segmenter, batch["text"], LEVELS, ids=ids)
        nodes += int(index.add(found.chunks()))
        while len(curve) < 4 and nodes >= count * (len(curve) + 1) / 4:
            curve.append({"nodes": nodes, "peak MB": peak(), "s": time.perf_counter() - begun})
            print(f"{nodes:12,}{curve[-1]['peak MB']:9.0f}{curve[-1]['s']:7.1f}", flush=True)
    raise SystemExit(f"{file} has {nodes:,} nodes alone: pass --nodes {nodes // 2}")


def levels(options: argparse.Namespace, file: Path) -> dict[str, Any]:
    """Build, query and print."""
    with tempfile.TemporaryDirectory() as folder:
        made = {}
        for kind in ("flat", "pq"):
            path = Path(folder) / kind
            with Index.create(path, vectors="chunk", kind=kind) as index:
                curve, queries = build(index, file, options.nodes)
                begun = time.perf_counter()
                index.save()
                size = index.info["bytes"] / 1e6
                print(f"{kind}, saved: {peak():.0f} MB, {time.perf_counter() - begun:.1f} s, {size:.0f} MB on disk")
            made[kind] = curve, size
        paths = {kind: Path(folder) / kind for kind in made}
        opened = {"placement": Placement(threads=options.threads), "verify": False}
        with Index.open(paths["flat"], **opened) as flat, Index.open(paths["pq"], **opened) as codes:
            indexes = {"flat": flat, "pq": codes}
            rows, work = asked(indexes, queries[: options.timed + 1])
            recalls = recall(indexes, queries[: options.queries])
            slower = compared(work)
    return {
        "memory": made["flat"][0],
        "rows": rows,
        "recall": recalls,
        "fewer levels": slower,
        "size": [{"index": kind, "MB on disk": size} for kind, (_, size) in made.items()],
    }


def name_of(low: str, high: str) -> str:
    """Return the name of a range of levels in the tables."""
    return low if low == high else f"{low} to {high}"


def asked(indexes: dict[str, Index], queries: list[str]) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
    """Return the median milliseconds of each kind of search, and those of the processor.

    The latter are given for each search of the exact index and each query.
    """
    kinds: dict[tuple[str, str], Callable[[str], Any]] = {}
    for kind, index in indexes.items():

        def search(query: str, ranking: Ranking, index: Index = index) -> Any:
            return index.search(query, K, ranking=ranking)

        for plan in PLANS:
            kinds[kind, f"plan and search, {plan}"] = lambda query, search=search, plan=plan: search(
                query, Ranking(planner=plan, fusion="levels")
            )
        for fusion in ("levels", "score"):
            for pair in RANGES if kind == "flat" else RANGES[:1]:
                kinds[kind, f"{name_of(*pair)}, {fusion}"] = lambda query, search=search, pair=pair, fusion=fusion: (
                    search(query, Ranking(levels=pair, fusion=fusion))
                )
    taken: dict[tuple[str, str], dict[str, tuple[float, float]]] = {kind: {} for kind in kinds}
    for search in kinds.values():
        for query in queries[:2]:  # the first search creates what the later ones reuse
            search(query)
    for turn in range(len(queries)):
        for place, (kind, search) in enumerate(kinds.items()):
            query = queries[(turn + place) % len(queries)]
            begun, worked = time.perf_counter(), time.process_time()
            search(query)
            taken[kind][query] = 1000 * (time.perf_counter() - begun), 1000 * (time.process_time() - worked)
    rows = []
    for (kind, name), each in taken.items():
        wall, work = np.median(list(each.values()), axis=0).tolist()
        rows.append({"index": kind, "search": name, "ms": wall, "processor ms": work})
        print(f"{kind:6}{name:36}{wall:8.1f} ms{work:8.1f} of the processor")
    return rows, {
        name: {query: work for query, (_, work) in each.items()}
        for (kind, name), each in taken.items()
        if kind == "flat"
    }


def compared(work: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """Return, for each fusion, the slowest search of fewer levels as a share of the search of all, at the median."""
    found = []
    for fusion in ("levels", "score"):
        own = {name: each for name, each in work.items() if name.endswith(f", {fusion}")}
        every = own.pop(f"{name_of(*RANGES[0])}, {fusion}")
        shares = {name: float(np.median([each[query] / every[query] for query in every])) for name, each in own.items()}
        slowest = max(shares, key=lambda name: shares[name])
        found.append({"slowest of fewer levels": slowest, "of all levels": shares[slowest]})
        print(f"slowest of fewer levels: {slowest}, {shares[slowest]:.2f} of all")
    return found


def recall(indexes: dict[str, Index], queries: list[str]) -> list[dict[str, Any]]:
    """Return the share of the exact index's ten best that the approximate one finds, over all queries."""
    rows = []
    for pair in (RANGES[0], *[(level, level) for level in LEVELS]):
        for mode in ("dense", "hybrid"):
            row: dict[str, Any] = {"levels": name_of(*pair), "mode": mode}
            for fusion in ("levels", "score"):
                exact, near = (
                    index.rank(queries, K, mode, ranking=Ranking(fusion=fusion, levels=pair))[0]
                    for index in indexes.values()
                )
                shares = [len(set(a) & set(b)) / K for a, b in zip(exact.tolist(), near.tolist(), strict=True)]
                row[f"recall@{K}, {fusion}"] = float(np.mean(shares))
            rows.append(row)
            print(f"{row['levels']:24}{mode:8}" + "".join(f"{name} {row[name]:.3f}  " for name in list(row)[2:]))
    return rows
