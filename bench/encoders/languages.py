"""Search XQuAD in each of its languages: is the paragraph of a question found first?

XQuAD asks 1,190 questions about 240 paragraphs, translated into each language. One language is one corpus. The columns
are BM25 alone in the encoder's chunks, vectors alone, and both (the default), with each encoder. The last columns ask
in English for the paragraphs of the language.

    pip install ./data/pychunk-multilingual
    python bench/encoders/languages.py --encoder static --encoder multilingual
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

import pychunk

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

#: The columns of English questions: by vectors alone, first and among five, and by both among five.
ACROSS = ("from en @1", "from en @5", "hybrid from en @5")


def read(file: Path) -> tuple[list[str], list[tuple[str, int]]]:
    """Return the distinct paragraphs of a language, and the questions with the numbers of their paragraphs."""
    rows: dict[str, int] = {}
    asked = []
    for article in json.loads(file.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            row = rows.setdefault(paragraph["context"], len(rows))
            asked += [(each["question"], row) for each in paragraph["qas"]]
    return list(rows), asked


def places(index: pychunk.Index, questions: list[str], wanted: np.ndarray, mode: str) -> np.ndarray:
    """Return the place of each question's paragraph among the five paragraphs found first, 5 if it is none of them."""
    out = np.full(len(questions), 5)
    for at, hits in enumerate(index.search(questions, k=25, mode=mode)):
        found = list(dict.fromkeys(int(hit.document_id) for hit in hits))[:5]
        if wanted[at] in found:
            out[at] = found.index(wanted[at])
    return out


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of a mean by 1,000 samples of the values."""
    random = np.random.default_rng(0)
    means = [values[random.integers(0, len(values), len(values))].mean() for _ in range(1000)]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with xquad/")
    parser.add_argument("--encoder", action="append", help="may be repeated (default: static and multilingual)")
    parser.add_argument("--language", action="append", help="may be repeated (default: all that are there)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write all figures as JSON")
    options = parser.parse_args()
    encoders = options.encoder or ["static", "multilingual"]
    files = {file.name.split(".")[1]: file for file in sorted((options.data / "xquad").glob("xquad.*.json"))}
    _, english = read(files["en"])
    heads = [f"{kind} {name}" for name in encoders for kind in ("bm25", "dense", "hybrid", *ACROSS)]
    print("   " + "".join(f"{head:>24}" for head in heads))
    rows = []
    for language in options.language or files:
        paragraphs, asked = read(files[language])
        questions, wanted = [question for question, _ in asked], np.array([row for _, row in asked])
        assert [row for _, row in english] == [row for _, row in asked], "translations must ask the same questions"
        figures: dict[str, float] = {}
        ranges: dict[str, tuple[float, float]] = {}
        for encoder in encoders:
            with tempfile.TemporaryDirectory() as folder:
                chunks = pychunk.segment(
                    paragraphs, vectors="sentence", encoder=encoder, ids=[str(row) for row in range(len(paragraphs))]
                )
                index = pychunk.Index.create(Path(folder) / "xquad.idx", encoder=encoder)
                index.add(chunks)
                modes = {"bm25": "sparse", "dense": "dense", "hybrid": "hybrid"}
                found = {f"{name} {encoder}": places(index, questions, wanted, modes[name]) for name in modes}
                asked_in_english = [question for question, _ in english]
                across = {mode: places(index, asked_in_english, wanted, mode) for mode in ("dense", "hybrid")}
                for name, place in found.items():
                    figures[name], ranges[name] = float((place == 0).mean()), interval(place == 0)
                figures[f"from en @1 {encoder}"] = float((across["dense"] == 0).mean())
                figures[f"from en @5 {encoder}"] = float((across["dense"] < 5).mean())
                figures[f"hybrid from en @5 {encoder}"] = float((across["hybrid"] < 5).mean())
                index.close(discard=True)
        cells = [
            f"{figures[head]:.3f}" + (f" ({ranges[head][0]:.3f}-{ranges[head][1]:.3f})" if head in ranges else "")
            for head in heads
        ]
        print(f"{language:3}" + "".join(f"{cell:>24}" for cell in cells), flush=True)
        rows.append({"language": language, "figures": figures, "intervals": ranges})
    if options.save:
        title = "Search in eight languages"
        record.save(options.save, title, {"rows": rows}, about=__doc__.splitlines()[0], encoder=", ".join(encoders))


if __name__ == "__main__":
    main()
