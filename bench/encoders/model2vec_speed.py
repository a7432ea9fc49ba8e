"""The speed of a folder of model2vec in pychunk compared with model2vec itself, and how equal the vectors are.

The folder is one that `StaticModel.save_pretrained` wrote, such as a potion model, or one distilled from MiniLM:

    python -c 'from model2vec.distill import distill; distill("MINILM").save_pretrained("potion")'
    python bench/encoders/model2vec_speed.py potion --save bench/results/model2vec.json

Both encode the same texts as a whole on one core, in turns, and each counts with its least processor time. By default,
model2vec reads the first 512 tokens of a text; here it reads all of them, as pychunk does.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import pychunk

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

ABOUT = (
    "One core, processor time, the best of the rounds, which take turns. A row encodes texts of English "
    "Wikipedia, each as a whole. "
    '"Least cosine" is that of a text\'s vector by pychunk with that by model2vec.'
)


def articles_and_sentences(data: Path, megabytes: float) -> dict[str, list[str]]:
    """Return articles of together about so many MB, and their sentences."""
    table = pq.read_table(data / "wiki" / "articles.parquet", columns=["text"])
    found: list[str] = []
    for text in table["text"].to_pylist():
        if sum(map(len, found)) > megabytes * 1e6:
            break
        found.append(text)
    spans = pychunk.split_sentences(found)
    sentences = [text[a:b].strip() for text, own in zip(found, spans, strict=True) for a, b in own]
    return {"sentences": sentences, "articles": found}


def seconds(run: Callable[[], Any]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="FOLDER", help="a folder of model2vec")
    add_data(parser)
    parser.add_argument("--megabytes", type=float, default=3, metavar="N", help="of text (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of each (default: %(default)s)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    given = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from model2vec import StaticModel

    theirs, one = StaticModel.from_pretrained(given.model), pychunk.Placement(threads=1)
    rows = []
    for name, texts in articles_and_sentences(Path(given.data), given.megabytes).items():
        ways: dict[str, Callable[[], Any]] = {
            "pychunk": lambda own=texts: pychunk.embed(own, encoder=str(given.model), task="query", placement=one),
            "model2vec": lambda own=texts: theirs.encode(own, max_length=None, use_multiprocessing=False),
        }
        vectors = [np.asarray(run(), np.float64) for run in ways.values()]
        lengths = [np.linalg.norm(each, axis=1) for each in vectors]
        known = (lengths[0] > 0) & (lengths[1] > 0)
        assert (known | (lengths[0] + lengths[1] == 0)).all(), "only one of the two knows a word of a text"
        cosines = (vectors[0] * vectors[1]).sum(axis=1)[known] / (lengths[0] * lengths[1])[known]
        best = {way: min(seconds(run) for _ in range(given.rounds)) for way, run in ways.items()}
        size = sum(len(text.encode()) for text in texts) / 1e6
        rows.append(
            {
                "texts": f"{len(texts):,} {name}",
                "pychunk, MB/s": round(size / best["pychunk"], 1),
                "model2vec, MB/s": round(size / best["model2vec"], 2),
                "pychunk is times": round(best["model2vec"] / best["pychunk"], 1),
                "least cosine": round(float(cosines.min()), 6),
            }
        )
        print(rows[-1], flush=True)
    if given.save:
        packages = ["model2vec", "tokenizers"]
        record.save(given.save, "Speed of a folder of model2vec", {"rows": rows}, about=ABOUT, packages=packages)


if __name__ == "__main__":
    main()
