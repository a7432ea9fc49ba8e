"""The choice of the options that the documentation recommends for retrieval: on SQuAD, confirmed on another set.

One option at a time differs from the recommended ones. Every line is measured on both sets (SQuAD v2 dev, all articles
as one corpus; the chunking-evaluation questions). ``chosen`` marks the recommended value.

    pychunk model get minilm
    python bench/retrieval/retrieval_defaults.py --data ../shared/data --encoder static --encoder minilm
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from pychunk.defaults import SEARCH
from pychunk.evaluation import datasets, runner, systems
from pychunk.evaluation.measures import intervals
from pychunk.index import Bm25, Ranking

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

CHOSEN = {
    "method": "recursive",
    "size": 110,
    "mode": "hybrid",
    "weight": 1.5,
    "stemmer": "english",
    "k1": 0.9,
    "b": 0.4,
}
VARIED: list[tuple[str, list[object]]] = [
    ("method", ["fixed", "semantic", "pic", "cluster", "paragraph"]),
    ("size", [60, 80, 100, 125, 150, 200]),
    ("mode", ["dense", "sparse", "recipe", "recipe+bm25"]),
    ("weight", [0.5, 1.0, 2.0, 3.0]),
    ("fusion", ["rrf"]),
    ("stemmer", [None]),
    ("k1", [0.6, 1.2, 1.5]),
    ("b", [0.2, 0.75]),
]
SHOWN = {
    "answers": ("strict hits@1", "strict hits@5", "strict hits in 500 words"),
    "references": ("recall@5", "IoU@5", "recall in 500 words"),
}


def evaluated(data: datasets.Dataset, encoder: systems.Encoder, vectors: np.ndarray, options: dict) -> dict[str, float]:
    method, size = options["method"], options["size"]
    sized = {"size": size, "unit": "words"} if method in ("fixed", "recursive") else {"max_tokens": int(1.35 * size)}
    chunked = systems.by_method(method, sized, data, encoder)
    bm25 = Bm25(**{key: options[key] for key in ("stemmer", "k1", "b")})
    index = {"bm25": bm25, "ranking": Ranking(options.get("fusion", SEARCH.fusion), options["weight"])}
    found = runner.retrieve(chunked, data, encoder, options["mode"], vectors, index)
    values, _ = runner.measure(found, data, encoder)
    out = {name: intervals.interval(values[name])._asdict() for name in SHOWN[data.kind]}
    return {**out, "words in top 5": float(found.words[:, :5].sum(axis=1).mean())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with squad/ and chunking_evaluation/")
    parser.add_argument("--encoder", action="append", help="may be repeated (default: static)")
    parser.add_argument("--limit", type=int, help="only the first N questions of each set")
    parser.add_argument("-o", "--output", "--save", type=Path, metavar="FILE", help="write all figures as JSON")
    options = parser.parse_args()
    sets = [
        datasets.squad(options.data / "squad" / "dev-v2.0.json", options.limit),
        datasets.chunking_evaluation(options.data / "chunking_evaluation", options.limit),
    ]
    results, models = [], []
    for name in options.encoder or ["static"]:
        encoders = [systems.Encoder(name) for _ in sets]
        models.append(encoders[0].model.fingerprint)
        asked = [own.encode([each.text for each in data.questions]) for own, data in zip(encoders, sets)]
        print(f"\n{name:26}" + "".join(f"{measure:>26}" for data in sets for measure in SHOWN[data.kind]) + "  words")
        for what, values in [("chosen", [None]), *VARIED]:
            for value in values:
                own = dict(CHOSEN) if what == "chosen" else {**CHOSEN, what: value}
                found = [evaluated(*each, own) for each in zip(sets, encoders, asked)]
                cells = "".join(
                    f"{each[m]['mean']:12.4f} ({each[m]['low']:.3f}-{each[m]['high']:.3f})"
                    for data, each in zip(sets, found)
                    for m in SHOWN[data.kind]
                )
                label = "chosen" if what == "chosen" else f"{what} = {value}"
                print(f"{label:26}{cells}  {found[0]['words in top 5']:.0f}", flush=True)
                results.append({"encoder": name, "varied": label, "SQuAD": found[0], "chunking evaluation": found[1]})
    if options.output:
        about = "One option varied at a time around the chosen ones, on two sets of questions."
        figures = {"chosen": CHOSEN, "rows": results}
        packages = ("onnxruntime", "faiss-cpu", "PyStemmer")
        title = "How the options of retrieval were chosen"
        record.save(options.output, title, figures, about=about, packages=packages, encoder=", ".join(models))


if __name__ == "__main__":
    main()
