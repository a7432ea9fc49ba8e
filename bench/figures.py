"""A check that documented commands print the figures that the pages state.

    python bench/figures.py            runs those that the commit's hash chooses, of 45 seconds
    python bench/figures.py --all      runs every one
    python bench/figures.py --list     lists all, and marks those that are chosen
    python bench/figures.py --mend     runs every one, and writes the printed figures to the pages

The status is 1 if a figure differs. There is no tolerance: searches and cuts are the same bits on every processor, and
the pages round what is printed. The script looks for data in the folder that PYCHUNK_DATA names, and skips lines whose
data is missing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
#: The seconds that the chosen lines may take, as measured on two cores. A busy machine takes three times as long.
BUDGET = 45.0
#: A field of a template, and the text that a page has in its place.
FIELD = re.compile(r"\{([^{}]*?):([^{}:]*)\}")
FIGURE = r"[-+]?\d*\.?\d+"
SQUAD = "pychunk eval squad/dev-v2.0.json -m recursive:size=110"


class Line(NamedTuple):
    """A documented command, and the places of its figures on the pages.

    Attributes:
        command: The arguments of ``pychunk eval``.
        data: The files that the command reads, in the folder of data.
        seconds: The time on two cores.
        places: Pairs of a page and its text, with a field ``{row|measure:format}`` for each figure. ``row|measure|low``
            and ``high`` are ends of intervals. ``row|measure|difference`` is the difference from the first row. Any
            white space matches any other.
        file: A file in bench/results; its rows must be what the command prints.
    """

    command: str
    data: str
    seconds: float
    places: Sequence[tuple[str, str]]
    file: str = ""


LINES: list[Line] = []


class Problem(NamedTuple):
    """A figure that differs from what its command prints."""

    page: str
    printed: str
    stands: str

    def __str__(self) -> str:
        return f"{self.page}\n  its command prints: {self.printed}\n  it says:            {self.stands}"


def chosen(lines: Sequence[Line], commit: str, budget: float = BUDGET) -> list[Line]:
    """Return as many lines as fit, in the order that a commit's hash gives; the same commit gives the same lines."""
    found, left = [], budget
    for line in sorted(lines, key=lambda each: hashlib.sha256(f"{commit} {each.command}".encode()).digest()):
        if line.seconds <= left:
            found.append(line)
            left -= line.seconds
    return found


def run(line: Line) -> dict[str, Any]:
    """Return what the command finds. Raise ValueError with the command's message if it fails."""
    with tempfile.TemporaryDirectory() as folder:  # not in the checkout, whose pychunk/ may not be compiled
        out = Path(folder) / "found.json"
        words = [sys.executable, "-m", *shlex.split(line.command), "--json", str(out)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(f"{line.command} ended with status {done.returncode}: {done.stderr[-1000:]}")
        return dict(json.loads(out.read_text(encoding="utf-8")))


def value(results: Mapping[str, Any], name: str) -> float:
    """Return the figure of a field: a measure or cost of a row, which may be named without its method."""
    row_name, measure, *part = name.split("|")
    rows = [row for row in results["rows"] if row_name in (row["name"], row["name"].partition(", ")[2])]
    if len(rows) != 1:
        raise ValueError(
            f"no row, or several, of the name {row_name!r}; got {[row['name'] for row in results['rows']]}"
        )
    if measure in rows[0]["cost"]:
        return float(rows[0]["cost"][measure])
    found = rows[0]["measures"][measure]
    if part and part[0].startswith("difference"):
        one = [each for each in results["differences"] if (each["row"], each["measure"]) == (rows[0]["name"], measure)]
        found, part = one[0], part[0].split(" ")[1:]
    return float(found[part[0] if part else "mean"])


def problems(line: Line, results: Mapping[str, Any], root: Path = ROOT) -> list[Problem]:
    """Return the figures of the pages, and of the file, that differ from the results."""
    found = []
    for page, template in line.places:
        text = " ".join((root / page).read_text(encoding="utf-8").split())
        filled = FIELD.sub(lambda field: f"{value(results, field[1]):{field[2]}}", " ".join(template.split()))
        if filled not in text:
            stands = re.search(pattern(template), text)
            found.append(Problem(page, filled, stands[0] if stands else "nothing like it: mend bench/figures.py"))
    if line.file:
        found += _of_file(line, results, root)
    return found


def pattern(template: str) -> str:
    """Return a pattern that matches a template with any figures, each in a group, and any white space."""
    pieces = FIELD.split(" ".join(template.split()))
    return f"({FIGURE})".join(r"\s+".join(map(re.escape, piece.split(" "))) for piece in pieces[::3])


def mend(line: Line, results: Mapping[str, Any], root: Path = ROOT) -> None:
    """Write what the command printed to the pages. The file in bench/results has a command of its own."""
    for page, template in line.places:
        text = (root / page).read_text(encoding="utf-8")
        stands = re.search(pattern(template), text)
        if stands is None:
            raise ValueError(f"{page} has nothing like {template!r}: mend bench/figures.py")
        fields = FIELD.findall(template)
        for number in range(len(fields), 0, -1):
            begin, end = stands.span(number)
            text = text[:begin] + format(value(results, fields[number - 1][0]), fields[number - 1][1]) + text[end:]
        (root / page).write_text(text, encoding="utf-8")


def _of_file(line: Line, results: Mapping[str, Any], root: Path) -> Iterable[Problem]:
    stored = json.loads((root / "bench" / "results" / line.file).read_text(encoding="utf-8"))
    by_name = {row["row"]: row["measures"] for row in stored["rows"]}
    for row in results["rows"]:
        for measure, interval in row["measures"].items():
            own = by_name.get(row["name"], {}).get(measure)
            shown = [f"{each['mean']:.3f}" if each else "nothing" for each in (interval, own)]
            if shown[0] != shown[1]:
                yield Problem(f"bench/results/{line.file}, {row['name']}, {measure}", *shown)


def missing(line: Line) -> str:
    """Return why a line cannot run here, or an empty string if it can."""
    folder = Path(os.environ.get("PYCHUNK_DATA") or ROOT.parent / "shared" / "data")
    return "" if (folder / line.data).exists() else f"no {line.data} in the folder PYCHUNK_DATA names"


def commit() -> str:
    """Return the checkout's commit, or an empty string for an export, which has no history."""
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every line")
    parser.add_argument("--mend", action="store_true", help="every line; write what is printed into the pages")
    parser.add_argument("--list", action="store_true", help="run none")
    parser.add_argument("--match", metavar="TEXT", help="only lines whose command holds it")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the pages; default: the checkout's")
    options = parser.parse_args(arguments)
    lines = [line for line in LINES if not options.match or options.match in line.command]
    wanted = lines if options.all or options.match or options.mend else chosen(lines, commit())
    if options.list:
        print("\n".join(f"{'*' if line in wanted else ' '} {line.seconds:4.0f} s  {line.command}" for line in lines))
        return 0
    os.environ.setdefault("PYCHUNK_DATA", str(ROOT.parent / "shared" / "data"))
    wrong = 0
    for line in wanted:
        if why := missing(line):
            print(f"skipped, {why}: {line.command}")
            continue
        results = run(line)
        if options.mend:
            mend(line, results, options.root)
        found = problems(line, results, options.root)
        wrong += len(found)
        print(f"{'WRONG' if found else 'ok'}: {line.command}", *found, sep="\n", flush=True)
    return int(wrong > 0)


LINES += [
    Line(
        f"{SQUAD} --encoder static --mode hybrid --mode dense --mode sparse --mode recipe",
        "squad/dev-v2.0.json",
        22,
        [
            (
                "docs/retrieval.md",
                '| best sentence and BM25 (`mode="hybrid"`) | '
                "{hybrid|strict hits@1:.3f} / {hybrid|strict hits@5:.3f} |",
            ),
            (
                "docs/retrieval.md",
                '| best sentence (`"dense"`) | {dense|strict hits@1:.3f} / {dense|strict hits@5:.3f} |',
            ),
            ("docs/retrieval.md", '| BM25 (`"sparse"`) | {sparse|strict hits@1:.3f} / {sparse|strict hits@5:.3f} |'),
            (
                "docs/retrieval.md",
                "| one vector for each chunk, the chunk's text encoded again (the usual recipe) | "
                "{recipe|strict hits@1:.3f} / {recipe|strict hits@5:.3f} |",
            ),
            (
                "docs/retrieval.md",
                "`recursive` chunks of at most 110 words ({hybrid|words a chunk:.0f} on average, "
                "{hybrid|words in top 5:.0f} in the top five)",
            ),
        ],
        "eval_squad_static.json",
    ),
    Line(
        "pychunk eval chunking_evaluation/ -m recursive:size=110 -m pic:max_tokens=150 --mode hybrid --mode recipe",
        "chunking_evaluation",
        4,
        [
            (
                "docs/evaluation.md",
                "hold {recursive:size=110, hybrid|recall@5:.3f} ({recursive:size=110, hybrid|recall@5|low:.3f} to "
                "{recursive:size=110, hybrid|recall@5|high:.3f}) with `recursive` on the static encoder",
            ),
            (
                "docs/evaluation.md",
                "and `pic`'s {pic:max_tokens=150, hybrid|IoU@5:.3f} with "
                "{pic:max_tokens=150, hybrid|words a chunk:.0f} words a chunk",
            ),
            ("docs/evaluation.md", "IoU at 5 is {recursive:size=110, hybrid|IoU@5:.3f}"),
        ],
        "eval_chunking.json",
    ),
    Line(
        f"{SQUAD} --mode hybrid --document-weight 0 --document-weight 1",
        "squad/dev-v2.0.json",
        15,
        [
            (
                "docs/pages.md",
                "Hits@20 goes from {hybrid|strict hits@20:.3f} to {hybrid, document_weight=1|strict hits@20:.3f}",
            ),
            (
                "docs/retrieval.md",
                "on SQuAD v2 dev strict Hits@1 goes from {hybrid|strict hits@1:.3f} to "
                "{hybrid, document_weight=1|strict hits@1:.3f}",
            ),
        ],
    ),
    Line(
        f"{SQUAD} --mode hybrid --rerank none --rerank features",
        "squad/dev-v2.0.json",
        40,
        [
            (
                "docs/retrieval.md",
                "On SQuAD v2 dev strict Hits@1 goes from {hybrid|strict hits@1:.3f} to "
                "{hybrid, rerank=features|strict hits@1:.3f}, "
                "{hybrid, rerank=features|strict hits@1|difference mean:+.3f} "
                "({hybrid, rerank=features|strict hits@1|difference low:.3f} to "
                "{hybrid, rerank=features|strict hits@1|difference high:.3f})",
            ),
        ],
    ),
    Line(
        "pychunk eval chunking_evaluation/ -m recursive:size=110 --mode hybrid --rerank none --rerank features",
        "chunking_evaluation",
        4,
        [
            (
                "docs/retrieval.md",
                "Recall@5 of the chunking-evaluation questions by "
                "{hybrid, rerank=features|recall@5|difference mean:+.3f} "
                "({hybrid, rerank=features|recall@5|difference low:.3f} to "
                "{hybrid, rerank=features|recall@5|difference high:.3f})",
            ),
        ],
    ),
    Line(
        f"{SQUAD} --mode hybrid --mode sparse --rewrite none --rewrite feedback",
        "squad/dev-v2.0.json",
        30,
        [
            (
                "docs/retrieval.md",
                "on SQuAD v2 dev strict Hits@1 falls from {hybrid|strict hits@1:.3f} to "
                "{hybrid, rewrite=feedback|strict hits@1:.3f} (hybrid) and stays at {sparse|strict hits@1:.2f} by "
                "words alone",
            ),
        ],
    ),
    Line(
        "pychunk eval unlp2026 -m page --mode sparse --augment none --augment head --document-weight 0 "
        "--document-weight 1",
        "unlp2026/questions.csv",
        4,
        [
            (
                "docs/pages.md",
                "| BM25 | {sparse|accuracy doc:.3f} | {sparse|accuracy page:.3f} | {sparse|page recall@1:.3f} | "
                "{sparse|page recall@5:.3f} | {sparse|page recall@20:.3f} |",
            ),
            (
                "docs/pages.md",
                '(`augment="head"`) | {sparse, augment=head|accuracy doc:.3f} | '
                "{sparse, augment=head|accuracy page:.3f} | "
                "{sparse, augment=head|page recall@1:.3f} | {sparse, augment=head|page recall@5:.3f} | "
                "{sparse, augment=head|page recall@20:.3f} |",
            ),
            (
                "docs/pages.md",
                "(`document_weight=1`) | {sparse, augment=head, document_weight=1|accuracy doc:.3f} | "
                "{sparse, augment=head, document_weight=1|accuracy page:.3f} | "
                "{sparse, augment=head, document_weight=1|page recall@1:.3f} | "
                "{sparse, augment=head, document_weight=1|page recall@5:.3f} | "
                "{sparse, augment=head, document_weight=1|page recall@20:.3f} |",
            ),
            (
                "docs/retrieval.md",
                "first for {sparse, document_weight=1|accuracy doc:.3f} of the questions in place of "
                "{sparse|accuracy doc:.3f}, the right page for "
                "{sparse, document_weight=1|page recall@1:.3f} in place of {sparse|page recall@1:.3f}",
            ),
        ],
    ),
    Line(
        f"{SQUAD} -m fixed:size=110 --mode hybrid",
        "squad/dev-v2.0.json",
        10,
        [
            (
                "docs/retrieval.md",
                "`recursive` over `fixed` ({recursive:size=110, hybrid|strict hits@1:.3f} against "
                "{fixed:size=110, hybrid|strict hits@1:.3f} Hits@1)",
            ),
        ],
    ),
    Line(
        f"{SQUAD} --mode hybrid --weight 1",
        "squad/dev-v2.0.json",
        6,
        [("docs/retrieval.md", "weight 1.5 (1.0: {hybrid|strict hits@1:.3f};")],
    ),
    Line(
        f"{SQUAD} --mode hybrid --weight 2",
        "squad/dev-v2.0.json",
        6,
        [("docs/retrieval.md", "; 2.0: {hybrid|strict hits@1:.3f})")],
    ),
    Line(
        f"{SQUAD} --mode hybrid --stemmer none",
        "squad/dev-v2.0.json",
        6,
        [("docs/retrieval.md", "an English stemmer (without: {hybrid|strict hits@1:.3f})")],
    ),
]

if __name__ == "__main__":
    sys.exit(main())
