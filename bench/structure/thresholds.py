"""The effect of the noise model's threshold: noise in chunks of `structure` against text that is kept.

The pages are those of `tenets`, judged once a threshold by networks that saw none of their domain. One more row shows
the best result that labels of blocks can reach. These are taken from the marked text itself: a block is kept if more
than half of it is marked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pychunk.evaluation.measures import quality_counts
from pychunk.io.formats.html_files import removed_spans
from pychunk.parsing.html.noise_model import NoiseModel
from training.noise_pages import domain_of, fold_of

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data
from bench.structure.extraction import fold_models
from bench.structure.page_tenets import PAGES, Cut, Loaded, cutter, drawn, load, ratio, show, spaced, together, words_in

#: The scores above which blocks are removed; None for each page's own threshold, the default.
THRESHOLDS = (None, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
BEST, DEFAULT = "best labels of blocks", "each page's own"


def unmarked(page: Loaded) -> list[tuple[int, int, str, float]]:
    """Return the removed spans of ideal labels: blocks with at most half of their words' characters marked."""
    text, own = page.page.text, page.page.blocks
    spans = np.stack([own.start, own.end], axis=1)
    found = quality_counts.noise(text, spans, quality_counts.marked_spans(text, page.marked))
    gone = 2 * found.outside >= found.of
    return [(start, end, "boilerplate", 1.0) for start, end in spans[gone].tolist()]


def judged(page: Loaded, removed: list[tuple[int, int, str, float]], cut: Cut) -> dict[str, tuple[float, float]]:
    """Return (count, total) of each measure, for a page's chunks without the removed spans."""
    text, spans = together([each for each in cut(page, removed) if each.strip()])
    noise = quality_counts.noise(text, spans, quality_counts.marked_spans(text, page.marked))
    there = spaced(text)
    return {
        "noise": noise.characters,
        "noisy chunks": noise.chunks,
        "marked text kept": (noise.of.sum() - noise.outside.sum(), words_in(page.marked)),
        "noise snippets": (sum(each in there for each in page.unwanted), len(page.unwanted)),
        "text snippets": (sum(each in there for each in page.wanted), len(page.wanted)),
    }


def measured(pages: Iterable[tuple[int, dict[str, Any]]], models: Sequence[NoiseModel]) -> list[dict[str, Any]]:
    """Return one row for each threshold, and one for the best labels."""
    cut = cutter("structure")
    found: dict[str, list[dict[str, tuple[float, float]]]] = {}
    for number, row in pages:
        page = load(row, number, models, {"blocks": 0.0, "noise": 0.0})
        model = models[fold_of(domain_of(row["url"], number))]
        for name, removed in labels(page, model):
            found.setdefault(name, []).append(judged(page, removed, cut))
    return [
        {"threshold": name} | {measure: ratio([page[measure] for page in every]) for measure in every[0]}
        for name, every in found.items()
    ]


def labels(page: Loaded, model: NoiseModel) -> Iterator[tuple[str, list[tuple[int, int, str, float]]]]:
    """Yield the removed spans of a page, by threshold and by the best labels."""
    for each in THRESHOLDS:
        yield DEFAULT if each is None else f"{each}", removed_spans(page.page, threshold=each, model=model)
    yield BEST, unmarked(page)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--pages", type=int, default=PAGES, metavar="N", help=f"0: all (default: {PAGES})")
    parser.add_argument("--processes", type=int, default=1, help="where networks must be trained (default: 1)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/thresholds.json")
    return parser.parse_args()


def main() -> None:
    """Print the table and save it."""
    options = arguments()
    file = Path(options.data) / "wcxb" / "dev.parquet"
    rows = measured(drawn(file, options.pages), fold_models(file, options.processes))
    show("what a threshold buys: per cent, with intervals over pages", rows)
    if options.save:
        record.save(
            options.save,
            "Noise of chunks of web pages by threshold",
            {"rows": rows},
            about=(
                "Chunks of method `structure`, for the same pages and by the same measures as in the tenets. A block "
                "is removed if the noise model's score of the block is above the threshold. The last row shows the "
                "best labels that blocks can have: a block is kept if more than half of it is marked text. No other "
                "labels of blocks have fewer characters of kept noise and removed text in total."
            ),
            packages=("selectolax",),
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
