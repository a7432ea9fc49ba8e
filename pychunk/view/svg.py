"""SVG drawings that several pages share. Their colours and fonts come from the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise


def histogram(
    edges: Sequence[float],
    counts: Sequence[float],
    end: float,
    mean: float | None,
    name: str,
    *,
    unit: str = "words",
    limit: float | None = None,
) -> str:
    """Return a histogram of chunk lengths on an axis from 0 to ``end``, with a mark at the mean.

    Chunks longer than ``end`` are not drawn. ``limit``, the greatest length that a chunk may have, is drawn as a dashed
    line if it is at most ``end``.
    """
    width, height, bottom, margin = 240, 96, 22, 8
    widths = [b - a for a, b in pairwise(edges)]
    # A bar's height is the number of chunks divided by the bin's width, so that bins of unequal width are comparable.
    heights = [count / size for count, size in zip(counts, widths, strict=True)]
    tallest = max(heights, default=0) or 1

    def x(value: float) -> float:
        return margin + (width - 2 * margin) * min(value, end) / end

    parts = []
    for start, size, count, tall in zip(edges[:-1], widths, counts, heights, strict=True):
        if start >= end:
            break
        bar = (height - bottom - 6) * tall / tallest
        wide = max(0.5, x(start + size) - x(start) - 0.6)
        title = f"{count:,} chunks of {start:,.0f} to {start + size:,.0f} {unit}"
        parts.append(
            f'<rect class="bar" x="{x(start):.1f}" y="{height - bottom - bar:.1f}" width="{wide:.1f}"'
            f' height="{bar:.1f}"><title>{title}</title></rect>'
        )
    base = height - bottom
    parts.append(f'<line class="axis" x1="{margin}" x2="{width - margin}" y1="{base}" y2="{base}"/>')
    shown = ticks(0, end, 4)
    for tick in (t for t in shown if t <= end):
        anchor = "start" if tick == 0 else "end" if tick > 0.93 * end else "middle"
        parts.append(f'<text x="{x(tick):.1f}" y="{height - 5}" text-anchor="{anchor}">{tick:,.0f}</text>')
    if mean is not None:
        parts.append(f'<line class="zero" x1="{x(mean):.1f}" x2="{x(mean):.1f}" y1="0" y2="{base}"/>')
    if limit is not None and limit <= end:
        at = f'x1="{x(limit):.1f}" x2="{x(limit):.1f}" y1="0" y2="{base}"'
        parts.append(f'<line class="limit-line" {at}><title>limit: {limit:,.0f} {unit}</title></line>')
    return svg(width, height, f"Chunk lengths of {name}, 0 to {end:,.0f} {unit}", parts)


def ticks(low: float, high: float, count: int = 6) -> list[float]:
    """Return about ``count`` round numbers in equal steps.

    The first number is at most ``low``, and the last one is at least ``high``.
    """
    raw = ((high - low) or abs(high) or 1.0) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, max(last, first + 1) + 1)]


def svg(width: int, height: int, label: str, parts: Sequence[str]) -> str:
    """Return a drawing of a width and height, with a label that describes it."""
    drawn = "".join(parts)
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">{drawn}</svg>'
