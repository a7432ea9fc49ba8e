"""Draw docs/throughput.svg, the picture of the README, from bench/results/peers.json.

python bench/peers/picture.py
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
FIGURES, PICTURE = ROOT / "bench" / "results" / "peers.json", ROOT / "docs" / "throughput.svg"
#: Rows of the group "by meaning", with their labels.
ROWS = {
    "pychunk pic, 2 threads": "pychunk pic",
    "pychunk default (topic), 2 threads": "pychunk default (topic)",
    "chonkie semantic, model2vec": "chonkie semantic, model2vec",
    "LlamaIndex semantic, MiniLM": "LlamaIndex semantic, MiniLM",
    "LangChain semantic, MiniLM": "LangChain semantic, MiniLM",
}
#: Pixels: the picture's width, the labels' width, the height of a bar with its gap, and the head above the bars.
WIDTH, LABELS, STEP, TOP = 760, 220, 34, 54
#: MB/s at both ends of the logarithmic scale.
LEAST, MOST = 0.001, 1000.0
STYLE = """
text { font: 14px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 } .note, .tick { font-size: 12px; fill: #57606a }
line { stroke: #d0d7de } rect { fill: #8c959f } .own { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .note, .tick { fill: #9198a1 } line { stroke: #3d444d } rect { fill: #656c76 }
  .own { fill: #4493f8 }
}
"""


def place(rate: float) -> float:
    """Return the horizontal place of a rate in MB/s, in pixels."""
    share = (math.log10(rate) - math.log10(LEAST)) / (math.log10(MOST) - math.log10(LEAST))
    return LABELS + share * (WIDTH - LABELS - 90)


def picture(figures: dict[str, object]) -> str:
    """Return the picture of a result file of ``bench/peers/throughput.py`` as SVG."""
    listed = figures["rows"]
    assert isinstance(listed, list)
    rates = {row["row"]: row["MB/s"] for row in listed if row["group"] == "by meaning"}
    height = TOP + STEP * len(ROWS) + 46
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-labelledby="t"><title id="t">Text segmented by meaning, MB/s</title>',
        f"<style>{STYLE}</style>",
        '<text class="title" x="0" y="20">Wikipedia text segmented by meaning, MB/s on two cores</text>',
        '<text class="note" x="0" y="40">Logarithmic scale: each line is ten times the one before.</text>',
    ]
    bottom = TOP + STEP * len(ROWS)
    for power in range(round(math.log10(LEAST)), round(math.log10(MOST)) + 1):
        x = place(10.0**power)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{bottom}"/>')
        parts.append(f'<text class="tick" text-anchor="middle" x="{x:.1f}" y="{bottom + 16}">{10.0**power:g}</text>')
    for i, (row, label) in enumerate(ROWS.items()):
        y, x = TOP + STEP * i, place(rates[row])
        own = ' class="own"' if label.startswith("pychunk") else ""
        parts.append(f'<text x="0" y="{y + 17}">{escape(label)}</text>')
        parts.append(f'<rect{own} x="{LABELS}" y="{y + 2}" width="{x - LABELS:.1f}" height="{STEP - 12}" rx="2"/>')
        shown = f"{rates[row]:.0f}" if rates[row] >= 10 else f"{rates[row]:.2g}"
        parts.append(f'<text x="{x + 6:.1f}" y="{y + 17}">{shown}</text>')
    note = f"{figures['machine']}; medians of interleaved runs; {figures['day']}"
    parts.append(f'<text class="note" x="0" y="{height - 6}">{escape(note)}</text></svg>')
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(json.loads(FIGURES.read_text(encoding="utf-8"))), encoding="utf-8")
