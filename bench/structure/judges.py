"""An LLM's judgement of chunks of web pages, compared with counts: noise, completeness, context switches.

The 120 pages of the article extraction benchmark, whose text people marked, are cut by ``structure``, which leaves
noise out, and by ``recursive``, which does not. The script needs an endpoint, and first prints the expected calls and
tokens:

    PYCHUNK_LLM_URL=http://127.0.0.1:8099/v1 PYCHUNK_LLM_MODEL=test python bench/structure/judges.py --dry-run
    PYCHUNK_LLM_URL=... PYCHUNK_LLM_MODEL=... PYCHUNK_LLM_KEY=... python bench/structure/judges.py --chunks 1000
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import pychunk
from pychunk._engine.data.blocks import HEADING
from pychunk.encoders import registry
from pychunk.evaluation import systems
from pychunk.evaluation.judges.chunk_judge import judge
from pychunk.evaluation.measures import chunk_starts, intervals, plain_text_blocks, quality_counts
from pychunk.inputs.document_columns import DocumentColumns
from pychunk.io.formats.html_files import removed_spans
from pychunk.llm import LLM
from pychunk.parsing.html.page import parse_html

#: The tokens of the longest unit that a chunk should not cut, and of the chunks.
SIZE = 200
JUDGES = ("noise", "completeness", "context_switch")
WAYS = ("structure", "recursive")


@dataclass
class Chunks:
    """A way's chunks of all pages: their texts, pages, and counts by the name of a judge."""

    texts: list[str] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    counted: dict[str, list[bool]] = field(default_factory=lambda: {name: [] for name in JUDGES})

    def add(self, number: int, texts: Sequence[str], **counted: np.ndarray) -> None:
        self.texts += texts
        self.pages += [number] * len(texts)
        for name, values in counted.items():
            self.counted[name] += values.tolist()


def read(folder: Path, most: int | None = None) -> dict[str, Chunks]:
    """Return each way's chunks of the first pages; None means all."""
    marked = json.loads((folder / "ground-truth.json").read_text())
    encoder = registry.vector_encoder("static", "onnxruntime")
    cutters = {
        "structure": pychunk.Segmenter("structure", max_tokens=SIZE),
        "recursive": pychunk.Segmenter("recursive", size=SIZE, unit="tokens"),
    }
    found = {name: Chunks() for name in WAYS}
    for number, key in enumerate(sorted(marked)[:most]):
        page = parse_html(gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes()))
        text, own = page.text, page.blocks
        headings = [(start, end) for kind, start, end in zip(own.kind, own.start, own.end) if kind == HEADING]
        levels = [level for kind, level in zip(own.kind, own.level) if kind == HEADING]
        wanted = quality_counts.marked_spans(text, marked[key]["articleBody"])
        units = plain_text_blocks.find_blocks(text, headings)
        units = units[np.array([systems.count_tokens([text[a:b]]) <= SIZE for a, b in units], bool)]
        removed = removed_spans(page)
        sentences = np.array(pychunk.split_sentences([text])[0], np.int64).reshape(-1, 2)
        vectors = encoder.encode([text[a:b] for a, b in sentences])
        for name, cutter in cutters.items():
            columns: DocumentColumns = {"blocks": own, "removed": [removed]} if name == "structure" else {}
            chunks = list(cutter([text], columns=columns))
            spans = np.array([(chunk.start, chunk.end) for chunk in chunks], np.int64).reshape(-1, 2)
            # a unit that lost a part as noise is no longer one
            gone = np.array([(start, end) for start, end, *_ in removed] if columns else [], np.int64).reshape(-1, 2)
            whole = [not ((gone[:, 0] < end) & (start < gone[:, 1])).any() for start, end in units]
            turns = quality_counts.breaks_inside(vectors, chunk_starts.holders(sentences[:, 0], spans), len(spans))
            beside = quality_counts.equal_headings(
                chunk_starts.holders([a for a, _ in headings], spans), levels, len(spans)
            )
            found[name].add(
                number,
                [chunk.text for chunk in chunks],
                noise=quality_counts.noise(text, spans, wanted).noisy,
                completeness=~quality_counts.incomplete(text, spans, units[np.array(whole, bool)]),
                context_switch=turns | beside,
            )
    return found


def lines(llm: LLM, name: str, chunks: Chunks, most: int) -> list[str]:
    """Return the verdicts of each judge on ``most`` chunks, drawn with a fixed seed, as lines of a table."""
    drawn = np.sort(np.random.default_rng(0).choice(len(chunks.texts), min(most, len(chunks.texts)), replace=False))
    pages = np.array(chunks.pages)[drawn]
    out = []
    for each in JUDGES:
        found = judge(llm, each, [chunks.texts[row] for row in drawn], pages)
        counted = np.array(chunks.counted[each])[drawn]
        sums = np.stack([np.bincount(pages, counted), np.bincount(pages)], axis=1)
        own = intervals.of_sums(sums[sums[:, 1] > 0], lambda parts: parts[0] / parts[1])
        cells = (shown(found.share()), shown(own), shown(found.agreement(counted).kappa))
        out.append(
            f"{name:<10}{each:<16}{len(drawn):>6}{found.abstained:>6}" + "".join(f"{cell:>26}" for cell in cells)
        )
    return out


def shown(interval: intervals.Interval) -> str:
    return f"{interval.mean:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("PYCHUNK_DATA", "data"))
    parser.add_argument("--pages", type=int, default=None, help="only the first N pages")
    parser.add_argument("--chunks", type=int, default=500, help="that each judge is shown of each way's")
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    with LLM(dry_run=options.dry_run) as llm:
        found = read(Path(options.data) / "article_extraction", options.pages)
        table = [line for name, chunks in found.items() for line in lines(llm, name, chunks, options.chunks)]
        if not options.dry_run:
            head = "".join(f"{name:>26}" for name in ("judged", "counted", "kappa"))
            print(f"{'way':<10}{'judge':<16}{'asked':>6}{'none':>6}{head}", *table, sep="\n")
        print(f"{'it would take ' if options.dry_run else ''}{llm.account.line()}")


if __name__ == "__main__":
    main()
