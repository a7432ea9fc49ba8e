"""Section starts of translated manuals, found by `topic` and by other methods, all in vectors of `multilingual`.

The chapters are in one line without headings. The network learned from other pages in the first three languages, and
saw no section of the last two. The thresholds of `semantic` are the best on validation chapters of the language.

    python -m training.manuals --debs debs --out manuals.parquet
    python bench/structure/topic_languages.py manuals.parquet --save bench/results/topic_languages.json
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from pychunk.encoders.registry import vector_encoder
from pychunk.evaluation.measures import intervals
from training import manuals
from training.topic_articles import HIDDEN

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.structure.topic import METHODS, Shown, show, tuned

LANGUAGES = {"de": "learned from", "ja": "learned from", "ru": "learned from", "tr": "not seen", "ko": "not seen"}
ENCODER = "multilingual"
OURS = "topic, any length"
#: The percentiles of `semantic` from which validation chapters choose; sections of manuals are short.
PERCENTILES = (12, 20, 35, 50, 70, 90)


def compare(file: Path, language: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows of methods on the test chapters of a language, and F1 of `topic` less that of each other method."""
    held, shown = (
        Shown([each.lines for each in manuals.read(file, part, languages=[language])], HIDDEN)
        for part in ("validation", "test")
    )
    best = tuned(held, PERCENTILES, encoder=ENCODER)
    label = f"semantic, window {best['window']}, percentile {best['threshold'][1]}, the best on validation"
    methods = {name.removesuffix(", static"): {**own, "encoder": ENCODER} for name, own in METHODS.items()}
    own, rows, differences = shown.f1(methods[OURS]), [], []
    for method, options in {**methods, label: best}.items():
        said = {"language": language, "sections": LANGUAGES[language], "method": method}
        rows.append({**said, "chapters": len(shown.texts), **shown.measured(options)})
        show(rows[-1])
        if not method.startswith("topic"):
            less = intervals.paired(own, shown.f1(options))._asdict()
            differences.append({"language": language, f"{OURS}, less": method, "F1": less})
            show(differences[-1])
    return rows, differences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manuals", type=Path, help="chapters of manuals, from python -m training.manuals")
    parser.add_argument("--save", type=Path, metavar="FILE")
    options = parser.parse_args()
    rows, differences = [], []
    for language in LANGUAGES:
        found = compare(options.manuals, language)
        rows += found[0]
        differences += found[1]
    worst = min(row["F1"]["low"] for row in differences)
    print(f"the lowest end of an interval of F1 of {OURS} less another method: {worst:.3f}")
    if options.save:
        record.save(
            options.save,
            "Section starts in other languages",
            {"rows": rows, "differences": differences},
            about=str(__doc__).split("\n\n")[1],
            encoder=vector_encoder(ENCODER).fingerprint,
        )


if __name__ == "__main__":
    main()
