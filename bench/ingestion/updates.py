"""Updates: the time of `pychunk ingest --update` after few documents changed, compared with that of the first run.

Documents of 24 lines of Wikipedia are ingested from one Parquet file, from 20, and from a folder of text files. Then a
share of them gets one more line: documents drawn at random, or neighbours. Each run is a process of its own, which has
loaded pychunk and segmented a text before it is measured.

    python bench/ingestion/updates.py --save bench/results/updates.json
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pychunk
from pychunk.ingest import ingest

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

LINES, WIDTH = 24, 100
#: The seconds that the scripted encoder works for each sentence.
SECONDS = 1e-4
METHODS = ("topic", "semantic", "scripted")
#: The kinds of sources, with the number of files; 0: one for each document.
SOURCES = {"one Parquet file": 1, "20 Parquet files": 20, "folder of texts": 0}
Corpus = dict[str, str]


class Scripted:
    """An encoder that works for a fixed time for each sentence, and counts the sentences."""

    def __init__(self) -> None:
        self.count = 0

    def __repr__(self) -> str:
        return "Scripted()"  # The manifest holds it, so that it must be the same in each process.

    def __call__(self, texts: list[str]) -> Any:
        end = time.thread_time() + SECONDS * len(texts)
        while time.thread_time() < end:
            pass
        self.count += len(texts)
        return np.array([[1.0, len(text), text.count("e")] for text in texts], np.float32)


def corpus_of(path: Path, documents: int) -> Corpus:
    """Return documents of equally many lines of the texts in a Parquet file."""
    texts = itertools.cycle(pq.read_table(path, columns=["text"])["text"].to_pylist())
    lines = (line[:WIDTH] for text in texts for line in text.split("\n") if len(line) > WIDTH // 2)
    return {f"d{number}": "\n".join(itertools.islice(lines, LINES)) for number in range(documents)}


def changed(corpus: Corpus, count: int, seed: int, *, at_random: bool) -> Corpus:
    """Return the documents that get one more line."""
    drawn = random.Random(seed)
    first = drawn.randrange(len(corpus) - count)
    names = drawn.sample(list(corpus), count) if at_random else list(corpus)[first : first + count]
    return {name: f"{corpus[name]}\nThis line is new since the last run." for name in names}


def write(folder: Path, files: int, corpus: Corpus, only: Corpus) -> Path:
    """Write a corpus to as many files, of which only those with some documents are written, and return its path."""
    folder.mkdir(exist_ok=True)
    if not files:
        for name, text in only.items():
            (folder / f"{name}.txt").write_text(text)
        return folder
    names = list(corpus)
    for number, own in enumerate(np.array_split(np.arange(len(names)), files)):
        part = {names[row]: corpus[names[row]] for row in own}
        if not part.keys().isdisjoint(only):
            table = pa.table({"id": list(part), "text": list(part.values())})
            pq.write_table(table, folder / f"part{number:02}.parquet")
    return folder


def _cpu() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def run(path: Path, out: Path, name: str, shard_bytes: int, is_table: bool) -> tuple[float, float, int]:
    """Ingest, and return the seconds of the CPU and of the clock, and the sentences that the scripted encoder got."""
    encoder = Scripted()
    options: dict[str, Any] = {"method": name}
    if name != "topic":
        options["vectors"] = "chunk"
    if name == "scripted":
        options = {"method": "sentence", "vectors": pychunk.Vectors("chunk", pychunk.Encoder(encoder, "scripted"))}
    if is_table:
        options |= {"columns": {"text": "text"}, "ids": "id", "kind": "parquet"}
    with tempfile.TemporaryDirectory() as scratch:  # Loads what every run loads.
        first = Path(scratch) / "first.parquet"
        pq.write_table(pa.table({"id": ["a"], "text": ["Cats purr. Stars shine."]}), first)
        more = {"columns": {"text": "text"}, "ids": "id", "kind": "parquet"}
        ingest(first, Path(scratch) / "out", update=True, **{**options, **more})
    encoder.count = 0
    begun, used = time.perf_counter(), _cpu()
    ingest(path, out, update=True, shard_bytes=shard_bytes, **options)
    return _cpu() - used, time.perf_counter() - begun, encoder.count


def alone(*arguments: Any) -> tuple[float, float, int]:
    """Return the result of :func:`run` in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(run, *arguments).result()


def measured(
    corpus: Corpus, share: float, seed: int, times: int, shard_bytes: int, methods: Sequence[str]
) -> list[dict[str, Any]]:
    """Return a row for each kind of source, place of the changes and method, with the least of several times."""
    count, rows = max(1, round(share * len(corpus))), []
    for (source, files), at_random, name in itertools.product(SOURCES.items(), (True, False), methods):
        found = []
        for _ in range(times):
            with tempfile.TemporaryDirectory() as folder:
                texts, out = Path(folder) / "source", Path(folder) / "out"
                write(texts, files, corpus, corpus)
                time.sleep(2.5)  # Younger files are read again.
                before = alone(texts, out, name, shard_bytes, files > 0)
                new = changed(corpus, count, seed, at_random=at_random)
                write(texts, files, {**corpus, **new}, new)
                found.append((before, alone(texts, out, name, shard_bytes, files > 0)))
        cpu, wall = ([min(pair[run][at] for pair in found) for run in (0, 1)] for at in (0, 1))
        (_, _, encoded), (_, _, again) = found[0]
        rows.append(
            {
                "source": source,
                "changes": "at random" if at_random else "neighbours",
                "method": name,
                "first run, CPU s": round(cpu[0], 3),
                "update, CPU s": round(cpu[1], 3),
                "CPU, %": round(100 * cpu[1] / cpu[0], 1),
                "first run, s": round(wall[0], 3),
                "update, s": round(wall[1], 3),
                "time, %": round(100 * wall[1] / wall[0], 1),
                "encoded, %": round(100 * again / encoded, 2) if encoded else None,
            }
        )
        print(", ".join(f"{key}: {value}" for key, value in rows[-1].items()), flush=True)
    return rows


def main() -> None:
    """Print the table and save it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--documents", type=int, default=8000, metavar="N", help="number of documents (default: 8000)")
    parser.add_argument("--share", type=float, default=0.01, metavar="S", help="share that changes (default: 0.01)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the changes (default: 0)")
    parser.add_argument("--times", type=int, default=3, metavar="N", help="runs of each, the least counts (default: 3)")
    parser.add_argument("--shard-bytes", type=int, default=1_000_000, metavar="N", help="default: 1000000")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="M", help="default: all")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/updates.json")
    options = parser.parse_args()
    corpus = corpus_of(Path(options.data) / "wiki" / "articles.parquet", options.documents)
    rows = measured(corpus, options.share, options.seed, options.times, options.shard_bytes, options.methods)
    size = sum(len(text.encode()) for text in corpus.values())
    facts = {
        "documents": len(corpus),
        "megabytes of text": round(size / 1e6, 1),
        "bytes of a shard": options.shard_bytes,
    }
    if options.save:
        record.save(
            options.save,
            "Updates of a corpus",
            {**facts, "changed, %": 100 * options.share, "runs": rows},
            encoder=record.shipped(),
            about=(
                "Documents of 24 lines; the changed ones got one more line. `semantic` has vectors of the static "
                "encoder, `scripted` one vector a sentence of an encoder that works 0.1 ms for it. `CPU`: with child "
                "processes, in a process that has loaded everything. `encoded`: the sentences that the scripted "
                "encoder got in the update, as a share of those of the first run."
            ),
        )


if __name__ == "__main__":
    main()
