"""Ray and Spark on two local workers compared with segment() in one process: MB of text a second, from Parquet.

Each job reads the same files of 250 articles, and leaves its chunks in the framework's own storage (Spark counts and
drops them). Seconds are those of jobs on a small and on a large part, with the framework running (Ray starts its actors
for each job). They are medians of rounds in which all take turns. `MB/s` is the rate of the additional text of the
large part, so that it excludes the start of workers.

    pip install "pychunk-native[ray]" && python bench/scaling/distributed.py articles.parquet ray
    pip install "pychunk-native[spark]" && python bench/scaling/distributed.py articles.parquet spark
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import pychunk

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

Job = Callable[[str], int]


def alone(threads: int) -> Job:
    """Return the job of one process, file by file."""
    seg = pychunk.Segmenter(placement=pychunk.Placement(threads=threads))

    def run(folder: str) -> int:
        files = ds.dataset(folder, format="parquet").to_batches(columns=["id", "text"])
        return sum(len(out) for out in seg.stream(files, columns={"text": "text"}, ids="id"))

    return run


def ray_job(scratch: str) -> Job:
    """Return the job of two actors of one thread each."""
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # only loopback
    import ray

    from pychunk.integrations.ray import segment

    # A third CPU is needed, since actors keep theirs: listing and reading the files would wait forever.
    ray.init(num_cpus=3, include_dashboard=False, _temp_dir=scratch, logging_level=logging.ERROR, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)

    def run(folder: str) -> int:
        articles = ray.data.read_parquet(folder, override_num_blocks=len(os.listdir(folder)))
        return int(segment(articles, columns={"text": "text"}, ids="id", concurrency=2).materialize().count())

    return run


def spark_job(scratch: str) -> Job:
    """Return the job of two tasks of one thread at a time."""
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    from pyspark.sql import SparkSession

    from pychunk.integrations.spark import segment

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", scratch)
        .config("spark.sql.files.maxPartitionBytes", "2m")  # one file for each task, so that both have work
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")

    def run(folder: str) -> int:
        # The result is not cached, since the next round would find the chunks there.
        return int(segment(session.read.parquet(folder), columns={"text": "text"}, ids="id").count())

    return run


def parts(file: str, scratch: str, small: int, large: int) -> dict[str, int]:
    """Return folders of 250 articles a file, each with its MB of text: a warm-up, a small part and a large one."""
    table = pq.read_table(file, columns=["id", "text"])
    if table.num_rows < large:
        raise SystemExit(f"{file} has {table.num_rows} articles, fewer than {large}")
    sizes = {}
    for count in (250, small, large):
        folder = Path(scratch, f"{count}")
        folder.mkdir()
        for first in range(0, count, 250):
            pq.write_table(table.slice(first, 250), folder / f"{first:06}.parquet")
        sizes[str(folder)] = pc.sum(pc.binary_length(table["text"].slice(0, count))).as_py()
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="Parquet with the columns id and text")
    parser.add_argument("framework", choices=["ray", "spark"])
    parser.add_argument("--small", type=int, default=2000, help="articles")
    parser.add_argument("--large", type=int, default=8000, help="articles")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        sizes = parts(options.file, scratch, options.small, options.large)
        made = {"ray": ray_job, "spark": spark_job}[options.framework](str(Path(scratch, "work")))
        jobs = {"segment(), 1 thread": alone(1), "segment(), 2 threads": alone(2), options.framework: made}
        (warm, _), (small, small_bytes), (large, large_bytes) = sizes.items()
        print(f"{'':22}{small_bytes / 1e6:9.1f} MB{large_bytes / 1e6:9.1f} MB{'MB/s':>9}    pyarrow {pa.__version__}")
        counts = {(name, folder): job(folder) for name, job in jobs.items() for folder in (warm, small, large)}
        taken: dict[tuple[str, str], list[float]] = {}
        for _ in range(options.rounds):
            for (name, folder), count in counts.items():
                begun = time.perf_counter()
                if jobs[name](folder) != count:
                    raise SystemExit(f"{name} gave another number of chunks than before")
                taken.setdefault((name, folder), []).append(time.perf_counter() - begun)
        rows = []
        for name in jobs:
            short, long = (statistics.median(taken[name, folder]) for folder in (small, large))
            rate = (large_bytes - small_bytes) / 1e6 / (long - short)
            print(f"{name:22}{short:10.2f} s{long:10.2f} s{rate:9.1f}    {counts[name, large]:,} chunks")
            cells = {"small part, s": short, "large part, s": long, "MB/s": rate, "chunks": counts[name, large]}
            rows.append({"row": name, **cells})
    if options.save:
        title = f"{options.framework.title()} compared with one process"
        about = "MB/s: the rate at which the large part takes longer than the small one."
        figures = {"small part, MB": small_bytes / 1e6, "large part, MB": large_bytes / 1e6, "rows": rows}
        encoder = record.shipped()
        record.save(options.save, title, figures, about=about, packages=["ray", "pyspark"], encoder=encoder)


if __name__ == "__main__":
    main()
