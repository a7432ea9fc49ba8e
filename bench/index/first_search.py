"""The first searches of an opened index, compared with later ones, and `pychunk search` from the shell to its hits.

The script builds an index of articles, or opens the one that --index names. It then opens the index again and again in
one process, and times `Index.open` and the first, the second and later searches with other queries. The first round
also pays for the process: lazy imports, the encoder and its tokenizer. It is a row of its own, and the row "index" has
the medians of the other rounds. All files are in the page cache.

The command is timed as a whole, with the interpreter and imports, in turn with a process that only imports NumPy and
pyarrow.

    python bench/index/first_search.py                            7,950 articles, 970,000 sentences, one thread
    python bench/index/first_search.py --articles 1000 --threads 2
    python bench/index/first_search.py --index own.idx --mode dense
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

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.index import index_build

TITLE = "The first searches of an opened index"
ABOUT = (
    "Milliseconds of processor time in one process, and of the wall clock in brackets, for `Index.open` and the "
    "searches after it. The first round pays for lazy imports and the encoder, too; the row of the index has medians "
    "of the other rounds."
)
STEPS = ("open", "first", "second", "later")
LATER = 5  # the number of later searches of a round


def times(action: Any) -> tuple[float, float]:
    """Return the milliseconds of processor time and of the wall clock that a call takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)


def round_of(options: argparse.Namespace, queries: Iterator[str]) -> np.ndarray:
    """Return the times of one open and the searches after it, float64[len(STEPS), 2]."""
    opened: list[Any] = []

    def open_() -> None:
        from pychunk import Placement
        from pychunk.index.index import Index

        verify = {"true": True, "false": False}.get(options.verify, options.verify)
        opened.append(Index.open(options.index, verify=verify, placement=Placement(threads=options.threads)))

    found = [times(open_)]
    found += [times(lambda: opened[0].search(next(queries), 10, options.mode)) for _ in range(2 + LATER)]
    return np.array([*found[:3], np.median(found[3:], axis=0)])


def commands(options: argparse.Namespace, query: str) -> dict[str, list[float]]:
    """Return the seconds of the command, and of a process that only imports NumPy and pyarrow, as [CPU, wall]."""
    lines = {
        "NumPy and pyarrow": ["-c", "import numpy, pyarrow"],
        "pychunk search": ["-m", "pychunk", "search", str(options.index), query],
    }
    # An installed package is compiled and keeps its compiled files; the benchmark does the same.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        environment["PYTHONPYCACHEPREFIX"] = folder
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in lines}
        for _ in range(options.rounds + 1):
            for name, line in lines.items():
                before, begun = os.times(), time.perf_counter()
                subprocess.run([sys.executable, *line], check=True, stdout=subprocess.DEVNULL, env=environment)
                after = os.times()
                cpu = after.children_user + after.children_system - before.children_user - before.children_system
                taken[name].append((cpu, time.perf_counter() - begun))
    return {name: np.median(own[1:], axis=0).tolist() for name, own in taken.items()}


def build(options: argparse.Namespace, folder: Path) -> None:
    from pychunk.index.index import Index

    with Index.create(folder) as index:
        for table in index_build.cut(options):
            index.add(table)


def measured(options: argparse.Namespace) -> dict[str, Any]:
    queries = iter(index_build.queries(options) * (1 + options.rounds))
    print(f"{'ms of CPU (wall)':20}" + "".join(f"{step:>18}" for step in STEPS), flush=True)
    rows = []
    rounds = [round_of(options, queries) for _ in range(1 + options.rounds)]
    for name, found in (("process and index", rounds[0]), ("index", np.median(rounds[1:], axis=0))):
        print(f"{name:20}" + "".join(f"{cpu:10.1f} ({wall:5.0f})" for cpu, wall in found), flush=True)
        rows.append({"row": name, **{step: cpu for step, (cpu, _) in zip(STEPS, found)}})
    for name, (cpu, wall) in commands(options, next(queries)).items():
        print(f"{name:20}{cpu:10.3f} s of CPU, {wall:.3f} s", flush=True)
        rows.append({"row": name, "CPU s": cpu, "s": wall})
    return {"threads": options.threads, "mode": options.mode, "verify": options.verify, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds wiki/articles.parquet")
    parser.add_argument("--articles", type=int, default=8000, help="articles in the index, and 50 more (%(default)s)")
    parser.add_argument("--index", type=Path, help="open this index instead of building one")
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="of building and searching (%(default)s)")
    parser.add_argument("--mode", default="hybrid", help="default: %(default)s")
    parser.add_argument("--verify", default="headers", choices=["true", "headers", "false"], help="of Index.open")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    options.times = 1
    with tempfile.TemporaryDirectory() as name:
        if options.index is None:
            options.index = Path(name) / "index"
            build(options, options.index)
        figures = measured(options)
    if options.save:
        record.save(options.save, TITLE, figures, about=ABOUT, encoder=record.shipped())


if __name__ == "__main__":
    main()
