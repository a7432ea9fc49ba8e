"""Wikipedia in pages of 3,000 characters, with contexts and document evidence.

Run it with `python bench/index/vector_search.py --pages`. Queries are sentences of articles that are not in the index,
one at a time. All ways of searching take turns, so that other work of the machine slows each alike. CPU ms are those of
all threads together, the better measure on a busy machine. The rates of augmentation refer to the documents' text, with
vectors that the chunks already have. The leaflets row runs `pychunk index *.pdf` without an existing index, in a
process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pychunk import Placement
from pychunk.augmentation import augment
from pychunk.index import Ranking
from pychunk.index.index import Index
from pychunk.segmenter import Segmenter

TITLE = "Pages with context and document evidence"
ABOUT = (
    'Wikipedia cut into pages of 3,000 characters. Each page is indexed with the first words of its document ("head") '
    'as context. Times of queries are medians of single queries; "CPU ms" is the time of all threads together. Rates '
    "of augmentation are MB of document text for each second of elapsed time, and for each second of CPU time. Each "
    'batch of 250 articles is timed twice, and the better time counts. In rows with "document evidence", '
    "document_weight is 1."
)
CHARACTERS, ARTICLES = 3000, 250
WAYS = ("head", "title", "summary", "neighbours")
SEARCHES: dict[str, dict[str, Any]] = {
    f"{mode}{', document evidence' if weight else ''}": {"mode": mode, "ranking": Ranking(document_weight=weight)}
    for mode in ("sparse", "hybrid")
    for weight in (0.0, 1.0)
}


def cut(batch: pa.RecordBatch, segmenter: Segmenter) -> Any:
    """Return chunks of articles, each of one page."""
    starts = [list(range(0, max(1, len(text)), CHARACTERS)) for text in batch["text"].to_pylist()]
    return segmenter(batch, columns={"text": "text", "page_starts": starts}, ids="id", metadata_columns=["title"])


def sentences(chunks: Any, count: int) -> list[str]:
    """Return texts of sentences of chunks, drawn with a seed."""
    found = [
        chunk["text"][each["start"] - chunk["start"] : each["end"] - chunk["start"]]
        for chunk in chunks.table.select(["text", "start", "sentences"]).slice(0, 400).to_pylist()
        for each in chunk["sentences"]
    ]
    long = [text for text in found if len(text.split()) > 5]
    return [long[i] for i in np.random.default_rng(0).choice(len(long), count, replace=False)]


def clocks() -> np.ndarray:
    """Return the elapsed seconds, and those of this process on all CPUs."""
    return np.array([time.perf_counter(), time.process_time()])


def measured(options: argparse.Namespace, file: Path) -> dict[str, Any]:
    """Return the figures; ``options`` has pages, timed and threads."""
    placement = Placement(threads=options.threads)
    segmenter = Segmenter("page", vectors="sentence", placement=placement)
    taken, size, queries = {way: np.zeros(2) for way in WAYS}, 0, list[str]()
    batches: Iterator[pa.RecordBatch] = pq.ParquetFile(file).iter_batches(ARTICLES, columns=["id", "title", "text"])
    with tempfile.TemporaryDirectory() as folder, Index.create(Path(folder) / "index", placement=placement) as index:
        begun, spent = clocks(), np.zeros(2)
        for batch in batches:
            chunks = cut(batch, segmenter)
            if len(index) >= options.pages:
                queries = sentences(chunks, options.timed)
                break
            size += batch["text"].nbytes
            for way in WAYS:
                each = []
                for _ in range(2):
                    before = clocks()
                    made = augment(chunks, way)
                    each.append(clocks() - before)
                taken[way], spent = taken[way] + np.min(each, axis=0), spent + np.sum(each, axis=0)
                if way == "head":
                    index.add(made)
        index.save()
        built = clocks() - begun - spent + taken["head"]
        if not queries:
            raise SystemExit(f"{file} has too few articles for {options.pages:,} pages and some to ask about")
        seconds = np.empty((len(queries), len(SEARCHES), 2))
        for row, query in enumerate([queries[0], *queries]):  # the first runs twice: it opens the saved files
            for column, how in enumerate(SEARCHES.values()):
                before = clocks()
                index.search(query, k=10, **how)
                seconds[max(0, row - 1), column] = clocks() - before
        figures: dict[str, Any] = {"pages": len(index), "MB": round(size / 1e6), "threads": options.threads}
    middle = 1e3 * np.median(seconds, axis=0)
    figures["Queries"] = [
        {"found by": name, "ms": wall, "CPU ms": cpu} for name, (wall, cpu) in zip(SEARCHES, middle.tolist())
    ]
    figures["Augmentation"] = [
        {"context": way, "MB/s": size / 1e6 / wall, "MB/s of one CPU": size / 1e6 / cpu}
        for way, (wall, cpu) in taken.items()
    ]
    figures["Building"] = [{"what": "the index, from texts", "s": float(built[0]), "CPU s": float(built[1])}]
    return figures


def leaflets(folder: Path, times: int = 3) -> dict[str, Any]:
    """Return the median seconds of a first index of the PDF files, and the CPU time of all processes together."""
    files = sorted(map(str, folder.glob("*.pdf")))
    command = [sys.executable, "-m", "pychunk", "index", *files]
    command += ["--method", "page", "--terms", "auto", "--augment", "head", "-o"]
    taken = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as out:
            begun, before = time.perf_counter(), os.times()
            subprocess.run([*command, f"{out}/leaflets.idx"], check=True, capture_output=True)
            after = os.times()
            cpu = sum(after[2:4]) - sum(before[2:4])
            taken.append((time.perf_counter() - begun, cpu))
    wall, cpu = np.median(taken, axis=0).tolist()
    return {"what": f"of {len(files)} PDF files, from nothing", "s": wall, "CPU s": cpu}


def show(figures: dict[str, Any]) -> None:
    """Print the figures on the terminal."""
    for key, value in figures.items():
        print(f"{key}: {value}" if not isinstance(value, list) else key)
        for row in value if isinstance(value, list) else ():
            print(
                "  " + ", ".join(f"{k} {v:.2f}" if isinstance(v, float) else str(v) for k, v in row.items()), flush=True
            )
