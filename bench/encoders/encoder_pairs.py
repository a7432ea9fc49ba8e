"""A paired comparison of another encoder with MiniLM, on the same chunks and questions.

The chunks are those that the documentation recommends (``recursive``, at most 110 words, an English stemmer). If the
model has a prompt of its own for questions, the prompt precedes each question.

    pychunk model get minilm
    python bench/encoders/encoder_pairs.py --encoder DIR -o bench/results/encoder_pairs.json
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pychunk.evaluation import datasets, runner, systems
from pychunk.evaluation.measures import intervals
from pychunk.evaluation.retrieval_setups import Strategy
from pychunk.index import Bm25

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

BASE = "minilm"
MODES = ("dense", "hybrid")
MEASURES = {"answers": ("strict hits@1", "strict hits@5"), "references": ("recall@1", "recall@5")}


def measured(data: datasets.Dataset, name: str) -> tuple[dict[str, Any], float, str]:
    """Return the values by mode, one thread's seconds for cutting and encoding, and the model's fingerprint."""
    begun = time.process_time()
    encoder = systems.Encoder(name)
    chunked = systems.by_method("recursive", {"size": 110, "unit": "words"}, data, encoder)
    asked = encoder.asked([each.text for each in data.questions])
    spent = time.process_time() - begun
    values = {}
    for mode in MODES:
        found = runner.retrieve(chunked, data, encoder, Strategy(mode), asked, {"bm25": Bm25(stemmer="english")})
        values[mode] = runner.measure(found, data, encoder)[0]
    return values, spent, encoder.model.fingerprint


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with squad/ and chunking_evaluation/")
    parser.add_argument("--encoder", required=True, metavar="NAME|DIR")
    parser.add_argument("--questions", type=int, default=0, help="of SQuAD, a seeded choice of so many (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write all figures as JSON")
    options = parser.parse_args()
    squad = datasets.squad(options.data / "squad" / "dev-v2.0.json")
    if 0 < options.questions < len(squad.questions):
        chosen = np.random.default_rng(options.seed).choice(len(squad.questions), options.questions, replace=False)
        squad = replace(squad, questions=[squad.questions[i] for i in np.sort(chosen)])
    rows: list[dict[str, Any]] = []
    models: list[str] = []
    for data in (datasets.chunking_evaluation(options.data / "chunking_evaluation"), squad):
        base, base_seconds, one = measured(data, BASE)
        other, seconds, two = measured(data, options.encoder)
        models = [one, two]
        for mode in MODES:
            for measure in MEASURES[data.kind]:
                row: dict[str, Any] = {"questions of": data.name, "questions": len(data.questions), "mode": mode}
                row |= {"measure": measure, BASE: intervals.interval(base[mode][measure])._asdict()}
                row["other"] = intervals.interval(other[mode][measure])._asdict()
                row["gain"] = intervals.paired(other[mode][measure], base[mode][measure])._asdict()
                row["times the seconds"] = round(seconds / base_seconds, 2)
                rows.append(row)
                gain, slower = row["gain"], row["times the seconds"]
                means = f"{row['other']['mean']:.4f}, {BASE} {row[BASE]['mean']:.4f}"
                print(f"{data.name} {mode} {measure}: {means}, {gain['mean']:+.4f}", end=" ")
                print(f"({gain['low']:+.4f} to {gain['high']:+.4f}), {slower} times the time", flush=True)
    if options.output:
        name = "MiniLM in 8 bits" if "minilm_int8" in options.encoder else Path(options.encoder).name
        about = (
            f"The same chunks and questions, searched by the vectors of {BASE} and by those of {name} "
            '("other"). "Gain" is the mean with the other encoder minus the mean with the first, paired by question. '
            '"Times the seconds" is the time with the other encoder divided by the time with the first.'
        )
        packages = ("onnxruntime", "faiss-cpu", "PyStemmer")
        title = f"Another encoder compared with MiniLM: {name}"
        record.save(options.output, title, {"rows": rows}, about=about, packages=packages, encoder=", ".join(models))


if __name__ == "__main__":
    main()
