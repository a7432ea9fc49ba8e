"""The figures of runs and comparisons, as tables and as JSON."""

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
    """Return the figures of each workload: rate, median milliseconds a call, spread between processes, and other times.

    Args:
        run: The run.
        sizes: The bytes of text in a call, by workload.
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
    """Return half the distance between the quartiles, in per cent of the median; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return 50 * (high - low) / middle


def print_figures(run: Run, found: Mapping[str, Mapping[str, Any]], purposes: Mapping[str, str], out: Console) -> None:
    """Print a table of a run's workloads, then each workload that was left out, with the reason."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("workload", "MB/s", "ms a call", "spread", "description"):
        table.add_column(heading, justify="left" if heading in ("workload", "description") else "right", no_wrap=True)
    for name, each in found.items():
        rate = f"{each['value']:.0f}" if each["unit"] == "MB/s" else ""
        table.add_row(name, rate, f"{each['cpu_ms']:.3g}", f"{each['spread_percent']:.1f} %", purposes[name])
    out.print(table)
    for name, reason in run.missing.items():
        out.print(Text(f"{name} was left out: {reason}", style="yellow"))


def print_comparison(found: Sequence[Verdict], limit: float, out: Console) -> None:
    """Print a table with regressions first, and a summary line."""
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
            out.print(f"{unclear} unclear: over the limit, but within the noise; use more --rounds, or --against")
        out.print(f"none of {compared} is slower by more than {100 * limit:g} %")


def percent(ratio: float) -> str:
    """Format a ratio as per cent: +12.3 % for 1.123."""
    return f"{100 * (ratio - 1):+.1f} %" if math.isfinite(ratio) else "any"


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict with its ratios as plain JSON types."""
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
