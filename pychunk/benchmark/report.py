"""Runs and comparisons as tables and as JSON."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .compare import Verdict
from .estimates import Ratio
from .measure import Run

_COLOURS = {"regressed": "bold red", "improved": "green", "unclear": "yellow"}


def figures(run: Run, sizes: Mapping[str, int], units: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """For each workload: rate, median milliseconds a call, spread between processes in percent, and all timings.

    Args:
        sizes: bytes of text of a call, by workload.
        units: ``MB/s`` or ``ms``, by workload.
    """
    found = {}
    for name, timings in run.figures.items():
        median = statistics.median(timings.cpu)
        shown = sizes[name] / 1e6 / median if units[name] == "MB/s" else 1e3 * median
        found[name] = {
            "value": shown,
            "unit": units[name],
            "cpu_ms": 1e3 * median,
            "wall_ms": 1e3 * statistics.median(timings.wall),
            "cost": statistics.median(timings.costs),
            "spread_percent": spread(timings.costs),
            "waiting": statistics.median(timings.waiting),
            "rounds": len(timings.cpu),
        }
    return found


def spread(values: Sequence[float]) -> float:
    """Half of the distance between the quartiles, in percent of the median; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return 50 * (high - low) / middle


def print_figures(run: Run, found: Mapping[str, Mapping[str, Any]], purposes: Mapping[str, str], out: Console) -> None:
    """A table of a run, and what was left out."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("workload", "MB/s", "ms a call", "spread", "what"):
        table.add_column(heading, justify="left" if heading in ("workload", "what") else "right", no_wrap=True)
    for name, each in found.items():
        rate = f"{each['value']:.0f}" if each["unit"] == "MB/s" else ""
        table.add_row(name, rate, f"{each['cpu_ms']:.3g}", f"{each['spread_percent']:.1f} %", purposes[name])
    out.print(table)
    for name, reason in run.missing.items():
        out.print(Text(f"{name} was left out: {reason}", style="yellow"))


def print_comparison(found: Sequence[Verdict], limit: float, out: Console) -> None:
    """A table, regressions first, and a line that sums up."""
    order = ["regressed", "unclear", "improved", "unchanged", "redefined", "missing", "new"]
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("workload", "status", "time", "95 % interval", "first measured"):
        table.add_column(heading, justify="left" if heading in ("workload", "status") else "right", no_wrap=True)
    table.add_column("", overflow="fold")
    for each in sorted(found, key=lambda verdict: order.index(verdict.status)):
        interval = f"{percent(each.ratio.low)} to {percent(each.ratio.high)}" if each.ratio else ""
        table.add_row(
            each.name,
            Text(each.status, style=_COLOURS.get(each.status, "")),
            percent(each.ratio.value) if each.ratio else "",
            interval,
            percent(each.first.value) if each.first else "",
            Text(each.note, overflow="fold"),
        )
    out.print(table)
    worse = [each.name for each in found if each.status == "regressed"]
    compared = sum(each.ratio is not None for each in found)
    if worse:
        out.print(Text(f"{len(worse)} of {compared} slower by more than {100 * limit:g} %: {', '.join(worse)}", "red"))
    else:
        unclear = sum(each.status == "unclear" for each in found)
        if unclear:
            out.print(f"{unclear} unclear: over the limit, but within the noise; more --rounds, or --against, can tell")
        out.print(f"none of {compared} is slower by more than {100 * limit:g} %")


def percent(ratio: float) -> str:
    """+12.3 % for 1.123."""
    return f"{100 * (ratio - 1):+.1f} %" if math.isfinite(ratio) else "any"


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict with its ratios, plain."""
    return {
        "name": verdict.name,
        "status": verdict.status,
        "ratio": _ratio_json(verdict.ratio),
        "first": _ratio_json(verdict.first),
        "note": verdict.note,
    }


def _ratio_json(ratio: Ratio | None) -> dict[str, float | None] | None:
    if ratio is None:
        return None
    return {name: value if math.isfinite(value) else None for name, value in vars(ratio).items()}
