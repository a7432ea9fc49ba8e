"""A comparison of pychunk with its peers on the same text in one run: MB/s, ratio to pychunk, peak memory.

Each row runs in a process of its own, so that no row warms another's caches and peak memory is its own. A row first
runs on other articles, like a service that has been up for a second. A process touches its memory for the first time
only once, and how long that takes depends on the machine. Then it runs on the timed text; tokenizers are timed at their
first text. The table lists peers that are not installed as such. A slow peer gets a smaller share of the text, and its
MB are printed.

    pip install ".[bench]" && python bench/peers/throughput.py --data ../shared/data
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.peers.peer_rows import COLD, ROWS

ABOUT = (
    "The text is from Wikipedia. MB/s are medians of several runs, in which the rows take turns. Each run is "
    'a process of its own, which processes other articles before the timed text. "First row is times" is the MB/s of '
    'the first row of the group, divided by the MB/s of the row. "Of MB" is the size of the timed text.'
)
PACKAGES = (
    "chonkie",
    "model2vec",
    "langchain-experimental",
    "langchain-text-splitters",
    "llama-index-core",
    "semchunk",
    "semantic-text-splitter",
    "sentencex",
    "blingfire",
    "nltk",
    "pysbd",
    "tokenizers",
    "nanotoken",
    "tokie",
)


def load(data: Path, megabytes: float) -> tuple[list[str], list[str]]:
    """Return articles of this many MB, and as many others for the warm-up."""
    import pyarrow.parquet as pq

    found: list[list[str]] = [[], []]
    size = 0
    for batch in pq.ParquetFile(data / "wiki" / "articles.parquet").iter_batches(batch_size=64, columns=["text"]):
        for text in batch.column("text").to_pylist():
            found[0].append(text[: int(megabytes * 1e6) - size])
            size += len(found[0][-1].encode())
            if size >= megabytes * 1e6:
                found, size = found[::-1], 0
                if found[0]:
                    return found[0], found[1]
    return found[0], found[1]


def child(group: str, name: str, data: Path) -> None:
    """Run one row in this process: the time of one run, the count that is asserted, and peak memory."""
    megabytes, prepare = ROWS[group][name]
    texts, others = load(data, megabytes)
    size = sum(len(text.encode()) for text in texts)
    try:
        if group not in COLD:
            prepare(others)()
        run = prepare(texts)
    except (ImportError, AttributeError) as error:
        print(json.dumps({"missing": str(error)}))
        return
    begun = time.perf_counter()
    count = run()
    taken = time.perf_counter() - begun
    assert count > size / 20_000, f"{name} returned {count} pieces of {size} bytes"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rate": size / taken / 1e6, "MB": size / 1e6, "count": count, "peak": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds wiki/articles.parquet")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each row, interleaved (default: 3)")
    parser.add_argument("--group", choices=list(ROWS), help="only this group")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    parser.add_argument("--child", nargs=2, metavar=("GROUP", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child, options.data)
        return
    import tempfile

    figures: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as models:
        environment = {**os.environ, "PYCHUNK_BENCH_MODELS": os.environ.get("PYCHUNK_BENCH_MODELS", models)}
        for group, rows in ROWS.items():
            if options.group not in (None, group):
                continue
            found: dict[str, list[dict[str, float]]] = {name: [] for name in rows}
            for _ in range(options.rounds):
                for name in rows:
                    command = [sys.executable, __file__, "--data", str(options.data), "--child", group, name]
                    result = subprocess.run(command, capture_output=True, text=True, env=environment)
                    last = (result.stdout.strip().splitlines() or ["{}"])[-1]
                    found[name].append(
                        json.loads(last) if result.returncode == 0 else {"missing": result.stderr[-200:]}
                    )
            print(f"\n{group:34}{'MB/s':>10}{'pychunk is':>14}{'peak MB':>10}{'of MB':>8}")
            first = None
            for name, runs in found.items():
                if "rate" not in runs[0]:
                    why = str(runs[0].get("missing", "?")).strip().splitlines()[-1][:80]
                    print(f"{name:34}  not run: {why}")
                    continue
                rate = statistics.median(run["rate"] for run in runs)
                first = first or rate
                print(f"{name:34}{rate:>10.2f}{first / rate:>13.1f}x{runs[0]['peak']:>10.0f}{runs[0]['MB']:>8.0f}")
                figures.append(
                    {
                        "group": group,
                        "row": name,
                        "MB/s": rate,
                        "first row is times": first / rate,
                        "peak MB": runs[0]["peak"],
                        "of MB": runs[0]["MB"],
                    }
                )
    if options.save:
        title, encoder = "Speed compared with other packages", record.shipped()
        if options.group:
            title += f", {options.group}"
        record.save(options.save, title, {"rows": figures}, about=ABOUT, packages=PACKAGES, encoder=encoder)


if __name__ == "__main__":
    main()
