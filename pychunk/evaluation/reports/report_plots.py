"""The SVG drawings of the evaluation report, with colours and fonts from the page's style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ...view.svg import histogram, svg, ticks

__all__ = ["colour", "histogram", "spread", "ticks", "whisker", "within_words"]

#: The number of colours that the page's style sheet defines, .c0 to .c7. Later rows start again at the first.
COLOURS = 8


def within_words(rows: Sequence[Mapping[str, Any]], banded: Sequence[int] = ()) -> str:
    """Draw the share of questions answered within W words, one numbered line for each row, dashed for other packages.

    Args:
        rows: The rows of the results that have ``within``.
        banded: The positions of rows that are drawn with their 95 % interval.
    """
    width, height, left, right, top, bottom = 520, 380, 54, 28, 12, 46
    words = [w for row in rows for w in row["within"]["words"]]
    shares = [s for row in rows for s in row["within"]["share"]]
    shares += [s for i in banded for edge in ("low", "high") for s in rows[i]["within"][edge]]
    y_ticks = ticks(min(shares), max(shares))
    x_ticks = ticks(0, max(words))
    x_end, low, high = float(max(words)), y_ticks[0], y_ticks[-1]

    def x(value: float) -> float:
        return left + (width - left - right) * value / x_end

    def y(value: float) -> float:
        return height - bottom - (height - top - bottom) * (value - low) / (high - low)

    parts = []
    for tick in y_ticks:
        parts.append(f'<line class="rule" x1="{left}" x2="{width - right}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(f'<text x="{left - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{100 * tick:.3g} %</text>')
    for tick in (t for t in x_ticks if t <= x_end):
        parts.append(f'<text x="{x(tick):.1f}" y="{height - bottom + 18}" text-anchor="middle">{tick:,.0f}</text>')
    parts.append(f'<text x="{(left + width - right) / 2}" y="{height - 6}" text-anchor="middle">words read</text>')
    for i in banded:
        within = rows[i]["within"]
        edge = list(zip(within["words"], within["high"], strict=True))
        edge += reversed(list(zip(within["words"], within["low"], strict=True)))
        points = " ".join(f"{x(w):.1f},{y(s):.1f}" for w, s in edge)
        parts.append(f'<polygon class="band {colour(i)}" points="{points}"/>')
    for i, row in enumerate(rows):
        line = list(zip(row["within"]["words"], row["within"]["share"], strict=True))
        points = " ".join(f"{x(w):.1f},{y(s):.1f}" for w, s in line)
        dashed = " peer" if row.get("peer") else ""
        parts.append(f'<polyline class="line {colour(i)}{dashed}" points="{points}"/>')
        for w, s in line:
            title = f"{escape(str(row['name']))}: {100 * s:.1f} % within {w:,} words"
            at = f'cx="{x(w):.1f}" cy="{y(s):.1f}"'
            parts.append(f'<circle class="dot {colour(i)}" {at} r="2.6"><title>{title}</title></circle>')
    ends = [y(row["within"]["share"][-1]) for row in rows]
    for i, (row, end) in enumerate(zip(rows, spread(ends, 15, top, height - bottom), strict=True)):
        last = x(row["within"]["words"][-1])
        parts.append(
            f'<line class="leader" x1="{last + 3:.1f}" y1="{ends[i]:.1f}" x2="{last + 10:.1f}" y2="{end:.1f}"/>'
        )
        parts.append(f'<text class="number {colour(i)}" x="{last + 12:.1f}" y="{end + 4:.1f}">{i + 1}</text>')
    names = "; ".join(f"{row['name']}: {100 * row['within']['share'][-1]:.1f} %" for row in rows)
    label = f"Share of questions answered within a number of words; at the right end {names}"
    return svg(width, height, label, parts)


def whisker(mean: float, low: float | None, high: float | None, scale: tuple[float, float], zero: bool = False) -> str:
    """Draw a dot with its interval on a line from ``scale[0]`` to ``scale[1]``; ``zero`` marks the position of 0."""
    width, height, edge = 120, 16, 5

    def x(value: float) -> float:
        return edge + (width - 2 * edge) * (value - scale[0]) / ((scale[1] - scale[0]) or 1)

    parts = [f'<line class="rule" x1="{edge}" x2="{width - edge}" y1="8" y2="8"/>']
    if zero:
        parts.append(f'<line class="zero" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="0" y2="{height}"/>')
    label = f"{mean:.3f}"
    if low is not None and high is not None:
        parts.append(f'<line class="whisker" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="8" y2="8"/>')
        label += f", 95 % interval {low:.3f} to {high:.3f}"
    parts.append(f'<circle class="mean" cx="{x(mean):.1f}" cy="8" r="3.6"/>')
    return svg(width, height, label, parts)


def colour(row: int) -> str:
    """Return the style sheet's class for the colour of a row."""
    return f"c{row % COLOURS}"


def spread(at: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions as little as possible to be ``gap`` apart, in the same order, between ``low`` and ``high``."""
    order = sorted(range(len(at)), key=lambda i: at[i])
    gap = min(gap, (high - low) / max(1, len(at) - 1))
    # The gaps before each position are subtracted from it. The results must not decrease, so neighbours that decrease
    # are pooled: they get their mean, which is least squares (isotonic regression).
    pools: list[tuple[float, int]] = []
    for place, i in enumerate(order):
        mean, size = at[i] - place * gap, 1
        while pools and pools[-1][0] > mean:
            before, others = pools.pop()
            mean, size = (mean * size + before * others) / (size + others), size + others
        pools.append((mean, size))
    means = [mean for mean, size in pools for _ in range(size)]
    placed = list(at)
    for place, (i, mean) in enumerate(zip(order, means, strict=True)):
        placed[i] = min(max(mean, low), high - (len(at) - 1) * gap) + place * gap
    return placed
