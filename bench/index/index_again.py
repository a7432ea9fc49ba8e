"""Repeated runs of `pychunk index` after 1 % of a corpus's documents changed, compared with the first run.

The script times the command itself, including interpreter and imports, on two cores: the first run and the repeated
run, in turn, for several rounds. The columns s and CPU s are medians, and share is the repeated run's part of the
first. A changed document has one more sentence. Before the second run of a round the script copies the index of the
first. In a folder it also writes the changed files. At the end every hit of some queries must equal that of an index
that is built from the changed documents alone.

    python bench/index/index_again.py                    7,950 articles, 124 MB, five rounds
    python bench/index/index_again.py --articles 1000    fewer
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pychunk

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

TITLE = "pychunk index again after 1 % of its documents changed"
ABOUT = (
    "The whole command pychunk index on two cores: a first run, and a run again after 1 % of the documents changed, in "
    'turn for several rounds. Seconds are medians. "Share" is the time of the second run as a share of the first '
    "run's. After the second run, the hits of 200 queries, hybrid, dense and sparse, equal those of an index built "
    "from the changed documents alone."
)
EVERY = 100  # one document of this many changes
K, QUERIES = 10, 200
#: The command reads a file again if the file changed less than two seconds before the command looked at it.
SETTLED = 2.5


def run(*arguments: Any, environment: dict[str, str]) -> dict[str, float]:
    """Return the seconds of the command, and of processors."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "pychunk", "index", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"s": seconds, "CPU s": cpu}


def articles(options: argparse.Namespace) -> tuple[pa.Table, pa.Table]:
    """Return the articles unchanged, and with one of a hundred changed."""
    table = pq.read_table(options.data / "wiki" / "articles.parquet", columns=["id", "title", "text"])
    table = table.slice(0, options.articles)
    texts = [
        f"{text} One more sentence came." if row % EVERY == EVERY // 2 else text
        for row, text in enumerate(table["text"].to_pylist())
    ]
    return table, table.set_column(2, "text", pa.array(texts, table.schema.field("text").type))


class Parquet:
    """Two Parquet files, before and after the change."""

    name = "Parquet"

    def __init__(self, folder: Path, before: pa.Table, after: pa.Table) -> None:
        self._folder, self._options = folder, ["--ids", "id", "--metadata-columns", "title"]
        pq.write_table(before, folder / "before.parquet")
        pq.write_table(after, folder / "after.parquet")

    def before(self) -> list[Any]:
        return [self._folder / "before.parquet", *self._options]

    def after(self) -> list[Any]:
        return [self._folder / "after.parquet", *self._options]


class Folder:
    """A folder with one text file for each document. The files that differ are written again for each run."""

    name = "folder of files"

    def __init__(self, folder: Path, before: pa.Table, after: pa.Table) -> None:
        self._folder = folder / "documents"
        self._folder.mkdir()
        self._texts = [table["text"].to_pylist() for table in (before, after)]
        for row in range(len(before)):
            self._write(row, 0)

    def before(self) -> list[Any]:
        return self._with(0)

    def after(self) -> list[Any]:
        return self._with(1)

    def _with(self, which: int) -> list[Any]:
        for row, (one, other) in enumerate(zip(*self._texts)):
            if one != other:
                self._write(row, which)
        time.sleep(SETTLED)
        return [self._folder]

    def _write(self, row: int, which: int) -> None:
        (self._folder / f"{row}.txt").write_text(self._texts[which][row])


def measured(
    options: argparse.Namespace, folder: Path, source: Parquet | Folder, environment: dict[str, str]
) -> dict[str, Any]:
    """Return the medians of one kind of input."""
    first, again = [], []
    index, copy = folder / "first.idx", folder / "again.idx"
    for _ in range(options.rounds):
        for each in (index, copy):
            shutil.rmtree(each, ignore_errors=True)
        first.append(run(*source.before(), "-o", index, environment=environment))
        shutil.copytree(index, copy)
        changed = source.after()
        again.append(run(*changed, "-o", copy, environment=environment))
    shutil.rmtree(index)
    run(*changed, "-o", index, environment=environment)
    compare(copy, index, [row["text"] for row in pq.read_table(folder / "questions.parquet").to_pylist()])
    found: dict[str, Any] = {"input": source.name}
    for unit in ("s", "CPU s"):
        one, other = (float(np.median([run[unit] for run in runs])) for runs in (first, again))
        found |= {f"first, {unit}": one, f"again, {unit}": other, f"share of {unit}": other / one}
    return found


def compare(one: Path, other: Path, asked: list[str]) -> None:
    """Check that two indexes have the same hits."""
    with pychunk.Index.open(one) as changed, pychunk.Index.open(other) as fresh:
        assert len(changed) == len(fresh), f"{len(changed)} chunks, {len(fresh)} of an index from nothing"
        for mode in ("hybrid", "dense", "sparse"):
            hits = [
                [
                    [(hit.document_id, hit.start, hit.end, hit.text, hit.score) for hit in own]
                    for own in index.search(asked, K, mode)
                ]
                for index in (changed, fresh)
            ]
            assert hits[0] == hits[1], f"{mode} finds other chunks than in an index from nothing"


def questions(table: pa.Table) -> pa.Table:
    """Return sentences of the articles, among them the added ones."""
    texts = [text for text in pychunk.segment(table["text"], "sentence").texts if 40 <= len(text) <= 300]
    chosen = np.random.default_rng(0).choice(len(texts), min(QUERIES, len(texts)), replace=False)
    return pa.table({"text": ["One more sentence came.", *(texts[i] for i in chosen)]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds wiki/articles.parquet")
    parser.add_argument("--articles", type=int, default=7950, help="how many (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--most", type=float, default=0.1, help="share of CPU s that is not too much (%(default)s)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-2:])
    # An installed package is compiled and keeps its compiled files; the benchmark does the same.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        before, after = articles(options)
        pq.write_table(questions(after), folder / "questions.parquet")
        run(folder / "questions.parquet", "-o", folder / "warm.idx", environment=environment)
        for kind in (Parquet, Folder):
            rows.append(measured(options, folder, kind(folder, before, after), environment))
            print(
                {key: round(value, 3) if isinstance(value, float) else value for key, value in rows[-1].items()},
                flush=True,
            )
    figures = {"articles": len(before), "bytes": sum(len(each.encode()) for each in before["text"].to_pylist())}
    if options.save:
        figures |= {"rounds": options.rounds, "rows": rows}
        record.save(options.save, TITLE, figures, about=ABOUT, encoder=record.shipped())
    for row in rows:
        if row["share of CPU s"] > options.most:
            raise SystemExit(f"{row['input']}: again takes {row['share of CPU s']:.1%} of the first time")


if __name__ == "__main__":
    main()
