"""Draw throughput over commits as an HTML page, from the JSON files that pytest-benchmark keeps.

    python bench/regression/throughput_page.py runs/*.json --out throughput.html

A point is a benchmark's rate divided by the rate of the floor of the same run, so that points of a busy and of an idle
machine can be compared. Benchmarks without the extra information "floor s" are left out. Runs are in the order of their
times.
"""

from __future__ import annotations

import argparse
import html
import json
import sys
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, EDGE = 720, 160, 40


def points(runs: list[dict[str, Any]]) -> dict[str, list[tuple[str, float]]]:
    """Return the commits and ratios of each benchmark, in the order of the runs' times."""
    found: dict[str, list[tuple[str, float]]] = {}
    for run in sorted(runs, key=lambda each: each["datetime"]):
        commit = run.get("commit_info", {}).get("id") or "unknown"
        for each in run["benchmarks"]:
            if floor := each["extra_info"].get("floor s"):
                found.setdefault(each["name"], []).append((commit[:12], floor / each["stats"]["median"]))
    return found


def chart(name: str, series: list[tuple[str, float]]) -> str:
    """Return a heading and an SVG chart of one benchmark."""
    top = 1.1 * max(ratio for _, ratio in series)
    step = (WIDTH - 2 * EDGE) / max(len(series) - 1, 1)
    at = [
        (EDGE + step * number, HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * ratio / top)
        for number, (_, ratio) in enumerate(series)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{html.escape(commit)}: {ratio:.4f}</title></circle>'
        f'<text x="{x:.1f}" y="{HEIGHT - EDGE / 2}" text-anchor="middle">{html.escape(commit[:7])}</text>'
        for (x, y), (commit, ratio) in zip(at, series)
    )
    return (
        f'<h2>{html.escape(name)}</h2><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f'<text x="0" y="{EDGE}">{top:.3f}</text>'
        f'<text x="0" y="{HEIGHT - EDGE}">0</text><polyline points="{line}"/>{dots}</svg>'
    )


def page(runs: list[dict[str, Any]]) -> str:
    """Return the page of all benchmarks."""
    charts = "".join(chart(name, series) for name, series in points(runs).items())
    return (
        '<!doctype html><meta charset="utf-8"><title>Throughput by commit</title><style>body{font:14px sans-serif;'
        "max-width:760px;margin:auto}text{font-size:10px}polyline{fill:none;stroke:#36c}circle{fill:#36c}</style>"
        f"<h1>Throughput by commit, divided by the floor's</h1>{charts}\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="FILE", help="JSON of pytest --benchmark-json=FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the HTML page")
    options = parser.parse_args()
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in options.runs]
    if not points(runs):
        print('no benchmark has the extra information "floor s": pass runs of bench/ingestion/test_bench_dump.py')
        return 1
    options.out.write_text(page(runs), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
