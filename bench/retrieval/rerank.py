"""What reranking the top 20 brings on SQuAD v2 dev, and what it costs: strict Hits@1 before and after, paired.

The chunks are those that the documentation recommends (``recursive``, at most 110 words, an English stemmer, hybrid
with weight 1.5). The cross-encoder reads every pair, so it is measured on a seeded subset of the questions; chunks are
found among all articles.

    pychunk model get minilm
    pychunk model get reranker
    python bench/retrieval/rerank.py --encoder static --encoder minilm --rerank reranker
    python bench/retrieval/rerank.py --rerank features
    python bench/retrieval/rerank.py --rerank reranker --rerank DIR      what the second keeps of the first one's gain
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pychunk.evaluation import contenders, datasets, runner
from pychunk.evaluation.measures import intervals
from pychunk.index.index import Index
from pychunk.index.rerank import rerank
from pychunk.index.rerank.learned import Learned
from pychunk.index.search.hits import Hit

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

#: Queries reranked in one call: enough that batches of equal length are full.
TOGETHER = 50
#: Runs of "features", of which the fastest counts: other work on a machine is more than it takes.
REPEATS = 5
OPTIONS = {"stemmer": "english"}
#: The last is what no order of the top 20 can better.
MEASURES = ("strict hits@1", "strict hits@3", "strict hits@5", "strict hits@20")


class Remembered:
    """A reranker that reads no pair twice: the encoders find most chunks alike."""

    def __init__(self, stage: rerank.Reranker) -> None:
        self.stage, self.name, self.known, self._asked = stage, stage.name, {}, 0

    def asked(self) -> int:
        """How many pairs were read since this was last called."""
        count, self._asked = self._asked, 0
        return count

    def score(self, queries: list[str], hits: list[list[Hit]], threads: int | None) -> rerank.Scored:
        new = [[hit for hit in own if (query, hit.text) not in self.known] for query, own in zip(queries, hits)]
        self._asked += sum(map(len, new))
        scored = self.stage.score(queries, new, threads)
        for query, own, values in zip(queries, new, scored.scores):
            self.known.update({(query, hit.text): float(value) for hit, value in zip(own, values)})
        given = [[self.known[query, hit.text] for hit in own] for query, own in zip(queries, hits)]
        return rerank.Scored(given, scored.tokens)


def found(
    data: datasets.Dataset, name: str, depth: int, learned: bool, threads: int
) -> tuple[contenders.Encoder, contenders.Chunked, list[list[Hit]], list[list[Hit]], rerank.Cost]:
    """The encoder, the chunks, the best ``depth`` hits of every question, and these in the order of ``"features"``."""
    encoder = contenders.Encoder(name)
    chunked = contenders.by_method("recursive", {"size": 110, "unit": "words"}, data, encoder)
    texts = [each.text for each in data.questions]
    with tempfile.TemporaryDirectory() as folder, Index.create(Path(folder) / "i", encoder=name, **OPTIONS) as index:
        index.add(chunked.table)
        index.save()
        vectors = encoder.model.encode(texts)
        hits: Any = index.search(texts, depth, query_vectors=vectors)
        ordered, seconds = [], 0.0
        searcher, fingerprint = index._contents.searcher(), encoder.model.fingerprint
        for begin in range(0, len(texts) if learned else 0, TOGETHER):
            part = slice(begin, begin + TOGETHER)
            stage = Learned(searcher, vectors[part], fingerprint)
            spent = []
            for _ in range(REPEATS):
                begun = time.process_time()
                best, _ = rerank.reranked(stage, texts[part], hits[part], depth, threads=threads)
                spent.append(time.process_time() - begun)
            ordered += best
            seconds += min(spent)
        cost = rerank.Cost(sum(map(len, ordered)), 0, seconds)
        return encoder, chunked, hits, ordered, cost


def measured(
    data: datasets.Dataset, encoder: contenders.Encoder, chunked: contenders.Chunked, hits: list[list[Hit]]
) -> dict[str, np.ndarray]:
    """Values of each measure, float64[q], of hits in their order."""
    depth = max(map(len, hits))
    rows = np.full((len(hits), depth), -1, np.int64)
    for own, row in zip(hits, rows):
        row[: len(own)] = [hit.row for hit in own]
    words = np.where(rows >= 0, chunked.words[rows], 0)
    values, _ = runner.measure(runner.Found(chunked, rows, words, 0, 0), data, encoder)
    return {name: values[name] for name in MEASURES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with squad/")
    parser.add_argument("--encoder", action="append", help="may be repeated (default: static)")
    parser.add_argument("--rerank", action="append", help="may be repeated (default: reranker)")
    parser.add_argument(
        "--questions", type=int, default=800, help="a seeded choice of so many for cross-encoders (0: all)"
    )
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", "--save", type=Path, metavar="FILE", help="write all figures as JSON")
    options = parser.parse_args()
    whole = datasets.squad(options.data / "squad" / "dev-v2.0.json")
    chosen = np.arange(len(whole.questions))
    if options.rerank != ["features"] and 0 < options.questions < len(chosen):
        chosen = np.sort(np.random.default_rng(options.seed).choice(len(chosen), options.questions, replace=False))
    data = replace(whole, questions=[whole.questions[i] for i in chosen])
    texts = [each.text for each in data.questions]
    rows: list[dict[str, Any]] = []
    models = []
    wanted = options.rerank or ["reranker"]
    stages = {model: Remembered(rerank.load(model)) for model in wanted if model != "features"}
    for name in options.encoder or ["static"]:
        learned = "features" in wanted and name == "static"
        encoder, chunked, every, by_features, cost = found(whole, name, options.depth, learned, options.threads)
        models.append(encoder.model.fingerprint)
        hits = [every[i] for i in chosen]
        before = measured(data, encoder, chunked, hits)
        all_questions = measured(whole, encoder, chunked, every)
        plain: dict[str, Any] = {"encoder": name, "rerank": "none", "questions": len(texts)}
        plain |= {measure: intervals.interval(before[measure])._asdict() for measure in MEASURES}
        rows.append(plain)
        show(plain)
        if len(texts) < len(whole.questions):
            plain = {"encoder": name, "rerank": "none", "questions": len(whole.questions)}
            rows.append(plain | {measure: intervals.interval(all_questions[measure])._asdict() for measure in MEASURES})
            show(rows[-1])
        if learned:
            after = measured(whole, encoder, chunked, by_features)
            row = {"encoder": name, "rerank": "features", "questions": len(whole.questions)}
            row |= compared(after, all_questions, [cost], len(whole.questions))
            scored = cost.hits / len(whole.questions)
            rows.append(row | {"hits scored a query": scored, "ms a hit": row["ms a query"] / scored})
            show(rows[-1])
        first: tuple[np.ndarray, dict[str, Any]] | None = None
        ordered: dict[str, list[list[Hit]]] = {model: [] for model in stages}
        costs: dict[str, list[rerank.Cost]] = {model: [] for model in stages}
        for begin in range(0, len(texts), TOGETHER):  # in turns, so that other work on the machine slows all alike
            part = slice(begin, begin + TOGETHER)
            for model, stage in stages.items():
                best, cost = rerank.reranked(stage, texts[part], hits[part], options.depth, threads=options.threads)
                ordered[model] += best
                costs[model].append(cost)
        for model, stage in stages.items():
            after = measured(data, encoder, chunked, ordered[model])
            row = {"encoder": name, "rerank": model, "questions": len(texts)}
            row |= compared(after, before, costs[model], len(texts))
            asked = stage.asked()
            row |= {"hits scored a query": asked / len(texts), "ms a hit": row["ms a query"] * len(texts) / asked}
            gains = after[MEASURES[0]] - before[MEASURES[0]]
            if first is None:
                first = gains, row
            else:
                row["of the first reranker"] = {
                    "gain kept": intervals.of_sums(np.stack([gains, first[0]], axis=1), kept)._asdict(),
                    "hits@1 less": intervals.paired(gains, first[0])._asdict(),
                    "time": row["ms a hit"] / first[1]["ms a hit"],
                }
            rows.append(row)
            show(row)
        if options.output:
            about = (
                f"The best {options.depth} chunks of each question ordered anew; {options.threads} threads on a "
                "machine with other work. Gains are paired differences with 95 % bootstrap intervals. "
            )
            if stages:
                about += (
                    f"Cross-encoders read those of {len(texts)} questions, a seeded choice. Pairs that were read for "
                    "one encoder are not read again for the next: time and tokens are those of the hits scored."
                )
            if "features" in wanted:
                about += (
                    f"The time of features is a thread's on the CPU, {TOGETHER} questions a call, of {REPEATS} runs "
                    "the fastest, as the machine's other work takes more than they do."
                )
            packages = ("onnxruntime", "faiss-cpu", "PyStemmer")
            title = "What reranking brings" if stages else "What features bring"
            if stages and options.encoder:
                title = f"What reranking brings to hits by {' and '.join(options.encoder)}"
            title = "What a student of the reranker keeps" if len(stages) > 1 else title
            figures = {"depth": options.depth, "seed": options.seed, "rows": rows}
            record.save(options.output, title, figures, about=about, packages=packages, encoder=", ".join(models))


def compared(
    after: dict[str, np.ndarray], before: dict[str, np.ndarray], costs: list[rerank.Cost], questions: int
) -> dict[str, Any]:
    """The measures, what they gained over the same questions, and what it cost."""
    return {
        **{measure: intervals.interval(after[measure])._asdict() for measure in MEASURES},
        "gain": {measure: intervals.paired(after[measure], before[measure])._asdict() for measure in MEASURES},
        "ms a query": 1e3 * sum(each.seconds for each in costs) / questions,
        "tokens a query": sum(each.tokens for each in costs) / questions,
    }


def kept(sums: np.ndarray) -> np.ndarray:
    """Of sums [own gains, the first reranker's] the share; NaN where the first gained nothing."""
    return np.divide(sums[0], sums[1], out=np.full(sums.shape[1], np.nan), where=sums[1] > 0)


def show(row: dict[str, Any]) -> None:
    cells = "".join(f"{row[each]['mean']:10.4f} ({row[each]['low']:.3f}-{row[each]['high']:.3f})" for each in MEASURES)
    print(f"{row['encoder']:8} {row['rerank']:12}{row['questions']:6}{cells}", flush=True)
    for measure, gain in row.get("gain", {}).items():
        print(f"{'':22}{measure} {gain['mean']:+.4f} ({gain['low']:+.4f} to {gain['high']:+.4f})", flush=True)
    if "ms a query" in row:
        print(f"{'':22}{row['ms a query']:.1f} ms a query, {row['tokens a query']:.0f} tokens", flush=True)
    if "of the first reranker" in row:
        print(f"{'':22}of the first reranker: {row['of the first reranker']}", flush=True)


if __name__ == "__main__":
    main()
