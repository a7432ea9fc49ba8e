"""Large documents, from file to chunks: seconds, memory, and growth with size; status 1 if a limit is exceeded.

    python bench/scaling/large.py
    python bench/scaling/large.py --rounds 5 --save bench/results/large.json

The documents are a page of HTML of 14 MB, in short blocks and in long ones, and Markdown of 5 MB with 10,000 headings.
Each may take 5 seconds of CPU time and 1 GB. A document of twice the size may take 2.2 times as long. ``structure``
reads and cuts each in a process of its own, on one thread. The last table shows the rate of ``structure`` with blocks
given, next to that of ``recursive`` by tokens.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pychunk
from pychunk.inputs.document_columns import DocumentColumns
from pychunk.io import open_source
from pychunk.parsing.block_columns import blocks_from_arrow

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

#: The seconds and bytes that a document may take, the factor that one of twice the size may take longer, and the least
#: rate of ``structure`` as a share of that of ``recursive``.
SECONDS, MEMORY, TWICE, SHARE = 5.0, 1_000_000_000, 2.2, 0.5
ABOUT = (
    "From the file's name to the table of chunks of method `structure`, on one thread, with models loaded; the best of"
    " the rounds. A second process reads large pages, and CPU seconds and peak memory include it. The limits, and the "
    "ratio of the times for twice the size and the size, are of CPU seconds, because other work on the machine "
    "lengthens the elapsed time. In the second table, MB are those of the text, the blocks are passed to `structure`, "
    "and a rate is the median of rounds in which the two methods take turns."
)
_WORDS = re.findall(
    r"\w+",
    "the river rises in hills above a town and flows past old mills most of which are ruins today while people who "
    "live on its banks say that water was higher once before dams were built upstream by three companies",
)


class Kind(NamedTuple):
    """A kind of document: the ending of its file, and a function that makes one of a given number of bytes."""

    name: str
    ending: str
    size: int
    make: Callable[[int], str]


def sentences(drawn: random.Random, count: int) -> str:
    return " ".join(" ".join(drawn.choices(_WORDS, k=drawn.randint(6, 18))).capitalize() + "." for _ in range(count))


def page(size: int, sentences_each: int) -> str:
    """Return HTML of a one-page manual: a menu, sections of three levels, lists, tables, code, a footer."""
    drawn = random.Random(7)
    prose = [sentences(drawn, sentences_each) for _ in range(200)]
    parts = ["<!doctype html><html><head><title>The river</title></head><body><nav><ul>"]
    parts += [f'<li><a href="#s{i}">Section {i}</a></li>' for i in range(200)]
    parts.append("</ul></nav><main><h1>The river</h1>")
    length, number = sum(map(len, parts)), 0
    while length < size - 100:
        number += 1
        level = 2 if number % 10 == 1 else 3 if number % 3 else 4
        section = [f'<section class="part"><h{level} id="s{number}">Reach {number} of the river</h{level}>']
        for _ in range(3):
            text = drawn.choice(prose)
            section.append(f'<p class="text">{text} See <a href="#s{number // 2}">reach {number // 2}</a>.</p>')
        section.append(
            "<p>What it carries:</p><ul>" + "".join(f"<li>{each} of it</li>" for each in _WORDS[:4]) + "</ul>"
        )
        if number % 4 == 0:
            rows = "".join(f"<tr><td>{i}</td><td>{drawn.random():.3f}</td></tr>" for i in range(5))
            section.append(f"<table><tr><th>day</th><th>level</th></tr>{rows}</table>")
        if number % 5 == 0:
            section.append(f"<pre><code>level({number})\nflow({number})</code></pre>")
        section.append("</section>")
        parts.append("".join(section))
        length += len(parts[-1])
    return "".join([*parts, "</main><footer><p>Copyright The river</p></footer></body></html>"])


def guide(size: int) -> str:
    """Return Markdown with a heading for every 500 bytes, like a reference manual."""
    drawn = random.Random(8)
    prose = [sentences(drawn, 2) for _ in range(200)]
    parts = []
    for number in range(size // 500):
        level = 1 if number % 100 == 0 else 2 if number % 10 == 0 else 3
        part = f"{'#' * level} Function {number}\n\n{drawn.choice(prose)}\n\n"
        part += f"It takes:\n\n- a number, {number}\n- a name\n\n"
        table, code = f"| a | b |\n|---|---|\n| {number} | 2 |\n\n", f"```python\nfunction_{number}(1)\n```\n\n"
        part += code if number % 3 else table
        room = 500 - len(part) - 2
        parts.append(part + (drawn.choice(prose) * 3)[:room].strip().ljust(room, ".") + "\n\n")
    return "".join(parts)


KINDS = [
    Kind("HTML, short blocks", "html", 14_000_000, lambda size: page(size, 1)),
    Kind("HTML, long blocks", "html", 14_000_000, lambda size: page(size, 80)),
    Kind("Markdown, a heading every 500 bytes", "md", 5_000_000, guide),
]


def peak() -> int:
    """Return this process's peak memory in bytes; ru_maxrss begins at the peak of the parent process."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def spent() -> float:
    """Return the CPU seconds of this process and of its children that ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def one(path: Path) -> dict[str, float]:
    """Return the cost in this process to read a document and cut it."""
    segmenter = pychunk.Segmenter(placement=pychunk.Placement(threads=1))
    small = path.with_name(f"small{path.suffix}")
    for batch in open_source(small):  # models are loaded here
        segmenter(batch.documents())
    clock, cpu = time.perf_counter(), spent()
    (batch,) = open_source(path)
    chunks = segmenter(batch.documents())
    seconds, cpu = time.perf_counter() - clock, spent() - cpu
    assert chunks.metadata["method"] == "structure"
    headings = sum(each["kind"] == "heading" for each in batch.table["blocks"][0].as_py())
    reader = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {"seconds": seconds, "CPU": cpu, "peak": peak() + reader, "chunks": len(chunks), "headings": headings}


def apart(path: Path) -> dict[str, float]:
    """Return the same from a process of its own."""
    command = [sys.executable, __file__, "--one", str(path)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def documents(folder: Path, rounds: int) -> list[dict[str, Any]]:
    """Return one row for each kind, at its size and at twice that, in turns."""
    rows = []
    for kind in KINDS:
        paths = []
        for size in (kind.size // 1000, kind.size, 2 * kind.size):
            paths.append(folder / f"{'small' if size < kind.size else size}.{kind.ending}")
            paths[-1].write_text(kind.make(size), encoding="utf-8")
        single, twice = paths[1:]
        found: dict[Path, list[dict[str, float]]] = {single: [], twice: []}
        for turn in range(3 * rounds):  # additional rounds only if other work on the machine seems to be the cause
            for path in found:
                found[path].append(apart(path))
            best = {path: {name: min(run[name] for run in runs) for name in runs[0]} for path, runs in found.items()}
            ratio = best[twice]["CPU"] / best[single]["CPU"]
            if turn + 1 >= rounds and ratio <= TWICE and best[single]["CPU"] <= SECONDS:
                break
        own = best[single]
        rows.append(
            {
                "document": kind.name,
                "bytes": single.stat().st_size,
                "headings": own["headings"],
                "chunks": own["chunks"],
                "seconds": round(own["seconds"], 3),
                "peak MB": round(max(run["peak"] for run in found[single]) / 1e6),
                "CPU seconds": round(own["CPU"], 3),
                "of twice the size": round(best[twice]["CPU"], 3),
                "ratio": round(ratio, 3),
                "peak MB of twice the size": round(max(run["peak"] for run in found[twice]) / 1e6),
            }
        )
        print(", ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    return rows


def rates(folder: Path, rounds: int) -> list[dict[str, Any]]:
    """Return the MB/s of ``structure`` with blocks given and of ``recursive`` by tokens, on the same texts."""
    rows = []
    for kind in KINDS[1:]:
        (batch,) = open_source(folder / f"{kind.size}.{kind.ending}")
        text, blocks = batch.table["text"][0].as_py(), blocks_from_arrow(batch.table["blocks"])
        size = len(text.encode()) / 1e6
        ways: dict[str, tuple[pychunk.Segmenter, DocumentColumns]] = {
            "structure": (pychunk.Segmenter("structure", placement=pychunk.Placement(threads=1)), {"blocks": blocks}),
            "recursive": (pychunk.Segmenter("recursive", placement=pychunk.Placement(threads=1)), {}),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(max(3, rounds) + 1):
            for name, (segmenter, columns) in ways.items():
                begun = time.process_time()
                segmenter([text], columns=columns)
                if turn:
                    seconds[name].append(time.process_time() - begun)
        structure, recursive = (size / median(found) for found in seconds.values())
        rows.append(
            {
                "text of": kind.name,
                "MB": round(size, 1),
                "structure, MB/s": round(structure, 1),
                "recursive by tokens, MB/s": round(recursive, 1),
                "share": round(structure / recursive, 3),
            }
        )
        print(", ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    return rows


def passed(rows: list[dict[str, Any]], shares: list[dict[str, Any]], slack: float = 1) -> list[str]:
    """Return the exceeded limits in words; time may exceed its limits by this factor."""
    found = []
    for row in rows:
        limits = (("CPU seconds", slack * SECONDS), ("peak MB", MEMORY / 1e6), ("ratio", slack * TWICE))
        for name, limit in limits:
            if row[name] > limit:
                found.append(f"{row['document']}: {name} {row[name]}, above {limit:g}")
    least = SHARE / slack
    return found + [
        f"{row['text of']}: share {row['share']}, below {least:g}" for row in shares if row["share"] < least
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save", type=Path, help="a JSON file for the figures")
    parser.add_argument(
        "--slack",
        type=float,
        default=1,
        metavar="TIMES",
        help="by how many times limits of time may be passed, where others are on the machine (default: 1). What grows "
        "with the square of the size passes that of proportion by 1.8",
    )
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one(arguments.one)))
        return
    with tempfile.TemporaryDirectory() as name:
        rows = documents(Path(name), arguments.rounds)
        shares = rates(Path(name), arguments.rounds)
    if arguments.save:
        figures = {
            "rounds": arguments.rounds,
            "limits": f"{SECONDS:g} s, {MEMORY / 1e6:,.0f} MB, {TWICE} times as long, share {SHARE}",
            "rows": rows,
            "structure beside recursive": shares,
        }
        record.save(
            arguments.save,
            "Large documents",
            figures,
            about=ABOUT,
            packages=["selectolax"],
            encoder=record.shipped(),
        )
    if over := passed(rows, shares, arguments.slack):
        print("\n".join(over))
        sys.exit(1)


if __name__ == "__main__":
    main()
