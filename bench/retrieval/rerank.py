"""The gain of reranking the top 20 on SQuAD v2 dev, and its cost: strict Hits@1 before and after, paired.

The chunks are those that the documentation recommends (``recursive``, at most 110 words, an English stemmer, hybrid
with weight 1.5). The cross-encoder reads every pair, so that it is measured on a seeded subset of the questions. Chunks
are found among all articles.

    pychunk model get minilm
    pychunk model get reranker
    python bench/retrieval/rerank.py --encoder static --encoder minilm --rerank reranker
    python bench/retrieval/rerank.py --rerank features
    python bench/retrieval/rerank.py --rerank reranker --rerank reranker:int8    the share of the first one's gain
        that the second one keeps
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pychunk.encoders.runtime.placement import ModelPlacement
from pychunk.evaluation import datasets, runner, systems
from pychunk.evaluation.measures import intervals
from pychunk.index import Bm25
from pychunk.index.index import Index
from pychunk.index.rerank import rerankers
from pychunk.index.rerank.linear_reranker import LinearReranker
from pychunk.index.search.hits import Hit

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

#: The queries reranked in one call: enough to fill batches of equal length.
TOGETHER = 50
#: The runs of "features", of which the fastest counts, since other work on a machine takes more time than it.
REPEATS = 5
BM25 = Bm25(stemmer="english")
#: No order of the top 20 can exceed the last.
MEASURES = ("strict hits@1", "strict hits@3", "strict hits@5", "strict hits@20")


class Remembered:
    """A reranker that reads no pair twice, since the encoders find mostly the same chunks."""

    def __init__(self, stage: rerankers.Reranker) -> None:
        self.stage, self.name, self.known, self._asked = stage, stage.name, {}, 0

    def asked(self) -> int:
        """Return the number of pairs read since the last call."""
        count, self._asked = self._asked, 0
        return count

    def score(self, queries: list[str], hits: list[list[Hit]], threads: int | None) -> rerankers.RerankScores:
        new = [[hit for hit in own if (query, hit.text) not in self.known] for query, own in zip(queries, hits)]
        self._asked += sum(map(len, new))
        scored = self.stage.score(queries, new, threads)
        for query, own, values in zip(queries, new, scored.scores):
            self.known.update({(query, hit.text): float(value) for hit, value in zip(own, values)})
        given = [[self.known[query, hit.text] for hit in own] for query, own in zip(queries, hits)]
        return rerankers.RerankScores(given, scored.tokens)


#: The encoder, the chunks, the best hits of every question, these in the order of ``"features"``, and its cost.
Ranked = tuple[systems.Encoder, systems.SystemChunks, list[list[Hit]], list[list[Hit]], rerankers.Cost]


def found(data: datasets.Dataset, name: str, depth: int, learned: bool, threads: int) -> Ranked:
    """Return the hits of an encoder for every question, at most ``depth``."""
    encoder = systems.Encoder(name)
    chunked = systems.by_method("recursive", {"size": 110, "unit": "words"}, data, encoder)
    texts = [each.text for each in data.questions]
    with tempfile.TemporaryDirectory() as folder, Index.create(Path(folder) / "i", encoder=name, bm25=BM25) as index:
        index.add(chunked.table)
        index.save()
        vectors = encoder.model.encode(texts)
        hits: Any = index.search((texts, vectors), depth)
        ordered, seconds = [], 0.0
        searcher, fingerprint = index._contents.searcher(), encoder.model.fingerprint
        for begin in range(0, len(texts) if learned else 0, TOGETHER):
            part = slice(begin, begin + TOGETHER)
            stage = LinearReranker(searcher, vectors[part], fingerprint)
            spent = []
            for _ in range(REPEATS):
                begun = time.process_time()
                best, _ = rerankers.reranked(stage, texts[part], hits[part], depth, threads=threads)
                spent.append(time.process_time() - begun)
            ordered += best
            seconds += min(spent)
        cost = rerankers.Cost(sum(map(len, ordered)), 0, seconds)
        return encoder, chunked, hits, ordered, cost


def measured(
    data: datasets.Dataset, encoder: systems.Encoder, chunked: systems.SystemChunks, hits: list[list[Hit]]
) -> dict[str, np.ndarray]:
    """Return the values of each measure for hits in their order, float64[q]."""
    depth = max(map(len, hits))
    rows = np.full((len(hits), depth), -1, np.int64)
    for own, row in zip(hits, rows):
        row[: len(own)] = [hit.row for hit in own]
    words = np.where(rows >= 0, chunked.words[rows], 0)
    values, _ = runner.measure(runner.SearchResults(chunked, rows, words, 0, 0), data, encoder)
    return {name: values[name] for name in MEASURES}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with squad/")
    parser.add_argument("--encoder", action="append", help="may be repeated (default: static)")
    parser.add_argument(
        "--rerank", action="append", help="may be repeated; :int8 computes in 8 bits (default: reranker)"
    )
    parser.add_argument(
        "--questions", type=int, default=800, help="a seeded choice of so many for cross-encoders (0: all)"
    )
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", "--save", type=Path, metavar="FILE", help="write all figures as JSON")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    whole = datasets.squad(options.data / "squad" / "dev-v2.0.json")
    chosen = np.arange(len(whole.questions))
    if options.rerank != ["features"] and 0 < options.questions < len(chosen):
        chosen = np.sort(np.random.default_rng(options.seed).choice(len(chosen), options.questions, replace=False))
    wanted = options.rerank or ["reranker"]
    stages = {model: Remembered(loaded(model)) for model in wanted if model != "features"}
    rows: list[dict[str, Any]] = []
    models = []
    for name in options.encoder or ["static"]:
        ranked = found(whole, name, options.depth, "features" in wanted and name == "static", options.threads)
        models.append(ranked[0].model.fingerprint)
        for row in rows_of(name, whole, chosen, ranked, stages, options):
            rows.append(row)
            show(row)
        if options.output:
            save(rows, models, stages, len(chosen), options)


def loaded(model: str) -> rerankers.Reranker:
    """Return a reranker by its name or folder, which :int8 may follow."""
    name = model.removesuffix(":int8")
    return rerankers.load(name, "onnxruntime" if name == model else ModelPlacement.of(precision="int8"))


def rows_of(
    name: str,
    whole: datasets.Dataset,
    chosen: np.ndarray,
    ranked: Ranked,
    stages: dict[str, Remembered],
    options: argparse.Namespace,
) -> Iterator[dict[str, Any]]:
    """Yield an encoder's rows: before reranking, by features if it has them, then one for each cross-encoder."""
    encoder, chunked, every, by_features, cost = ranked
    data = replace(whole, questions=[whole.questions[i] for i in chosen])
    hits = [every[i] for i in chosen]
    before = measured(data, encoder, chunked, hits)
    all_questions = measured(whole, encoder, chunked, every)
    yield plain(name, before, len(chosen))
    if len(chosen) < len(whole.questions):
        yield plain(name, all_questions, len(whole.questions))
    if by_features:
        after = measured(whole, encoder, chunked, by_features)
        row = {"encoder": name, "rerank": "features", "questions": len(whole.questions)}
        row |= compared(after, all_questions, [cost], len(whole.questions))
        scored = cost.hits / len(whole.questions)
        yield row | {"hits scored a query": scored, "ms a hit": row["ms a query"] / scored}
    first: tuple[np.ndarray, dict[str, Any]] | None = None
    ordered, costs = in_turns([each.text for each in data.questions], hits, stages, options)
    for model, stage in stages.items():
        after = measured(data, encoder, chunked, ordered[model])
        row = {"encoder": name, "rerank": model, "questions": len(chosen)}
        row |= compared(after, before, costs[model], len(chosen))
        asked = stage.asked()
        row |= {"hits scored a query": asked / len(chosen), "ms a hit": row["ms a query"] * len(chosen) / asked}
        gains = after[MEASURES[0]] - before[MEASURES[0]]
        if first is None:
            first = gains, row
        else:
            row["of the first reranker"] = {
                "gain kept": intervals.of_sums(np.stack([gains, first[0]], axis=1), kept)._asdict(),
                "hits@1 less": intervals.paired(gains, first[0])._asdict(),
                "time": row["ms a hit"] / first[1]["ms a hit"],
            }
        yield row


def in_turns(
    texts: list[str], hits: list[list[Hit]], stages: dict[str, Remembered], options: argparse.Namespace
) -> tuple[dict[str, list[list[Hit]]], dict[str, list[rerankers.Cost]]]:
    """Return the hits in each cross-encoder's order, and its costs, in turns, so that other work slows all alike."""
    ordered: dict[str, list[list[Hit]]] = {model: [] for model in stages}
    costs: dict[str, list[rerankers.Cost]] = {model: [] for model in stages}
    for begin in range(0, len(texts), TOGETHER):
        part = slice(begin, begin + TOGETHER)
        for model, stage in stages.items():
            best, cost = rerankers.reranked(stage, texts[part], hits[part], options.depth, threads=options.threads)
            ordered[model] += best
            costs[model].append(cost)
    return ordered, costs


def plain(name: str, values: dict[str, np.ndarray], questions: int) -> dict[str, Any]:
    row = {"encoder": name, "rerank": "none", "questions": questions}
    return row | {measure: intervals.interval(values[measure])._asdict() for measure in MEASURES}


def save(
    rows: list[dict[str, Any]],
    models: list[str],
    stages: dict[str, Remembered],
    questions: int,
    options: argparse.Namespace,
) -> None:
    about = (
        f"The best {options.depth} chunks of each question ordered anew; {options.threads} threads on a "
        "machine with other work. Gains are paired differences with 95 % bootstrap intervals. "
    )
    if stages:
        about += (
            f"Cross-encoders read those of {questions} questions, a seeded choice. Pairs that were read for "
            "one encoder are not read again for the next: time and tokens are those of the hits scored."
        )
    if "features" in (options.rerank or []):
        about += (
            f"The time of features is a thread's on the CPU, {TOGETHER} questions a call, of {REPEATS} runs "
            "the fastest, as the machine's other work takes more than they do."
        )
    title = "What reranking brings" if stages else "What features bring"
    if stages and options.encoder:
        title = f"What reranking brings to hits by {' and '.join(options.encoder)}"
    if len(stages) > 1:
        in_bits = all(name.endswith(":int8") for name in list(stages)[1:])
        title = "What a reranker keeps in 8 bits" if in_bits else "What a second reranker keeps of the gain"
    figures = {"depth": options.depth, "seed": options.seed, "rows": rows}
    packages = ("onnxruntime", "faiss-cpu", "PyStemmer")
    record.save(options.output, title, figures, about=about, packages=packages, encoder=", ".join(models))


def compared(
    after: dict[str, np.ndarray], before: dict[str, np.ndarray], costs: list[rerankers.Cost], questions: int
) -> dict[str, Any]:
    """Return the measures, their gain over the same questions, and the cost."""
    return {
        **{measure: intervals.interval(after[measure])._asdict() for measure in MEASURES},
        "gain": {measure: intervals.paired(after[measure], before[measure])._asdict() for measure in MEASURES},
        "ms a query": 1e3 * sum(each.seconds for each in costs) / questions,
        "tokens a query": sum(each.tokens for each in costs) / questions,
    }


def kept(sums: np.ndarray) -> np.ndarray:
    """Return the share of the first reranker's gain that a second one keeps; NaN if the first gained nothing."""
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
