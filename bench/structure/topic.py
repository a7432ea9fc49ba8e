"""Section starts of Wikipedia articles that no model learned from, found by `topic` and by other methods.

The articles have three views: headings hidden and one line, headings hidden with line breaks kept, and unchanged. The
thresholds of `semantic` are the best on validation articles. With --ablations (extra `train`) the network is trained
again on fewer articles, without each group of inputs and from lengths alone.

    python bench/structure/topic.py --ablations --save bench/results/topic.json
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pychunk
from pychunk.evaluation.measures import intervals
from pychunk.training.corpus import default_articles, read_articles
from training import topic_eval
from training.topic_articles import HIDDEN, PARAGRAPHS, WHOLE, Article, View, seen

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

VIEWS = {"headings hidden, one line": HIDDEN, "headings hidden, line breaks": PARAGRAPHS, "as they are": WHOLE}
#: The values of `semantic`, from which validation articles choose.
WINDOWS, PERCENTILES = (1, 2, 3, 5), (4, 8, 12, 20)
#: The other methods, with their defaults.
METHODS: dict[str, dict[str, Any]] = {
    "topic": {"method": "topic"},
    "topic, any length": {"method": "topic", "max_tokens": None},
    "semantic, percentile 20": {"method": "semantic"},
    "nsp, static": {"method": "nsp", "encoder": "static"},
    "pic": {"method": "pic"},
    "cluster": {"method": "cluster"},
    "paragraph": {"method": "paragraph"},
    "fixed, 300 tokens": {"method": "fixed", "size": 300},
}
#: The articles of each part and the passes of the ablations.
LIMIT, EPOCHS = 1000, 6


class Shown:
    """The articles of a part of the split that have sections, in the form of a view."""

    def __init__(self, articles: Sequence[Article], view: View) -> None:
        own = [each for each in (seen(article, view) for article in articles) if each[1]]
        self.texts = [text for text, _ in own]
        self.articles = topic_eval.articles_of(own)

    def measured(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return AUC if the method scores pairs of neighbours, F1, Pk and WindowDiff, with intervals over articles."""
        cuts = pychunk.Segmenter(**options).cuts(self.texts)
        found = [cuts.part(row)[1:].astype(np.int64) for row in range(cuts.documents)]
        measures: dict[str, Any] = {"AUC": None}
        if cuts.pairs and cuts.score is not None and options.get("window", 1) == 1:
            scores = [cuts.score.part(row) for row in range(cuts.documents)]
            measures["AUC"] = topic_eval.curve(scores, self.articles)._asdict()
        kept = topic_eval.measures(found, self.articles)
        return measures | {name: value._asdict() for name, value in kept.items()}

    def f1(self, options: dict[str, Any]) -> np.ndarray:
        """Return the F1 of each article."""
        cuts = pychunk.Segmenter(**options).cuts(self.texts)
        return np.array(
            [
                topic_eval.boundaries.boundary_f1(own.begins, cuts.part(row)[1:], own.sentences).f1
                for row, own in enumerate(self.articles)
            ]
        )


def tuned(validation: Shown, percentiles: Sequence[int] = PERCENTILES, **more: Any) -> dict[str, Any]:
    """Return the window and percentile of `semantic` with the best F1."""
    every = [
        {"method": "semantic", "window": window, "threshold": ("percentile", percentile), **more}
        for window in WINDOWS
        for percentile in percentiles
    ]
    return max(every, key=lambda options: float(validation.f1(options).mean()))


def compare(test: Sequence[str], validation: Sequence[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows of methods in every view, and F1 of `topic` minus that of each other method, on the same articles."""
    rows, differences = [], []
    for name, view in VIEWS.items():
        shown = Shown(test, view)
        best = tuned(Shown(validation, view))
        label = f"semantic, window {best['window']}, percentile {best['threshold'][1]}, the best on validation"
        ours = shown.f1(METHODS["topic"])
        for method, options in {**METHODS, label: best}.items():
            measures = shown.measured(options)
            rows.append({"text": name, "method": method, "articles": len(shown.texts), **measures})
            show(rows[-1])
            if not method.startswith("topic"):
                less = intervals.paired(ours, shown.f1(options))._asdict()
                differences.append({"text": name, "topic less": method, "F1": less})
    return rows, differences


def ablations(file: Path, test: Sequence[str], threads: int) -> list[dict[str, Any]]:
    """Return the results of networks trained without a group of inputs, and from lengths alone."""
    from training import topic, topic_fit

    options = topic.parser().parse_args(["--articles", str(file), "--limit", str(LIMIT), "--threads", str(threads)])
    plan = topic_fit.Plan(epochs=EPOCHS)
    corpus = topic.Corpus(options, plan)
    topic.import_torch().set_num_threads(threads)
    rows = []
    hidden, paragraphs = Shown(test, HIDDEN), Shown(test, PARAGRAPHS)
    alone = tuple(name for name in topic_fit.NAMES if name != "length")
    kinds = {"all inputs": (), **{f"without {name}": (name,) for name in topic_fit.NAMES}, "length alone": alone}
    for name, without in kinds.items():
        with tempfile.TemporaryDirectory() as folder:
            facts = topic.learn(corpus, plan, Path(folder), without)
            topic.calibrate(Path(folder), facts, corpus, options)
            found = {"method": "topic", "model": folder, "max_tokens": None}
            row: dict[str, Any] = {"inputs": name, **hidden.measured(found)}
            row["AUC with line breaks"] = paragraphs.measured(found)["AUC"]
        rows.append(row)
        show(row)
    return rows


def rate(texts: Sequence[str]) -> dict[str, Any]:
    """Return the characters a CPU second of `topic` and of `pic`, one thread, in turns, and their ratios."""
    makers = {name: pychunk.Segmenter(name, placement=pychunk.Placement(threads=1)) for name in ("pic", "topic")}
    seconds: dict[str, list[float]] = {name: [] for name in makers}
    for _ in range(25):
        for name, segmenter in makers.items():
            begun = time.process_time()
            segmenter(texts)
            seconds[name].append(time.process_time() - begun)
    size = sum(map(len, texts)) / 1e6
    found: dict[str, Any] = {f"{name}, MB/s": size / min(each) for name, each in seconds.items()}
    found["topic over pic, best"] = min(seconds["pic"]) / min(seconds["topic"])
    found["topic over pic, median"] = float(np.median(seconds["pic"]) / np.median(seconds["topic"]))
    return found


def show(row: dict[str, Any]) -> None:
    cells = [
        f"{name} {value['mean']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"
        for name, value in row.items()
        if isinstance(value, dict)
    ]
    print(", ".join(str(value) for value in row.values() if isinstance(value, str)), "|", "  ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=Path, default=default_articles(), help="Parquet with columns id and text")
    parser.add_argument("--ablations", action="store_true", help="train without each group of inputs, too")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of torch")
    parser.add_argument("--save", type=Path, metavar="FILE")
    options = parser.parse_args()
    test, validation = read_articles(options.articles, "test"), read_articles(options.articles, "validation")
    rows, differences = compare(test, validation)
    for row in differences:
        show(row)
    speed = rate(test[:150])
    print(", ".join(f"{name} {value:.2f}" for name, value in speed.items()))
    figures: dict[str, Any] = {"rows": rows, "differences": differences, "rate": [speed]}
    if options.ablations:
        figures["ablations"] = ablations(options.articles, test, options.threads)
    if options.save:
        about = (
            f'{len(test)} test articles; the column "articles" counts those that have sections. F1, Pk and '
            "WindowDiff are means over these articles. AUC is over all gaps between sentences of all these "
            "articles, for methods that score pairs of neighbouring sentences. Ablations: each network was trained "
            f"again, on {LIMIT:,} articles for {EPOCHS} passes."
        )
        record.save(
            options.save,
            "Section starts",
            figures,
            about=about,
            packages=["torch"] if options.ablations else [],
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
