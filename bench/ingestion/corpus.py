"""Repeated runs of pychunk ingest on the same text: MB/s against segment() in memory, peak memory, cost of stages.

The two are timed in turns with all threads. Each run has a process of its own, which first runs on some articles to
warm up. The ratio is that of the medians. CPU seconds show what the pipeline costs in addition to segmentation,
whatever else the machine does.

Then a corpus of --gigabytes, the same articles repeated with other ids, is ingested at growing sizes. Peak memory
should not grow. Its source and output are temporary, and the script removes them.

    python bench/ingestion/corpus.py --data ../shared/data --gigabytes 2
    python bench/ingestion/corpus.py --data ../shared/data --gigabytes 0.5 --compression zstd
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

#: The approximate size of English Wikipedia's articles as plain text.
WIKIPEDIA_BYTES, WIKIPEDIA_ARTICLES = 15e9, 6.7e6
WARM = 500
ABOUT = (
    "pychunk ingest from Parquet to shards, including reading, hashing and writing to the disk. To reach the size, the "
    'articles are repeated under other ids. "Ratio" is the rate of ingest divided by that of segment() in memory.'
)


def repeated(articles: Path, path: Path, gigabytes: float) -> int:
    """Write the articles repeatedly, each time with other ids, and return the bytes of text."""
    table = pq.read_table(articles, columns=["id", "text"])
    size = pc.sum(pc.binary_length(table["text"])).as_py()
    rounds = max(1, round(gigabytes * 1e9 / size))
    with pq.ParquetWriter(path, pa.schema([("id", pa.string()), ("text", pa.string())]), compression="zstd") as writer:
        for number in range(rounds):
            ids = pc.binary_join_element_wise(str(number), table["id"].cast(pa.string()), "-")
            again = pa.table([ids, table["text"].cast(pa.string())], names=["id", "text"])
            writer.write_table(again, row_group_size=1000)
    return rounds * int(size)


def in_memory(path: Path) -> dict[str, float]:
    """Run segment() on a table that is in memory."""
    import pychunk

    table = pq.read_table(path, columns=["id", "text"])
    pychunk.segment(table.slice(0, WARM), columns={"text": "text"}, ids="id")
    begun, used = time.perf_counter(), time.process_time()
    chunks = pychunk.segment(table, columns={"text": "text"}, ids="id")
    return {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - used, "chunks": len(chunks)}


def ingested(path: Path, out: Path, compression: str) -> dict[str, object]:
    """Run the whole of ingest: read, segment, write, wait for the disk."""
    from pychunk.ingest import ingest

    ingest(path, out.with_name("warm"), columns={"text": "text"}, limit=WARM, compression=compression)
    begun, used = time.perf_counter(), time.process_time()
    report = ingest(path, out, columns={"text": "text"}, compression=compression)
    return {
        "seconds": time.perf_counter() - begun,
        "cpu": time.process_time() - used,
        "chunks": report.chunks,
        "text_bytes": report.text_bytes,
        "written": sum(file.stat().st_size for file in out.iterdir()),
        "shards": report.shards,
        "stages": report.stages,
    }


def child(kind: str, path: Path, out: Path, compression: str) -> None:
    found = in_memory(path) if kind == "memory" else ingested(path, out, compression)
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps(found))


def run(kind: str, path: Path, out: Path, compression: str) -> dict[str, Any]:
    """Run once in a process of its own, and remove what it wrote."""
    command = [sys.executable, __file__, "--child", kind, "--source", str(path), "--out", str(out)]
    printed = subprocess.run([*command, "--compression", compression], check=True, capture_output=True, text=True)
    for folder in out, out.with_name("warm"):
        shutil.rmtree(folder, ignore_errors=True)
    return dict(json.loads(printed.stdout))


def compare(path: Path, folder: Path, rounds: int, compression: str) -> dict[str, float]:
    """Time the runs in memory and those of ingest in turns, and print medians."""
    memory, whole = [], []
    for _ in range(rounds):
        memory.append(run("memory", path, folder / "out", compression))
        whole.append(run("ingest", path, folder / "out", compression))
    assert {each["chunks"] for each in memory} == {each["chunks"] for each in whole}
    size = whole[0]["text_bytes"]
    print(f"{size / 1e6:.1f} MB of text, {whole[0]['chunks']:,} chunks, {rounds} rounds in turns, medians")
    seconds = {}
    for name, found in ("in memory", memory), (f"ingest ({compression})", whole):
        seconds[name] = [statistics.median(each[key] for each in found) for key in ("seconds", "cpu")]
        wall, cpu = seconds[name]
        print(f"{name:>16}: {size / wall / 1e6:6.1f} MB/s, {wall:.2f} s, {cpu:.2f} s of CPU")
    (memory_wall, memory_cpu), (wall, cpu) = seconds.values()
    print(f"ratio to in memory: {memory_wall / wall:.2f} of the rate, {memory_cpu / cpu:.2f} by CPU seconds")
    rates = {"segment() in memory, MB/s": size / memory_wall / 1e6, "ingest, MB/s": size / wall / 1e6}
    return {"MB of text": size / 1e6, **rates, "ratio": memory_wall / wall, "ratio by CPU": memory_cpu / cpu}


def grow(data: Path, folder: Path, gigabytes: float, compression: str) -> dict[str, Any]:
    """Ingest a growing corpus; print rate, peak memory, the cost of each stage, and an estimate for Wikipedia."""
    found: dict[str, Any] = {}
    rows = []
    for share in (0.25, 0.5, 1.0):
        path = folder / "corpus.parquet"
        repeated(data / "wiki" / "articles.parquet", path, gigabytes * share)
        found = run("ingest", path, folder / "out", compression)
        path.unlink()
        size, wall = found["text_bytes"], found["seconds"]
        print(
            f"{size / 1e9:5.2f} GB: {size / wall / 1e6:6.1f} MB/s, peak memory {found['peak'] / 1e6:,.0f} MB, "
            f"{found['shards']} shards, {found['written'] / size:.2f} bytes written a byte of text"
        )
        cells = {"GB": size / 1e9, "MB/s": size / wall / 1e6, "peak MB": found["peak"] / 1e6, "shards": found["shards"]}
        rows.append({**cells, "written a byte": found["written"] / size})
    for name, taken in found["stages"].items():
        print(f"{name:>8}: at work {taken:6.1f} s of {wall:.1f} s ({taken / wall:4.0%}), beside the others")
    minutes = WIKIPEDIA_BYTES / (size / wall) / 60
    print(
        f"extrapolated: English Wikipedia ({WIKIPEDIA_BYTES / 1e9:.0f} GB of text, {WIKIPEDIA_ARTICLES / 1e6} million "
        f"articles), {minutes:.1f} minutes and {WIKIPEDIA_BYTES * found['written'] / size / 1e9:.0f} GB of shards"
    )
    written = WIKIPEDIA_BYTES * found["written"] / size / 1e9
    return {"rows": rows, "English Wikipedia, extrapolated": {"minutes": minutes, "GB of shards": written}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("PYCHUNK_DATA", "../shared/data")))
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compression", default="none")
    parser.add_argument("--folder", type=Path, help="where temporary files go; default: the system's place")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, arguments.source, arguments.out, arguments.compression)
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        articles = arguments.data / "wiki" / "articles.parquet"
        figures: dict[str, Any] = {"compression": arguments.compression}
        figures["beside segment()"] = compare(articles, Path(folder), arguments.rounds, arguments.compression)
        if arguments.gigabytes > 0:
            figures |= grow(arguments.data, Path(folder), arguments.gigabytes, arguments.compression)
    if arguments.save:
        record.save(arguments.save, "Whole corpora", figures, about=ABOUT, encoder=record.shipped())


if __name__ == "__main__":
    main()
